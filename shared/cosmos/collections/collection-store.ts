import { setImmediate } from 'node:timers/promises'
import type { Container, OperationInput } from '@azure/cosmos'
import { byName, type Collection } from '../../domain/collections/collection.ts'
import type {
  CollectionFilter,
  CollectionLists,
  CollectionRemovals,
  CollectionStore,
  CollectionSummary,
} from '../../domain/collections/collection-dependencies.ts'
import { eventsOfCollection } from '../../domain/events/change-events.ts'
import type { AuditRecord } from '../../domain/history/audit.ts'
import { chunk } from '../../kernel/chunk.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { auditOperations } from '../audit-trail.ts'
import { batchedDocumentReads, FEW_READS_COUNT } from '../batched-reads.ts'
import { cachedLists, type SizedList } from '../cached-lists.ts'
import {
  countDocuments,
  deleteUnlessGone,
  deletionOf,
  isWriteConflict,
  queryAll,
  queryDocuments,
  readDocument,
  type Stored,
  sqlParameters,
  writeOf,
  writeTogether,
} from '../documents.ts'
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts'
import { serialize } from '../serialize.ts'
import {
  type CollectionDocument,
  collectionOf,
  definitionSizes,
  documentOf,
  filterQuery,
} from './collection-document.ts'

/**
 * The tenant's reference version is the ETag of this document. Every change of references between collections writes it
 * in the same transaction. Its id is not a GUID, so it cannot be the id of a collection.
 */
const REFERENCE_GUARD_ID = 'reference-guard'

/** Cosmos limits a query to 512 KB; a condition may refer to tens of thousands of collections. */
const IDS_PER_QUERY_COUNT = 5000

/** The reference version before the guard is first written. */
const NO_GUARD = ''

/** Records that a collection was removed. Without `kind`, no query finds it as a collection. */
type RemovalDocument = { readonly id: string; readonly tenantId: string; readonly removedCollectionId: string }

function removalId(collectionId: string): string {
  return `removed:${collectionId}`
}

/** A collection in memory without its definition, about. */
const COLLECTION_BYTES = 1_500
/** A definition in memory, for each character of its JSON: 1.6 to 2.2 were measured. */
const BYTES_PER_CHARACTER = 3
/** Definitions that are parsed between two yields: about a millisecond. */
const BYTES_PER_STEP_COUNT = 128 * 1024

/** Of some 15,000 collections with conditions of usual length. */
const CACHED_BYTES = 50_000_000

/** Container `collections`, partition key `/tenantId`. */
export function cosmosCollectionStore(
  collections: Container,
  outbox: Outbox = NO_OUTBOX,
): CollectionStore & CollectionLists & CollectionRemovals {
  const read = batchedDocumentReads<CollectionDocument>(collections)
  const serializeByTenant = serialize()
  const find: CollectionStore['find'] = async (tenantId, id, kind) => {
    const document = await read(tenantId, id)
    if (document === undefined || (kind !== undefined && document.kind !== kind)) return undefined
    return { value: collectionOf(document), version: document._etag }
  }
  const write = async (
    collection: Collection,
    operation: OperationInput,
    referenceVersion: string | undefined,
    audit: AuditRecord | undefined,
  ) => {
    const guard = referenceVersion === undefined ? [] : [guardOperation(collection.tenantId, referenceVersion)]
    const eventWrites = await outbox.prepare(collection.tenantId, eventsOfCollection(audit))
    const operations = [operation, ...guard, ...auditOperations(audit), ...eventWrites]
    const failed = await writeTogether(collections, collection.tenantId, operations)
    if (failed !== undefined) throw staleOr(failed.status, collection.id)
    await outbox.notify('collections', collection.tenantId, eventWrites)
  }
  const written = async (collection: Collection): Promise<Versioned<Collection>> => {
    const found = await find(collection.tenantId, collection.id)
    if (found === undefined) throw new Refusal('StaleVersion', `Collection ${collection.id} was deleted concurrently`)
    return found
  }
  const readMatching = async (tenantId: string, filter: CollectionFilter): Promise<SizedList<Collection>> => {
    const { text, parameters } = filterQuery(filter)
    const found: Collection[] = []
    let sizeBytes = 0
    // Definitions are parsed in steps: parsing megabytes at once would block the thread.
    const pages = queryDocuments<CollectionDocument>(collections, tenantId, { query: text, parameters })
    for await (const page of pages) {
      let parsedBytes = 0
      for (const document of page) {
        const { length } = document.definition
        sizeBytes += COLLECTION_BYTES + length * BYTES_PER_CHARACTER
        parsedBytes += length
        if (parsedBytes > BYTES_PER_STEP_COUNT) {
          await setImmediate()
          parsedBytes = length
        }
        found.push(collectionOf(document))
      }
    }
    return { items: found.sort(byName), sizeBytes }
  }
  const listAll = cachedLists(collections, { maxBytes: CACHED_BYTES, read: (tenantId) => readMatching(tenantId, {}) })
  return {
    find,
    async list(tenantId, kind) {
      const all = await listAll(tenantId)
      return kind === undefined ? all : all.filter((collection) => collection.kind === kind)
    },
    search: async (tenantId, filter) => [...(await readMatching(tenantId, filter)).items],
    async summaries(tenantId, ids) {
      if (ids !== undefined && ids.length <= FEW_READS_COUNT) {
        const found = await Promise.all(ids.map((id) => find(tenantId, id)))
        return found.flatMap((collection) => (collection === undefined ? [] : [collection.value]))
      }
      const query = 'SELECT c.id, c.kind, c.objectType FROM c WHERE IS_DEFINED(c.kind)'
      if (ids === undefined) return queryAll<CollectionSummary>(collections, tenantId, { query })
      const among = { query: `${query} AND ARRAY_CONTAINS(@ids, c.id)`, parameters: sqlParameters({ ids }) }
      return queryAll<CollectionSummary>(collections, tenantId, among)
    },
    async definitionBytes(tenantId) {
      const all = await listAll(tenantId)
      return all.reduce((sum, { definition }) => sum + (definitionSizes.get(definition) ?? 0), 0)
    },
    count: (tenantId) => countDocuments(collections, tenantId, 'IS_DEFINED(c.kind)'),
    async existing(tenantId, ids) {
      const query = 'SELECT * FROM c WHERE IS_DEFINED(c.kind) AND ARRAY_CONTAINS(@ids, c.id)'
      const found = chunk(ids, IDS_PER_QUERY_COUNT).map((batch) =>
        queryAll<CollectionDocument>(collections, tenantId, { query, parameters: [{ name: '@ids', value: batch }] }),
      )
      return (await Promise.all(found)).flat().map(collectionOf)
    },
    async referenceVersion(tenantId) {
      return (await readDocument(collections, REFERENCE_GUARD_ID, tenantId))?._etag ?? NO_GUARD
    },
    serialize: serializeByTenant,
    async invalidateReferenceVersions(tenantId) {
      await collections.items.upsert(guardDocument(tenantId))
    },
    async add(collection, referenceVersion, audit) {
      const resourceBody = documentOf(collection)
      await write(collection, { operationType: 'Create', resourceBody }, referenceVersion, audit)
      return written(collection)
    },
    async replace(collection, version, referenceVersion, audit) {
      const resourceBody = documentOf(collection)
      await write(collection, writeOf(resourceBody, version), referenceVersion, audit)
      return written(collection)
    },
    async remove(tenantId, id, version, referenceVersion, audit) {
      const removal: RemovalDocument = { id: removalId(id), tenantId, removedCollectionId: id }
      const eventWrites = await outbox.prepare(tenantId, eventsOfCollection(audit))
      const failed = await writeTogether(collections, tenantId, [
        deletionOf(id, version),
        guardOperation(tenantId, referenceVersion),
        { operationType: 'Upsert', resourceBody: removal },
        ...auditOperations(audit),
        ...eventWrites,
      ])
      if (failed !== undefined) throw staleOr(failed.status, id)
      await outbox.notify('collections', tenantId, eventWrites)
    },
    async removals(tenantId) {
      const query = 'SELECT * FROM c WHERE IS_DEFINED(c.removedCollectionId)'
      const found = await queryAll<Stored<RemovalDocument>>(collections, tenantId, { query })
      return found.map(({ removedCollectionId: collectionId, _ts }) => ({ collectionId, removedAtMs: _ts * 1000 }))
    },
    deleteRemovalRecord: (tenantId, id) => deleteUnlessGone(collections, removalId(id), tenantId),
  }
}

function guardDocument(tenantId: string): { id: string; tenantId: string } {
  return { id: REFERENCE_GUARD_ID, tenantId }
}

function guardOperation(tenantId: string, referenceVersion: string): OperationInput {
  return writeOf(guardDocument(tenantId), referenceVersion === NO_GUARD ? undefined : referenceVersion)
}

/** The status of the collection's write or of the guard's. */
function staleOr(status: number, id: string): Error {
  if (isWriteConflict(status)) return new Refusal('StaleVersion', `Collection ${id} has changed`)
  return new Error(`Writing collection ${id} failed with status ${status}`)
}
