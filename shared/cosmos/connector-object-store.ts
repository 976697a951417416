import type { Container, SqlParameter } from '@azure/cosmos'
import { type ConnectorObject, REFERENCES, type StoredConnectorObject } from '../domain/connectors/connector-object.ts'
import type {
  ConnectorObjectStore,
  ConnectorObjectWrite,
  Standing,
} from '../domain/connectors/connector-object-store.ts'
import { isObjectType, type ObjectType } from '../domain/core/core-object.ts'
import type { Versioned } from '../domain/versioned.ts'
import { closeSpace, openSpace, spaceVersion, treeVersion, whileOpen, whileTreeIs } from './connector-space-guards.ts'
import { catchUp, queryAll, type Stored } from './documents.ts'
import { readPage } from './keyset-page.ts'
import { type VersionedWrite, writeInChain, writeVersioned } from './versioned-writes.ts'

type Document = ConnectorObject & { readonly tenantId: string; readonly ttl?: number }

const DAY_S = 24 * 60 * 60
const LIVE = 'NOT IS_DEFINED(c.deletedAtMs)'

/** What a batch asks for by its keys comes in one answer, if it is not too large for one, though several say each. */
const DOCUMENTS_PER_ANSWER_COUNT = 5000

/** Container `connectorObjects`, partition key `/tenantId`; soft-deleted documents carry a `ttl`. Guards lie beside them. */
export function cosmosConnectorObjectStore(container: Container): ConnectorObjectStore {
  /** Nothing is asked for an empty list. */
  const whereIn = async (
    tenantId: string,
    property: string,
    values: readonly string[],
    also: readonly string[] = [],
  ) => {
    if (values.length === 0) return []
    const query = `SELECT * FROM c WHERE ${[`ARRAY_CONTAINS(@values, ${property})`, ...also].join(' AND ')}`
    const parameters: SqlParameter[] = [{ name: '@values', value: [...values] }]
    const options = { maxItemCount: DOCUMENTS_PER_ANSWER_COUNT }
    return (await queryAll<Stored<Document>>(container, tenantId, { query, parameters }, options)).map(versioned)
  }
  return {
    catchUp: (tenantId) => catchUp(container, tenantId),
    ofIds: (tenantId, ids) => whereIn(tenantId, 'c.id', ids),
    async standings(tenantId, ids) {
      if (ids.length === 0) return []
      const query = `SELECT c.id, c.coreObjectId, c.deletedAtMs, c["references"].parent FROM c WHERE ARRAY_CONTAINS(@ids, c.id)`
      const parameters = [{ name: '@ids', value: [...ids] }]
      return (await queryAll<StandingRow>(container, tenantId, { query, parameters })).map(standing)
    },
    ofCoreObjects: (tenantId, coreObjectIds) => whereIn(tenantId, 'c.coreObjectId', coreObjectIds),
    async identitiesByKeys(tenantId, nins, directoryObjectIds) {
      const [byNin, byDirectoryObjectId] = await Promise.all([
        whereIn(tenantId, 'c.data.nin', nins, [LIVE]),
        whereIn(tenantId, 'c.data.directoryObjectId', directoryObjectIds, [LIVE]),
      ])
      return [...new Map([...byNin, ...byDirectoryObjectId].map((found) => [found.value.id, found])).values()]
    },
    async coreObjectsReferringTo(tenantId, objectType, ids) {
      const names = new Map(REFERENCES.filter(({ to }) => to === objectType).map((each) => [each.name, each.isList]))
      const found = await Promise.all(
        [...names].map(([name, isList]) => referrers(container, tenantId, name, isList, ids)),
      )
      return [...new Set(found.flat())]
    },
    open: (tenantId, connectorId) => openSpace(container, tenantId, connectorId),
    version: (tenantId, connectorId) => spaceVersion(container, tenantId, connectorId),
    close: (tenantId, connectorId, version) => closeSpace(container, tenantId, connectorId, version),
    treeVersion: (tenantId, connectorId) => treeVersion(container, tenantId, connectorId),
    write: ({ tenantId, connectorId, softDeletionDays }, writes) =>
      writeVersioned(
        container,
        tenantId,
        writes.map((write) => documentWrite(tenantId, write, softDeletionDays)),
        [whileOpen(tenantId, connectorId)],
      ),
    writeTree: ({ tenantId, connectorId, softDeletionDays }, writes, version) =>
      writeInChain(
        container,
        tenantId,
        writes.map((write) => documentWrite(tenantId, write, softDeletionDays)),
        whileTreeIs(tenantId, connectorId, version),
        [whileOpen(tenantId, connectorId)],
      ),
    async page(tenantId, connectorId, objectType, after, size) {
      const ofType = objectType === undefined ? '' : 'AND c.objectType = @objectType'
      const page = await readPage<Stored<Document>>(container, tenantId, {
        where: `c.connectorId = @connectorId ${ofType} AND ${LIVE}`,
        parameters: [
          { name: '@connectorId', value: connectorId },
          { name: '@objectType', value: objectType ?? null },
        ],
        after,
        size,
      })
      return { ...page, items: page.items.map(parsed) }
    },
    async hasLive(tenantId, connectorId) {
      const query = `SELECT TOP 1 c.id FROM c WHERE c.connectorId = @connectorId AND ${LIVE}`
      const parameters = [{ name: '@connectorId', value: connectorId }]
      return (await queryAll(container, tenantId, { query, parameters })).length > 0
    },
  }
}

/** The core objects of live objects whose reference `name` leads to one of these ids. */
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
  // Lists are compared here: few objects have any, and no index serves many ids against a list of each document.
  const query = `SELECT c.coreObjectId, ${property} AS ids FROM c
    WHERE c.objectType = 'orgUnit' AND IS_DEFINED(${property}) AND ${LIVE}`
  const wanted = new Set(ids)
  const rows = await queryAll<{ coreObjectId: string; ids: string[] }>(container, tenantId, { query })
  return rows.filter((row) => row.ids.some((id) => wanted.has(id))).map(({ coreObjectId }) => coreObjectId)
}

type StandingRow = { id: string; coreObjectId: string; deletedAtMs?: number; parent?: string }

function standing({ id, coreObjectId, deletedAtMs, parent }: StandingRow): Standing {
  return { id, coreObjectId, isLive: deletedAtMs === undefined, parentId: parent }
}

function documentWrite(
  tenantId: string,
  { object, version }: ConnectorObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  const { id, connectorId, objectType, externalId, data, coreObjectId, formerCoreObjectIds, references } = object
  const { deletedAtMs } = object
  const document = { id, tenantId, connectorId, objectType, externalId, data, coreObjectId, references }
  const move = formerCoreObjectIds === undefined ? {} : { formerCoreObjectIds }
  const deletion = deletedAtMs === undefined ? {} : { deletedAtMs, ttl: softDeletionDays * DAY_S }
  return { document: { ...document, ...move, ...deletion } as unknown as VersionedWrite['document'], version }
}

function versioned(document: Stored<Document>): Versioned<StoredConnectorObject> {
  return { value: parsed(document), version: document._etag }
}

function parsed(document: Stored<Document>): StoredConnectorObject {
  const { id, connectorId, externalId, data, coreObjectId, formerCoreObjectIds, references, deletedAtMs } = document
  const objectType: ObjectType | undefined = isObjectType(document.objectType) ? document.objectType : undefined
  const isWhole = [connectorId, externalId, coreObjectId].every((member) => typeof member === 'string')
  if (!isWhole || objectType === undefined || typeof data !== 'object' || typeof references !== 'object') {
    throw new Error(`The stored connector object ${id} is not one`)
  }
  const object = { id, connectorId, objectType, externalId, data, coreObjectId, references }
  return {
    ...object,
    lastUpdatedS: document._ts,
    ...(formerCoreObjectIds === undefined ? {} : { formerCoreObjectIds }),
    ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
  }
}
