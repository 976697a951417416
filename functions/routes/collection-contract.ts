import { type Static, Type } from 'typebox'
import type { RequestName, Viewer } from '../../shared/domain/membership-requests/act-on-request.ts'
import { ELIGIBILITY_READERS } from '../../shared/domain/membership-requests/list-requests.ts'
import {
  type MembershipRequest,
  toMembershipRequestDto,
} from '../../shared/domain/membership-requests/membership-request.ts'
import type { Person } from '../../shared/domain/membership-requests/request-dependencies.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { actingIdentity, ok, pathValue, type RouteInput } from '../../shared/http/route.ts'
import { type Role, USER_ROLES } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'

/** Whoever may read definitions and members, preview and filter: decisions, section 2. */
export const COLLECTION_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

/** Whoever may create, change and delete them. */
export const COLLECTION_WRITERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.readwrite.all',
]

/** Whoever may act as themselves: any user, given a core identity. */
export const PERSON_ROLES: readonly Role[] = USER_ROLES

/** Who sees every membership request: decisions, section 2. */
export const SEES_ALL_REQUESTS: readonly Role[] = ELIGIBILITY_READERS

/** The others see what is their business. */
export const REQUEST_READERS: readonly Role[] = ['User', ...SEES_ALL_REQUESTS]

/** Decisions, section 6. */
const IDS_AT_MOST = 10_000

const Ids = Type.Array(Guid, { maxItems: IDS_AT_MOST })

/** `{ "ids": [...] }` or the bare list. The choice is made on the type, so that a fault in one is told for that one. */
export const FilterMembersRequest = Type.Unsafe<Static<typeof Ids> | { ids: Static<typeof Ids> }>({
  type: ['object', 'array'],
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: Ids,
  else: Type.Object({ ids: Ids }),
})

export const MemberIds = Type.Array(Guid)

/** What collections of any kind are searched by: decisions, section 6. */
export const SearchQuery = Type.Object({
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'All of which a collection has to have. Given again or separated by commas. A tag that has commas itself is found by a parameter of its own: `tags=a%2Cb` finds what has the tag `a,b`, and what has both `a` and `b`.',
    }),
  ),
  attributes: Type.Optional(
    Type.Array(Type.String(), {
      description: '`key:value`, all of which a collection has to have. May be given again.',
    }),
  ),
})

/** The collection that the path names. */
export function collectionOf({ path }: RouteInput): string {
  return pathValue(path, 'collectionId')
}

/** The request that the path names. */
export function requestNameOf(input: RouteInput): RequestName {
  const { tenantId } = input.caller
  return { tenantId, collectionId: collectionOf(input), requestId: pathValue(input.path, 'requestId') }
}

/** The caller, on a route for people. */
export function personOf(input: RouteInput): Person {
  return { tenantId: input.caller.tenantId, identityId: actingIdentity(input) }
}

/** The caller as one who looks at requests: all of them, or those that are its business. */
export function viewerOf({ caller, identityId }: RouteInput): Viewer {
  return { identityId, seesAll: SEES_ALL_REQUESTS.some((role) => caller.roles.has(role)) }
}

/** Requests as callers see them. */
export function okRequests(requests: readonly MembershipRequest[]): RouteResult {
  return ok(requests.map(toMembershipRequestDto))
}
