import { Type } from 'typebox'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { coreObjectRecordSchema } from '../../shared/domain/core/core-object-record.ts'
import { CORE_OBJECT_READERS, hasFullAccess } from '../../shared/domain/object-access/object-access.ts'
import {
  type CoreObjectDependencies,
  listCoreObjects,
  readCoreObject,
  readRelationshipsOf,
  readSeveral,
  searchCoreObjects,
} from '../../shared/domain/object-access/read-core-objects.ts'
import { ok } from '../../shared/http/answers.ts'
import type { OpenCursors } from '../../shared/http/cursor.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { PageQuery, pagedAnswer } from '../../shared/http/paging.ts'
import { pathValue, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { PREFIXES } from './prefixes.ts'

export type CoreObjectRouteDependencies = CoreObjectDependencies & { readonly cursors: OpenCursors }

/** Decisions, section 3. */
const IDS_LIMIT_COUNT = 1000
/** Since when the old path to an identity's relationships is deprecated: 2026-01-01, in the form of RFC 9745. */
const DEPRECATED_SINCE = '@1767225600'

const Ids = Type.Array(Guid, { maxItems: IDS_LIMIT_COUNT })
export const Several = Type.Object({ ids: Ids })
export const SeveralWithParents = Type.Object({ ids: Ids, includeParents: Type.Optional(Type.Boolean()) })

/** The schemas of the records, by type. */
export const CORE_OBJECT_RECORDS = {
  identity: coreObjectRecordSchema('identity'),
  orgUnit: coreObjectRecordSchema('orgUnit'),
  relationship: coreObjectRecordSchema('relationship'),
}

/** How the types are called in paths and operations. */
const NAMES = {
  identity: { path: '/identities', one: 'Identity', many: 'Identities' },
  orgUnit: { path: '/orgunits', one: 'OrgUnit', many: 'OrgUnits' },
  relationship: { path: '/relationships', one: 'Relationship', many: 'Relationships' },
} as const

/** Reading what all connectors say together: statement, "Core objects". */
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
    ],
  }
}

const routesOf = (objectType: ObjectType, deps: CoreObjectRouteDependencies): Route[] => [
  route({
    operationId: `list${NAMES[objectType].many}`,
    summary: 'All that the caller may see, page by page, in the order of ids',
    description:
      'A page whose objects are unusually large has fewer of them than asked for: only a missing `nextCursor` ' +
      'tells the end. What a `User` sees does not depend on when a relationship begins or ends.',
    method: 'GET',
    path: NAMES[objectType].path,
    roles: CORE_OBJECT_READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS[objectType]), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query, caller }) =>
      pagedAnswer(query, [caller.tenantId, objectType, scopeOf(caller)], deps.cursors, (after, size) =>
        listCoreObjects(objectType, after, size, caller, deps),
      ),
  }),
  route({
    operationId: `search${NAMES[objectType].many}`,
    summary: 'At most 100 that match the text, by name or title',
    method: 'GET',
    path: `${NAMES[objectType].path}/search`,
    roles: CORE_OBJECT_READERS,
    query: Type.Object({
      text: Type.String({ description: 'Compared whole with ids and numbers, in part with names.' }),
    }),
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS[objectType]) },
    refusals: ['InvalidLength'],
    run: async ({ query, caller }) => ok(await searchCoreObjects(objectType, query.text, caller, deps)),
  }),
  route({
    operationId: `read${NAMES[objectType].one}`,
    summary: 'One by its id',
    method: 'GET',
    path: `${NAMES[objectType].path}/{id}`,
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: CORE_OBJECT_RECORDS[objectType] },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path, caller }) => ok(await readCoreObject(objectType, pathValue(path, 'id'), caller, deps)),
  }),
  objectType === 'orgUnit' ? severalWithParents(deps) : several(objectType, deps),
]

const several = (objectType: ObjectType, deps: CoreObjectRouteDependencies): Route =>
  route({
    operationId: `readSeveral${NAMES[objectType].many}`,
    summary: 'Those that are found, in the order asked, each once',
    method: 'POST',
    path: `${NAMES[objectType].path}/multiple`,
    roles: CORE_OBJECT_READERS,
    body: Several,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS[objectType]) },
    refusals: [],
    run: async ({ body, caller }) => ok(await readSeveral(objectType, body.ids, false, caller, deps)),
  })

const severalWithParents = (deps: CoreObjectRouteDependencies): Route =>
  route({
    operationId: 'readSeveralOrgUnits',
    summary: 'Those that are found, in the order asked, each once; then, if wanted, each of their ancestors',
    method: 'POST',
    path: '/orgunits/multiple',
    roles: CORE_OBJECT_READERS,
    body: SeveralWithParents,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS.orgUnit) },
    refusals: [],
    run: async ({ body, caller }) =>
      ok(await readSeveral('orgUnit', body.ids, body.includeParents ?? false, caller, deps)),
  })

const relationshipsOf = (end: 'identity' | 'orgUnit', deps: CoreObjectRouteDependencies): Route =>
  route({
    operationId: `listRelationshipsOf${NAMES[end].one}`,
    summary: 'The relationships that it has, in the order of ids',
    method: 'GET',
    path: `${NAMES[end].path}/{id}/relationships`,
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS.relationship) },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path, caller }) => ok(await readRelationshipsOf(end, pathValue(path, 'id'), caller, deps)),
  })

const deprecatedRelationships = (deps: CoreObjectRouteDependencies): Route =>
  route({
    operationId: 'listRelationshipsByIdentity',
    summary: 'Deprecated: use /identities/{id}/relationships',
    deprecated: true,
    method: 'GET',
    path: '/relationships/identity/{identityId}',
    roles: CORE_OBJECT_READERS,
    reply: { status: 200, schema: Type.Array(CORE_OBJECT_RECORDS.relationship) },
    refusals: ['CoreObjectNotFound'],
    run: async ({ path: { identityId = '' }, caller }) =>
      deprecated(await readRelationshipsOf('identity', identityId, caller, deps), identityId),
  })

function deprecated<T>(data: T, identityId: string): RouteResult<T> {
  const successor = `/${PREFIXES.coreObjects}/identities/${identityId}/relationships`
  return { data, headers: { deprecation: DEPRECATED_SINCE, link: `<${successor}>; rel="successor-version"` } }
}

/** A cursor is good for those who see the same: everyone who sees all, or one user. */
function scopeOf(caller: Caller): string {
  return hasFullAccess(caller) ? 'all' : caller.objectId
}
