import { Type } from 'typebox'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import type { AuditTrail } from '../../shared/domain/history/audit.ts'
import { CollectionVersion, readCollectionVersion } from '../../shared/domain/insight/collection-versions.ts'
import { AuditEntry, listAudit } from '../../shared/domain/insight/list-audit.ts'
import {
  HistoryEntry,
  listHistory,
  listObjectHistory,
  ObjectHistoryEntry,
} from '../../shared/domain/insight/list-history.ts'
import type { TimeZoneSource } from '../../shared/domain/tenant-index/row-settings.ts'
import { type OpenCursors, PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { ok, type Route, route } from '../../shared/http/route.ts'
import { Described, Guid } from '../../shared/kernel/schema.ts'
import { COLLECTION_READERS } from './collection-contract.ts'

export type HistoryRouteDependencies = CollectionDependencies & {
  readonly cursors: OpenCursors
  readonly auditTrail: AuditTrail
  readonly timeZones: TimeZoneSource
}

/** The description of a query parameter for a time. */
export const DAY_OR_TIME =
  'A date and time (UTC unless it has an offset), or a date, which is its beginning in the time zone of the tenant.'

const HistoryPageQuery = Type.Object({
  objectId: Type.Optional(Described(Guid, 'Only changes of this object; in a joinable collection of this identity.')),
  from: Type.Optional(Type.String({ description: `${DAY_OR_TIME} Only changes at this time or later.` })),
  to: Type.Optional(Type.String({ description: `${DAY_OR_TIME} Only changes before this time.` })),
  ...PageQuery.properties,
})

const ObjectHistoryQuery = Type.Object({
  ...HistoryPageQuery.properties,
  objectId: Described(Guid, 'The object; for joinable collections the identity.'),
})

/** What happened to collections and their members. */
export const historyRoutes = (deps: HistoryRouteDependencies): readonly Route[] => [
  route('GET', '/history', {
    operationId: 'listObjectHistory',
    summary: 'List the changes of the memberships of an object',
    description:
      'Returns a page of the changes of one object in all collections, the newest first. Collections that were deleted ' +
      'are left out. The history of each collection is read: prefer the history of one collection where it suffices.',
    roles: COLLECTION_READERS,
    query: ObjectHistoryQuery,
    reply: { status: 200, schema: Type.Array(ObjectHistoryEntry), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query: { objectId, from, to, ...page }, caller }) => {
      const binding = [caller.tenantId, 'object-history', objectId, from, to]
      return pagedResult(page, binding, deps.cursors, (after, size) =>
        listObjectHistory(caller.tenantId, objectId, { from, to }, { after, size }, deps),
      )
    },
  }),
  route('GET', '/{collectionId}/history', {
    operationId: 'listHistory',
    summary: 'List the changes of the members of a collection',
    description:
      'Returns a page of the members that were added and removed, the newest first. Changes are kept for ' +
      '`HISTORY_DAYS`, 400 days by default. The history of a deleted collection cannot be read.',
    roles: COLLECTION_READERS,
    query: HistoryPageQuery,
    reply: { status: 200, schema: Type.Array(HistoryEntry), paged: true },
    refusals: ['CollectionNotFound', 'InvalidCursor'],
    run: ({ path: { collectionId }, query: { objectId, from, to, ...page }, caller }) => {
      const binding = [caller.tenantId, 'history', collectionId, objectId, from, to]
      return pagedResult(page, binding, deps.cursors, (after, size) =>
        listHistory(caller.tenantId, collectionId, { objectId, from, to }, { after, size }, deps),
      )
    },
  }),
  route('GET', '/{collectionId}/versions/{version}', {
    operationId: 'getCollectionVersion',
    summary: 'Get an earlier definition of a collection',
    description:
      'Returns the definition as an entry of the audit has left it: name, description, metadata and condition or join ' +
      'policy. `version` is that of the entry. To restore the definition, save it with a PUT: it is checked as any ' +
      'other, so what it refers to must still exist. Without a description, `description` is empty. For callers who may ' +
      'not read all core objects, values that conditions compare with sensitive attributes are `hidden`. A condition of ' +
      'more than 100,000 characters of JSON is not kept: `HistoryNotKept`.',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: CollectionVersion },
    refusals: ['CollectionNotFound', 'VersionNotFound', 'HistoryNotKept'],
    run: async ({ path: { collectionId, version }, caller }) =>
      ok(await readCollectionVersion(caller.tenantId, collectionId, version, caller, deps)),
  }),
  route('GET', '/{collectionId}/audit', {
    operationId: 'listAudit',
    summary: 'List what was done to a collection and its links',
    description:
      'Returns a page of what people and applications did, the newest first: to the collection, its group links and ' +
      'removals that were held. Entries are kept for good, also those of a deleted collection. For callers who may not ' +
      'read all core objects, values that conditions compare with sensitive attributes are `hidden`.',
    roles: COLLECTION_READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(AuditEntry), paged: true },
    refusals: ['CollectionNotFound', 'InvalidCursor'],
    run: ({ path: { collectionId }, query, caller, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'audit', collectionId], deps.cursors, (after, size) =>
        listAudit(tenantId, collectionId, { after, size }, caller, deps),
      ),
  }),
]
