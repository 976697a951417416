import { type Static, Type } from 'typebox'
import {
  type AccountClaimReader,
  AccountConflict,
  accountConflicts,
} from '../../shared/domain/connectors/account-claims.ts'
import type { ConnectorObjectLists } from '../../shared/domain/connectors/connector-object-store.ts'
import { Duplicate, listDuplicates } from '../../shared/domain/connectors/duplicates.ts'
import { erasePersonalData, type PersonalDataStore } from '../../shared/domain/connectors/erase-personal-data.ts'
import { IdentityChange } from '../../shared/domain/connectors/identity-change.ts'
import type { CoreObjectWriter } from '../../shared/domain/connectors/merge-writes.ts'
import { readIdentityChanges } from '../../shared/domain/connectors/read-identity-changes.ts'
import { IdentitySource, readSources, type SourceDependencies } from '../../shared/domain/connectors/read-sources.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { coreObjectDtoSchema } from '../../shared/domain/core/core-object-dto.ts'
import {
  CORE_OBJECT_READERS,
  FULL_ACCESS_ROLES,
  hasFullAccess,
} from '../../shared/domain/object-access/object-access.ts'
import {
  type CoreObjectDependencies,
  listCoreObjects,
  readCoreObject,
  readRelationshipsOf,
  readSeveral,
  searchCoreObjects,
} from '../../shared/domain/object-access/read-core-objects.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import type { OpenCursors } from '../../shared/http/paging.ts'
import { CoreObjectPageQuery, PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { deleted, ok, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { PREFIXES } from './prefixes.ts'

export type CoreObjectRouteDependencies = CoreObjectDependencies &
  SourceDependencies & {
    readonly coreObjects: AccountClaimReader & Pick<CoreObjectWriter, 'mergedOfIds'>
    readonly objects: Pick<ConnectorObjectLists, 'conflicting'>
    readonly personalData: PersonalDataStore
    readonly cursors: OpenCursors
  }

/** Ids in one request for several objects. */
const IDS_LIMIT_COUNT = 1000
/** The old path to an identity's relationships is deprecated since 2026-01-01. In the format of RFC 9745. */
const DEPRECATED_SINCE = '@1767225600'

const Missing = (description: string) => Type.Optional(Type.Literal('missing', { description }))
const IdentityListQuery = Type.Object({
  ...CoreObjectPageQuery.properties,
  account: Missing('Only identities without `directoryObjectId`. A page can have fewer items than `pageSize`.'),
})
const RelationshipListQuery = Type.Object({
  ...CoreObjectPageQuery.properties,
  identity: Missing('Only relationships that no identity holds. A page can have fewer items than `pageSize`.'),
})
const MissingQuery = Type.Object({ ...IdentityListQuery.properties, ...RelationshipListQuery.properties })
const LIST_QUERIES = {
  identity: IdentityListQuery,
  orgUnit: CoreObjectPageQuery,
  relationship: RelationshipListQuery,
} as const

const Ids = Type.Array(Guid, { maxItems: IDS_LIMIT_COUNT })
export const IdsBody = Type.Object({ ids: Ids })
export const OrgUnitIdsBody = Type.Object({ ids: Ids, includeParents: Type.Optional(Type.Boolean()) })

export const CORE_OBJECT_SCHEMAS = {
  identity: coreObjectDtoSchema('identity'),
  orgUnit: coreObjectDtoSchema('orgUnit'),
  relationship: coreObjectDtoSchema('relationship'),
}

/** The names of object types in paths, operation ids and summaries. */
const NAMES = {
  identity: { path: '/identities', one: 'Identity', many: 'Identities', singular: 'an identity', plural: 'identities' },
  orgUnit: { path: '/orgunits', one: 'OrgUnit', many: 'OrgUnits', singular: 'an org unit', plural: 'org units' },
  relationship: {
    path: '/relationships',
    one: 'Relationship',
    many: 'Relationships',
    singular: 'a relationship',
    plural: 'relationships',
  },
} as const

/** Reads the objects merged from all connectors. */
export function coreObjectRoutes(deps: CoreObjectRouteDependencies): RouteGroup {
  return {
    prefix: PREFIXES.coreObjects,
    routes: [
      ...routesOf('identity', deps),
      relationshipsOf('identity', deps),
      ...routesOf('orgUnit', deps),
      relationshipsOf('orgUnit', deps),
      ...routesOf('relationship', deps),
      deprecatedRelationships(deps),
      accountConflictsRoute(deps),
      duplicatesRoute(deps),
      sourcesRoute(deps),
      identityAuditRoute(deps),
      erasureRoute(deps),
    ],
  }
}

const accountConflictsRoute = ({ coreObjects }: Pick<CoreObjectRouteDependencies, 'coreObjects'>): Route =>
  route('GET', '/account-conflicts', {
    operationId: 'listAccountConflicts',
    summary: 'List the directory accounts that several identities claim',
    description:
      'The identity that claimed the account first holds it, for signing in and in groups: `holderId`. The identities ' +
      '`claimantIds` have no `directoryObjectId` until it releases the account; then the one with the oldest claim takes over.',
    roles: FULL_ACCESS_ROLES,
    reply: { status: 200, schema: Type.Array(AccountConflict) },
    refusals: [],
    run: async ({ caller }) => ok(await accountConflicts(caller.tenantId, coreObjects)),
  })

const duplicatesRoute = (deps: Pick<CoreObjectRouteDependencies, 'connectors' | 'objects'>): Route =>
  route('GET', '/duplicates', {
    operationId: 'listDuplicates',
    summary: 'List identities that may be one person',
    description:
      'Identities with the same value of a join key that are not joined: several of one connector have it, or several ' +
      'people with different `nin` beside one without. They stay apart until the data are clear.',
    roles: FULL_ACCESS_ROLES,
    reply: { status: 200, schema: Type.Array(Duplicate) },
    refusals: [],
    run: async ({ caller }) => ok(await listDuplicates(caller.tenantId, deps)),
  })

const sourcesRoute = (deps: CoreObjectRouteDependencies): Route =>
  route('GET', '/identities/{id}/sources', {
    operationId: 'listIdentitySources',
    summary: 'List the sources of an identity',
    description:
      'Returns what each connector says of the identity, the oldest connector first, and which of its attributes the ' +
      'identity has from it. A `directoryObjectId` that another identity holds, or of a connector that does not bind ' +
      'accounts, is not used.',
    roles: FULL_ACCESS_ROLES,
    reply: { status: 200, schema: Type.Array(IdentitySource) },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path, caller }) => ok(await readSources(caller.tenantId, path.id, deps)),
  })

const identityAuditRoute = (deps: Pick<CoreObjectRouteDependencies, 'cursors' | 'coreObjects'>): Route =>
  route('GET', '/identities/{id}/audit', {
    operationId: 'listIdentityAudit',
    summary: 'List how an identity came about',
    description:
      'Returns a page of the last 100 changes of what the identity consists of, the newest first: which connectors have ' +
      'contributed to it, and when it held a directory account. Also of a deleted identity, as long as it can be ' +
      'restored. Changes by versions of the service without this audit are not in it.',
    roles: FULL_ACCESS_ROLES,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(IdentityChange), paged: true },
    refusals: ['CoreObjectNotFound', 'InvalidCursor'],
    run: ({ path: { id }, query, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'identity audit', id], deps.cursors, (after, size) =>
        readIdentityChanges(tenantId, id, { after, size }, deps),
      ),
  })

const erasureRoute = (deps: Pick<CoreObjectRouteDependencies, 'connectors' | 'coreObjects' | 'personalData'>): Route =>
  route('DELETE', '/identities/{id}/personal-data', {
    operationId: 'erasePersonalData',
    summary: 'Erase the personal data of a deleted identity',
    description:
      'Erases all texts of the identity, of the deleted ones that became one with it, and of the deleted connector ' +
      'objects that they were merged from: name, contact, national identity number and custom attributes. ' +
      'Erases all notes of people on its membership requests, and its own notes on those of others; and its number, ' +
      'addresses and telephone numbers from the audit. A submission of the tenant that is sent again with its ' +
      '`Idempotency-Key` afterwards runs again: it creates nothing, and returns the request as it is then, while the ' +
      'collection exists. ' +
      'Refused while the identity, or the one that it became one with, is not deleted. ' +
      'Ids stay, and so do conditions of collections that are in force. An identity that is created again gets its id ' +
      'back, and none of these data. When the time of the soft deletion is over, the request still erases the notes and ' +
      'what else names the id. The former number and addresses of the identity are not known any more: the audit keeps ' +
      'the texts, and ids that became one with it need requests of their own. Only the live objects of `Full` ' +
      'connectors that have belonged to the identity tell then whether the person lives on under another id: the request ' +
      'is refused while there is one, also when it belongs to another person since a split. When all of them are ' +
      'deleted, or have moved more than eight times since, the request erases the notes of the id, although the person ' +
      'can be live. `CoreObjectNotFound` when nothing names the id. Repeat the request to complete an interrupted one. ' +
      'Backups of the database contain the data until they expire.',
    roles: ['Administrator'],
    reply: { status: 200, schema: Type.Null() },
    refusals: ['CoreObjectNotFound', 'IdentityIsLive', 'StaleVersion'],
    run: ({ path: { id }, caller }) => deleted(erasePersonalData(caller.tenantId, id, deps)),
  })

const routesOf = (objectType: ObjectType, deps: CoreObjectRouteDependencies): Route[] => [
  route('GET', NAMES[objectType].path, {
    operationId: `list${NAMES[objectType].many}`,
    summary: `List ${NAMES[objectType].plural}`,
    description:
      'Returns a page of the objects that the caller can access, ordered by id. A page of large objects can have fewer ' +
      'items than `pageSize`; the last page is the one without `nextCursor`. The access of a `User` includes the active ' +
      'relationships that name them as manager, with their identities. Otherwise it does not depend on the start and ' +
      'end dates of relationships. Of other people, a `User` does not read `nin`, `privateMobile` and `privateEmail`.',
    roles: CORE_OBJECT_READERS,
    query: LIST_QUERIES[objectType],
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS[objectType]), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query, caller }) => {
      const { account, identity, ...page } = query as Static<typeof MissingQuery>
      const missing = account === undefined ? identity && 'identity' : 'directoryObjectId'
      const binding = [caller.tenantId, objectType, scopeOf(caller), ...(missing === undefined ? [] : [missing])]
      return pagedResult(page, binding, deps.cursors, (after, size) =>
        listCoreObjects(objectType, after, size, caller, deps, missing),
      )
    },
  }),
  route('GET', `${NAMES[objectType].path}/search`, {
    operationId: `search${NAMES[objectType].many}`,
    summary: `Search ${NAMES[objectType].plural}`,
    description:
      'Returns at most 100 matches that the caller can access, ordered by display name or title (Unicode collation), then ' +
      'by id; objects without a name come last. When more than 100 match, those that are returned are the first by code ' +
      'point of the name without case and accents, which can differ from the first by collation in other alphabets and ' +
      'punctuation. A longer text finds the others.',
    roles: CORE_OBJECT_READERS,
    query: Type.Object({
      text: Type.String({
        description:
          '1 to 200 characters. Matches parts of names and titles, and complete ids and numbers. Callers with the ' +
          'role `User` find only themselves by `nin`.',
      }),
    }),
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS[objectType]) },
    refusals: ['InvalidLength'],
    run: async ({ query, caller }) => ok(await searchCoreObjects(objectType, query.text, caller, deps)),
  }),
  route('GET', `${NAMES[objectType].path}/{id}`, {
    operationId: `read${NAMES[objectType].one}`,
    summary: `Get ${NAMES[objectType].singular}`,
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: CORE_OBJECT_SCHEMAS[objectType] },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path: { id }, caller }) => ok(await readCoreObject(objectType, id, caller, deps)),
  }),
  objectType === 'orgUnit' ? orgUnitsByIds(deps) : objectsByIds(objectType, deps),
]

const objectsByIds = (
  objectType: ObjectType,
  deps: Pick<CoreObjectRouteDependencies, 'coreObjects' | 'objectAccess' | 'rowSettings'>,
): Route =>
  route('POST', `${NAMES[objectType].path}/multiple`, {
    operationId: `readSeveral${NAMES[objectType].many}`,
    summary: `Get ${NAMES[objectType].plural} by id`,
    description:
      'Returns the objects that exist and that the caller can access, in the order given, without duplicates.',
    roles: CORE_OBJECT_READERS,
    body: IdsBody,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS[objectType]) },
    run: async ({ body, caller }) => ok(await readSeveral(objectType, body.ids, false, caller, deps)),
  })

const orgUnitsByIds = (
  deps: Pick<CoreObjectRouteDependencies, 'coreObjects' | 'objectAccess' | 'rowSettings'>,
): Route =>
  route('POST', '/orgunits/multiple', {
    operationId: 'readSeveralOrgUnits',
    summary: 'Get org units by id',
    description:
      'Returns the org units that exist and that the caller can access, in the order given, without duplicates. With ' +
      '`includeParents`, each of their ancestors follows once.',
    roles: CORE_OBJECT_READERS,
    body: OrgUnitIdsBody,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS.orgUnit) },
    run: async ({ body, caller }) =>
      ok(await readSeveral('orgUnit', body.ids, body.includeParents ?? false, caller, deps)),
  })

const relationshipsOf = (
  end: 'identity' | 'orgUnit',
  deps: Pick<CoreObjectRouteDependencies, 'coreObjects' | 'objectAccess' | 'rowSettings'>,
): Route =>
  route('GET', `${NAMES[end].path}/{id}/relationships`, {
    operationId: `listRelationshipsOf${NAMES[end].one}`,
    summary: `List the relationships of ${NAMES[end].singular}`,
    description: 'Ordered by id.',
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS.relationship) },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path: { id }, caller }) => ok(await readRelationshipsOf(end, id, caller, deps)),
  })

const deprecatedRelationships = (
  deps: Pick<CoreObjectRouteDependencies, 'coreObjects' | 'objectAccess' | 'rowSettings'>,
): Route =>
  route('GET', '/relationships/identity/{identityId}', {
    operationId: 'listRelationshipsByIdentity',
    summary: 'List the relationships of an identity (deprecated)',
    description: 'Deprecated. Use `GET /iamcore/beta/sync/coreobjects/identities/{id}/relationships`.',
    deprecated: true,
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_SCHEMAS.relationship) },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path: { identityId }, caller }) =>
      deprecated(await readRelationshipsOf('identity', identityId, caller, deps), identityId),
  })

function deprecated<T>(data: T, identityId: string): RouteResult<T> {
  const successor = `/${PREFIXES.coreObjects}/identities/${identityId}/relationships`
  return { data, headers: { deprecation: DEPRECATED_SINCE, link: `<${successor}>; rel="successor-version"` } }
}

/** A cursor is valid for callers with the same access: all who can read everything, or one user. */
function scopeOf(caller: Caller): string {
  return hasFullAccess(caller) ? 'all' : caller.objectId
}
