import type { Container, OperationInput, SqlParameter } from '@azure/cosmos'
import { byName, type Collection, type CollectionKind } from '../domain/collections/collection.ts'
import type { CollectionFilter, CollectionStore } from '../domain/collections/collection-dependencies.ts'
import { chunk } from '../kernel/chunk.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { batchedDocumentReads } from './batched-reads.ts'
import {
  deletionOf,
  isWriteConflict,
  queryAll,
  queryDocuments,
  readDocument,
  type Stored,
  statusOf,
  writeTogether,
} from './documents.ts'
import { serialize } from './serialize.ts'

/**
 * The tenant's reference version is the ETag of this document, which every change of references between collections
 * writes along in one transaction. Its id is no GUID, so no collection can bear it.
 */
const REFERENCE_GUARD_ID = 'reference-guard'

/** A query of Cosmos takes 512 KB; a condition may name tens of thousands. */
const IDS_PER_QUERY_COUNT = 5000

/** What `referenceVersion` answers while the guard is not written yet. */
const NO_GUARD = ''

/** A collection with what its metadata is searched by: `key:value`, so that no property's name comes from a caller. */
type CollectionDocument = Collection & { readonly attributePairs: readonly string[] }

/** What is left of a collection: that it was there. It has no `kind`, and so is no collection to any query. */
type RemovalDocument = { readonly id: string; readonly tenantId: string; readonly removedCollectionId: string }

function removalId(collectionId: string): string {
  return `removed:${collectionId}`
}

/** Container `collections`, partition key `/tenantId`. */
export function cosmosCollectionStore(collections: Container): CollectionStore {
  const read = batchedDocumentReads<CollectionDocument>(collections)
  const turns = serialize()
  const find = async (tenantId: string, id: string, kind?: CollectionKind) => {
    const document = await read(tenantId, id)
    if (document === undefined || (kind !== undefined && document.kind !== kind)) return undefined
    return { value: collectionOf(document), version: document._etag }
  }
  const write = async (collection: Collection, operation: OperationInput, referenceVersion: string | undefined) => {
    const guard = referenceVersion === undefined ? [] : [guardOperation(collection.tenantId, referenceVersion)]
    const failed = await writeTogether(collections, collection.tenantId, [operation, ...guard])
    if (failed !== undefined) throw staleOr(failed.status, collection.id)
  }
  const written = async (collection: Collection): Promise<Versioned<Collection>> => {
    const found = await find(collection.tenantId, collection.id)
    if (found === undefined) throw new Refusal('StaleVersion', `Collection ${collection.id} was deleted meanwhile`)
    return found
  }
  return {
    find,
    async list(tenantId, filter) {
      const { text, parameters } = filterQuery(filter)
      const found: Collection[] = []
      // Definitions are parsed page by page: all at once would be felt where there are thousands.
      const pages = queryDocuments<CollectionDocument>(collections, tenantId, { query: text, parameters })
      for await (const page of pages) found.push(...page.map(collectionOf))
      return found.sort(byName)
    },
    async existing(tenantId, ids) {
      const query = 'SELECT * FROM c WHERE IS_DEFINED(c.kind) AND ARRAY_CONTAINS(@ids, c.id)'
      const found = chunk(ids, IDS_PER_QUERY_COUNT).map((some) =>
        queryAll<CollectionDocument>(collections, tenantId, { query, parameters: [{ name: '@ids', value: some }] }),
      )
      return (await Promise.all(found)).flat().map(collectionOf)
    },
    async referenceVersion(tenantId) {
      return (await readDocument(collections, REFERENCE_GUARD_ID, tenantId))?._etag ?? NO_GUARD
    },
    serialize: turns,
    async invalidateReferenceVersions(tenantId) {
      await collections.items.upsert(guardDocument(tenantId))
    },
    async add(collection, referenceVersion) {
      await write(collection, { operationType: 'Create', resourceBody: documentOf(collection) }, referenceVersion)
      return written(collection)
    },
    async replace(collection, version, referenceVersion) {
      const resourceBody = documentOf(collection)
      await write(
        collection,
        { operationType: 'Replace', id: collection.id, resourceBody, ifMatch: version },
        referenceVersion,
      )
      return written(collection)
    },
    async remove(tenantId, id, version, referenceVersion) {
      const removal: RemovalDocument = { id: removalId(id), tenantId, removedCollectionId: id }
      const failed = await writeTogether(collections, tenantId, [
        deletionOf(id, version),
        guardOperation(tenantId, referenceVersion),
        { operationType: 'Upsert', resourceBody: removal },
      ])
      if (failed !== undefined) throw staleOr(failed.status, id)
    },
    async removedBefore(tenantId, instantMs) {
      const query =
        'SELECT VALUE c.removedCollectionId FROM c WHERE IS_DEFINED(c.removedCollectionId) AND c._ts < @before'
      const parameters = [{ name: '@before', value: Math.floor(instantMs / 1000) }]
      return queryAll<string>(collections, tenantId, { query, parameters })
    },
    async deleteRemovalRecord(tenantId, id) {
      await collections
        .item(removalId(id), tenantId)
        .delete()
        .catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error
        })
    },
  }
}

function guardDocument(tenantId: string): { id: string; tenantId: string } {
  return { id: REFERENCE_GUARD_ID, tenantId }
}

function guardOperation(tenantId: string, referenceVersion: string): OperationInput {
  const resourceBody = guardDocument(tenantId)
  if (referenceVersion === NO_GUARD) return { operationType: 'Create', resourceBody }
  return { operationType: 'Replace', id: REFERENCE_GUARD_ID, resourceBody, ifMatch: referenceVersion }
}

/** Of the collection, or of the guard that is written along. */
function staleOr(status: number, id: string): Error {
  if (isWriteConflict(status)) return new Refusal('StaleVersion', `Collection ${id} has changed`)
  return new Error(`Writing collection ${id} failed with status ${status}`)
}

function filterQuery(filter: CollectionFilter): { text: string; parameters: SqlParameter[] } {
  const clauses = ['IS_DEFINED(c.kind)']
  const parameters: SqlParameter[] = []
  const parameter = (value: string) => {
    const name = `@p${parameters.length}`
    parameters.push({ name, value })
    return name
  }
  const demand = (clause: (name: string) => string, value: string) => void clauses.push(clause(parameter(value)))
  if (filter.kind !== undefined) demand((name) => `c.kind = ${name}`, filter.kind)
  if (filter.objectType !== undefined) demand((name) => `c.objectType = ${name}`, filter.objectType)
  if (filter.refersTo !== undefined) demand((name) => `ARRAY_CONTAINS(c.refersTo, ${name})`, filter.refersTo)
  for (const tags of filter.tags ?? []) {
    clauses.push(`(${tags.map((tag) => `ARRAY_CONTAINS(c.metadata.tags, ${parameter(tag)})`).join(' OR ')})`)
  }
  for (const { key, value } of filter.attributes ?? []) {
    demand((name) => `ARRAY_CONTAINS(c.attributePairs, ${name})`, attributePair(key, value))
  }
  return { text: `SELECT * FROM c WHERE ${clauses.join(' AND ')}`, parameters }
}

/** A colon within a key stays apart from the one between: keys are quoted. */
function attributePair(key: string, value: string): string {
  return `${JSON.stringify(key)}:${value}`
}

function documentOf(collection: Collection): Omit<CollectionDocument, 'definition'> & { definition: string } {
  const attributePairs = Object.entries(collection.metadata.attributes).map(([key, value]) => attributePair(key, value))
  // As text: nothing within a definition is ever queried, and no index grows by it.
  return { ...collection, definition: JSON.stringify(collection.definition), attributePairs }
}

function collectionOf(document: Stored<CollectionDocument> | CollectionDocument): Collection {
  return {
    id: document.id,
    tenantId: document.tenantId,
    kind: document.kind,
    objectType: document.objectType,
    name: document.name,
    description: document.description,
    definition: JSON.parse(String(document.definition)) as object,
    definitionVersion: document.definitionVersion,
    metadata: document.metadata,
    refersTo: document.refersTo,
    createdBy: document.createdBy,
    createdAtMs: document.createdAtMs,
    updatedAtMs: document.updatedAtMs,
  }
}
