import { type Static, Type } from 'typebox'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import type { RequestName, Viewer } from '../../shared/domain/membership-requests/act-on-request.ts'
import type { Actor } from '../../shared/domain/membership-requests/decide-request.ts'
import { ELIGIBILITY_READERS } from '../../shared/domain/membership-requests/eligible-collections.ts'
import { REQUEST_STATUSES } from '../../shared/domain/membership-requests/membership-request.ts'
import type {
  JoinDependencies,
  Person,
  RequestListDependencies,
} from '../../shared/domain/membership-requests/request-dependencies.ts'
import { type OpenCursors, PageQuery } from '../../shared/http/paging.ts'
import { actingIdentity, type RouteInput } from '../../shared/http/route.ts'
import { type Caller, type Role, USER_ROLES } from '../../shared/kernel/caller.ts'
import { Described, Guid, OneOf } from '../../shared/kernel/schema.ts'

/** What the routes of joinable collections and requests work with. */
export type RequestRouteDependencies = CollectionDependencies &
  RequestListDependencies &
  JoinDependencies & { readonly cursors: OpenCursors }

/** The query of paged lists of requests. */
export const StatusQuery = Type.Object({
  status: Type.Optional(
    Described(OneOf(REQUEST_STATUSES), 'Only requests with this status. No request stays `Requested` or `Approved`.'),
  ),
  ...PageQuery.properties,
})

/** Can read definitions and members, preview and filter. */
export const COLLECTION_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

/** Can ask why a person is a member. A `User` can ask about themselves. */
export const EXPLANATION_READERS: readonly Role[] = ['User', ...COLLECTION_READERS]

/** Can create, change and delete collections. */
export const COLLECTION_WRITERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.readwrite.all',
]

/** Act as themselves: any user with a core identity. */
export const PERSON_ROLES: readonly Role[] = USER_ROLES

/** Can read all membership requests. */
export const SEES_ALL_REQUESTS: readonly Role[] = ELIGIBILITY_READERS

/** A `User` can read their own requests and those that they can decide. */
export const REQUEST_READERS: readonly Role[] = ['User', ...SEES_ALL_REQUESTS]

/** A page of members has at most half as many. */
const MAX_IDS = 10_000

const Ids = Type.Array(Guid, { maxItems: MAX_IDS })

/** `{ "ids": [...] }` or a list. Selected by type, so that errors refer to the form that was sent. */
export const FilterMembersRequest = Type.Unsafe<Static<typeof Ids> | { ids: Static<typeof Ids> }>({
  type: ['object', 'array'],
  items: {},
  if: { type: 'array', items: {} },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: Ids,
  else: Type.Object({ ids: Ids }),
})

export const MemberIds = Type.Array(Guid)

/** The query of searches over collections. */
export const SearchQuery = Type.Object({
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Collections must have all of these tags. Repeat the parameter or separate tags by commas. A parameter with a comma also matches the tag with the comma: `tags=a%2Cb` finds collections with the tag `a,b` and collections with both `a` and `b`. An empty parameter is refused.',
    }),
  ),
  attributes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Collections must have all of these attributes, each as `key:value`. Repeat the parameter for several.',
    }),
  ),
})

type RequestPath = { readonly collectionId: string; readonly requestId: string }

export function requestNameOf({ caller, path }: RouteInput<unknown, unknown, RequestPath>): RequestName {
  return { tenantId: caller.tenantId, collectionId: path.collectionId, requestId: path.requestId }
}

/** The core identity, else the token's `oid`. */
export function actorOf({ objectId }: Caller, identityId: string | undefined): Actor {
  return { id: identityId ?? objectId, identityId }
}

export function personOf(input: RouteInput): Person {
  return { tenantId: input.caller.tenantId, identityId: actingIdentity(input) }
}

/** The caller with its access to requests. */
export function viewerOf({ caller, identityId }: RouteInput): Viewer {
  return { identityId, seesAll: SEES_ALL_REQUESTS.some((role) => caller.roles.has(role)) }
}
