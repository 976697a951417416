import type { Container, OperationInput, SqlParameter } from '@azure/cosmos'
import {
  type ConnectorObject,
  type ConnectorObjectStore,
  type ConnectorObjectWrite,
  REFERENCES,
  type ReferenceTarget,
  type StoredConnectorObject,
} from '../domain/connectors/connector-object.ts'
import { isObjectType, type ObjectType } from '../domain/core/core-object.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { deletionOf, isWriteConflict, queryAll, readDocument, type Stored, writeTogether } from './documents.ts'
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
    ofIds: (tenantId, ids) => whereIn(tenantId, 'c.id', ids),
    async referenceTargets(tenantId, ids) {
      if (ids.length === 0) return []
      const query = `SELECT c.id, c.coreObjectId, c.deletedAtMs, c["references"].parent FROM c WHERE ARRAY_CONTAINS(@ids, c.id)`
      const parameters = [{ name: '@ids', value: [...ids] }]
      return (await queryAll<ReferenceTargetRow>(container, tenantId, { query, parameters })).map(referenceTarget)
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

type ReferenceTargetRow = { id: string; coreObjectId: string; deletedAtMs?: number; parent?: string }

function referenceTarget({ id, coreObjectId, deletedAtMs, parent }: ReferenceTargetRow): ReferenceTarget {
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

/**
 * Documents beside a connector's objects, which are written along with these in one transaction. Their ids are no GUIDs
 * and they have none of the objects' members, so no query for objects finds them.
 */
type Guard = { readonly id: string; readonly tenantId: string }

/** There while the space takes writes. Each write replaces it, whatever its version: writers are not in each other's way. */
const openGuard = (tenantId: string, connectorId: string): Guard => ({ id: `open:${connectorId}`, tenantId })

/** There from the moment that the space was closed, for ever: a write may come late. */
const closedGuard = (tenantId: string, connectorId: string): Guard => ({ id: `closed:${connectorId}`, tenantId })

/** Its version is that of the org tree: each change of the tree replaces it and quotes the version it was decided on. */
const treeGuard = (tenantId: string, connectorId: string): Guard => ({ id: `tree:${connectorId}`, tenantId })

const create = (resourceBody: Guard): OperationInput => ({ operationType: 'Create', resourceBody })

/** The operation that fails where the space is not open, and makes every version of it that was read before stale. */
export function whileOpen(tenantId: string, connectorId: string): OperationInput {
  const guard = openGuard(tenantId, connectorId)
  return { operationType: 'Replace', id: guard.id, resourceBody: guard }
}

/** The write that fails where the tree is no longer of this version. @param version undefined before the first change */
export function whileTreeIs(tenantId: string, connectorId: string, version: string | undefined): VersionedWrite {
  return { document: treeGuard(tenantId, connectorId), version }
}

/** Undefined before the first change. */
export async function treeVersion(container: Container, tenantId: string, connectorId: string) {
  return (await readDocument(container, treeGuard(tenantId, connectorId).id, tenantId))?._etag
}

/** Undefined while the space is not open. */
export async function spaceVersion(container: Container, tenantId: string, connectorId: string) {
  return (await readDocument(container, openGuard(tenantId, connectorId).id, tenantId))?._etag
}

/** @returns Whether the space is open from now on: not when it has been closed. */
export async function openSpace(container: Container, tenantId: string, connectorId: string): Promise<boolean> {
  const closed = closedGuard(tenantId, connectorId)
  // Made and taken away at once, the one shows in the same transaction as the other that nobody has closed the space.
  const failure = await writeTogether(container, tenantId, [
    create(closed),
    { operationType: 'Delete', id: closed.id },
    create(openGuard(tenantId, connectorId)),
  ])
  if (failure !== undefined && failure.status !== 409) throw new Error(`A space was not opened: ${failure.status}`)
  return failure?.index !== 0
}

/** @throws Refusal `StaleVersion` when anything was written to the space since the version was read. */
export async function closeSpace(
  container: Container,
  tenantId: string,
  connectorId: string,
  version: string,
): Promise<void> {
  const removal = deletionOf(openGuard(tenantId, connectorId).id, version)
  const failure = await writeTogether(container, tenantId, [removal, create(closedGuard(tenantId, connectorId))])
  if (failure === undefined) return
  if (!isWriteConflict(failure.status)) throw new Error(`A space was not closed: ${failure.status}`)
  throw new Refusal('StaleVersion', `The space of connector ${connectorId} has changed`)
}
