import type { Container, OperationInput, SqlParameter } from '@azure/cosmos'
import { REFERENCES, type StoredConnectorObject } from '../../domain/connectors/connector-object.ts'
import type {
  ConflictingIdentity,
  ConnectorObjectStore,
  ConnectorObjectWrite,
} from '../../domain/connectors/connector-object-store.ts'
import { KEYS_AS_SENT } from '../../domain/connectors/join-keys.ts'
import { parentIn } from '../../domain/connectors/org-tree.ts'
import type { ObjectType } from '../../domain/core/core-object.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { readFew } from '../batched-reads.ts'
import { countDocuments, queryAll, queryDocuments, type Stored, WHOLE_DOCUMENTS_PER_PAGE_COUNT } from '../documents.ts'
import { readPage, readValues } from '../keyset-page.ts'
import { type Companions, type VersionedWrite, writeInChain, writeVersioned } from '../versioned-writes.ts'
import {
  type ConnectorObjectDocument,
  documentWrite,
  joinKeyProperties,
  parseTargetRow,
  referenceTarget,
  storedForms,
  storedObject,
  versionedObject,
} from './connector-object-document.ts'
import { changeCounts, connectorSpaces, openForWrites, treeGuard } from './connector-spaces.ts'

const LIVE = 'NOT IS_DEFINED(c.deletedAtMs)'

/**
 * Container `connectorObjects`, partition key `/tenantId`. Soft-deleted documents have a `ttl`. Guards share the
 * container.
 */
export function cosmosConnectorObjectStore(container: Container): ConnectorObjectStore {
  /** Sends no query for an empty list. */
  const whereIn = async (
    tenantId: string,
    property: string,
    values: readonly string[],
    also: readonly string[] = [],
  ) => {
    if (values.length === 0) return []
    const query = `SELECT * FROM c WHERE ${[`ARRAY_CONTAINS(@values, ${property})`, ...also].join(' AND ')}`
    const parameters: SqlParameter[] = [{ name: '@values', value: [...values] }]
    const options = { maxItemCount: WHOLE_DOCUMENTS_PER_PAGE_COUNT }
    const found: Versioned<StoredConnectorObject>[] = []
    for await (const documents of queryDocuments<Stored<ConnectorObjectDocument>>(
      container,
      tenantId,
      { query, parameters },
      options,
    )) {
      found.push(...documents.map(versionedObject))
    }
    return found
  }
  return {
    ...connectorSpaces(container),
    async ofIds(tenantId, ids) {
      const few = await readFew<ConnectorObjectDocument>(container, tenantId, ids)
      return few?.map(versionedObject) ?? whereIn(tenantId, 'c.id', ids)
    },
    async referenceTargets(tenantId, ids) {
      const few = await readFew<ConnectorObjectDocument>(container, tenantId, ids)
      if (few !== undefined) {
        return few.map(storedObject).map(({ references, ...target }) => {
          return referenceTarget({ ...target, parent: parentIn(references) })
        })
      }
      const query = `SELECT c.id, c.coreObjectId, c.deletedAtMs, c.renamedTo, c["references"].parent FROM c WHERE ARRAY_CONTAINS(@ids, c.id)`
      const parameters = [{ name: '@ids', value: [...ids] }]
      const rows = await queryAll<object>(container, tenantId, { query, parameters })
      return rows.map(parseTargetRow).map(referenceTarget)
    },
    ofCoreObjects: (tenantId, coreObjectIds) => whereIn(tenantId, 'c.coreObjectId', coreObjectIds),
    async identitiesByKeys(tenantId, values) {
      const found = await Promise.all(
        [...values].flatMap(([key, texts]) =>
          joinKeyProperties(key).map((property) => whereIn(tenantId, property, storedForms(key, texts))),
        ),
      )
      return [...new Map(found.flat().map((object) => [object.value.id, object])).values()]
    },
    coreObjectIds: (tenantId, after, size) =>
      readValues(container, tenantId, { property: 'c.coreObjectId', where: LIVE, after, size }),
    coreObjectIdsOfIdentities: (tenantId, after, size) =>
      readValues(container, tenantId, { property: 'c.coreObjectId', where: "c.objectType = 'identity'", after, size }),
    async coreObjectsReferringTo(tenantId, objectType, ids) {
      const names = new Map(
        REFERENCES.filter(({ to }) => to === objectType).map((reference) => [reference.name, reference.isList]),
      )
      const found = await Promise.all(
        [...names].map(([name, isList]) => referrers(container, tenantId, name, isList, ids)),
      )
      return [...new Set(found.flat())]
    },
    conflicting(tenantId) {
      const query = `SELECT c.connectorId, c.coreObjectId, c.conflictKeys FROM c WHERE c.hasConflicts = true AND ${LIVE}`
      return queryAll<ConflictingIdentity>(container, tenantId, { query })
    },
    async *joiningIdentities(tenantId, joinKeys) {
      const names = [...new Set([...joinKeys, ...KEYS_AS_SENT])]
      const query = `SELECT * FROM c WHERE c.objectType = 'identity' AND ${LIVE}`
      const options = { maxItemCount: WHOLE_DOCUMENTS_PER_PAGE_COUNT }
      for await (const documents of queryDocuments<Stored<ConnectorObjectDocument>>(
        container,
        tenantId,
        { query },
        options,
      )) {
        yield documents.map(({ id, connectorId, coreObjectId, data }) => {
          const keys = names.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]] as const]))
          return { id, connectorId, coreObjectId, data: Object.fromEntries(keys) }
        })
      }
    },
    async referringTo(tenantId, objectType, ids) {
      const own = REFERENCES.filter(({ to }) => to === objectType)
      const found = await Promise.all(
        own.map(async ({ of, name, isList }) => {
          const property = `c["references"].${name}`
          if (!isList) return whereIn(tenantId, property, ids, [LIVE])
          const wanted = new Set(ids)
          const objects = await whereIn(tenantId, 'c.objectType', [of], [`IS_DEFINED(${property})`, LIVE])
          return objects.filter(({ value }) => [value.references[name] ?? []].flat().some((id) => wanted.has(id)))
        }),
      )
      return [...new Map(found.flat().map((object) => [object.value.id, object])).values()]
    },
    async write({ tenantId, connectorId, softDeletionDays, isDelivery }, writes) {
      if (writes.length === 0) return new Set()
      return writeVersioned(
        container,
        tenantId,
        writes.values().map((write) => countedWrite(tenantId, write, softDeletionDays)),
        counted(connectorId, await openForWrites(container, tenantId, connectorId, isDelivery)),
      )
    },
    async writeTree({ tenantId, connectorId, softDeletionDays, isDelivery }, writes, version) {
      if (writes.length === 0) return new Set()
      return writeInChain(
        container,
        tenantId,
        writes.map((write) => countedWrite(tenantId, write, softDeletionDays)),
        { document: treeGuard(tenantId, connectorId), version },
        counted(connectorId, await openForWrites(container, tenantId, connectorId, isDelivery)),
      )
    },
    async page(tenantId, connectorId, objectType, after, size) {
      const ofType = objectType === undefined ? '' : 'AND c.objectType = @objectType'
      const page = await readPage<Stored<ConnectorObjectDocument>>(container, tenantId, {
        where: `c.connectorId = @connectorId ${ofType} AND ${LIVE}`,
        parameters: [
          { name: '@connectorId', value: connectorId },
          { name: '@objectType', value: objectType ?? null },
        ],
        after,
        size,
      })
      return { ...page, items: page.items.map(storedObject) }
    },
    /** All documents without the few that describe spaces: the database need not look at each object for that. */
    async count(tenantId) {
      const [all, others] = await Promise.all([
        countDocuments(container, tenantId),
        countDocuments(container, tenantId, 'c.hasDeliveries = true'),
      ])
      return all - others
    },
    async hasLive(tenantId, connectorId) {
      const query = `SELECT TOP 1 c.id FROM c WHERE c.connectorId = @connectorId AND ${LIVE}`
      const parameters = [{ name: '@connectorId', value: connectorId }]
      return (await queryAll(container, tenantId, { query, parameters })).length > 0
    },
  }
}

/** Returns the core object ids of live objects whose reference `name` contains one of the ids. */
async function referrers(
  container: Container,
  tenantId: string,
  name: string,
  isList: boolean,
  ids: readonly string[],
): Promise<string[]> {
  const property = `c["references"].${name}`
  if (!isList) {
    const query = `SELECT VALUE c.coreObjectId FROM c WHERE ARRAY_CONTAINS(@ids, ${property}) AND ${LIVE}`
    return queryAll<string>(container, tenantId, { query, parameters: [{ name: '@ids', value: [...ids] }] })
  }
  // Lists are compared in memory: few objects have one, and no index supports many ids against a list per document.
  const query = `SELECT c.coreObjectId, ${property} AS ids FROM c
    WHERE c.objectType = 'orgUnit' AND IS_DEFINED(${property}) AND ${LIVE}`
  const wanted = new Set(ids)
  const rows = await queryAll<{ coreObjectId: string; ids: string[] }>(container, tenantId, { query })
  return rows.filter((row) => row.ids.some((id) => wanted.has(id))).map(({ coreObjectId }) => coreObjectId)
}

type CountedWrite = VersionedWrite & { readonly objectType: ObjectType; readonly liveDifference: number }

function countedWrite(tenantId: string, write: ConnectorObjectWrite, softDeletionDays: number): CountedWrite {
  const { object, liveDifference = 0 } = write
  return { ...documentWrite(tenantId, write, softDeletionDays), objectType: object.objectType, liveDifference }
}

/**
 * Each transaction requires that the space is open, and changes the counts with the objects. Without that, the counts
 * are wrong after the death of a process, until everything is counted: test/contract/connector-counts.test.ts.
 */
function counted(connectorId: string, requireOpen: OperationInput): Companions<CountedWrite> {
  return {
    maxCount: 2,
    of(writes) {
      const differences = new Map<ObjectType, number>()
      for (const { objectType, liveDifference } of writes) {
        differences.set(objectType, (differences.get(objectType) ?? 0) + liveDifference)
      }
      return [requireOpen, ...changeCounts(connectorId, differences)]
    },
  }
}
