import type { Container, OperationInput } from '@azure/cosmos'
import type { ConnectorSpaces, SpaceCounts } from '../../domain/connectors/connector-spaces.ts'
import { NO_COUNTS, type SpaceCountStore } from '../../domain/connectors/space-counts.ts'
import { OBJECT_TYPES, type ObjectType } from '../../domain/core/core-object.ts'
import { Refusal } from '../../kernel/refusals.ts'
import {
  countDocuments,
  deleteUnlessGone,
  deletionOf,
  isWriteConflict,
  queryAll,
  readDocument,
  savedVersion,
  writeTogether,
} from '../documents.ts'

/**
 * A document that a transaction writes together with a connector's objects. Guard ids are not GUIDs and guards have
 * none of the objects' properties, so queries for objects never return them.
 */
type Guard = { readonly id: string; readonly tenantId: string }

const OPEN_GUARD_PREFIX = 'open:'
const COUNTS_PREFIX = 'counts:'

type DeliveryRow = Pick<DeliveredGuard, 'id' | 'deliveredAtS'> & { readonly _ts: number; readonly counts?: SpaceCounts }

/**
 * The guard of an open space. `hasDeliveries` once there was one. A delivery replaces the guard without a version, so that
 * concurrent writers do not conflict: the time of this write is that of the last delivery. Other writes leave it in
 * `deliveredAtS`, and are counted in `otherWriteCount` until the next delivery, so that each changes the version.
 */
type DeliveredGuard = Guard & { readonly hasDeliveries?: true; readonly deliveredAtS?: number }

const openGuard = (tenantId: string, connectorId: string): Guard => ({ id: OPEN_GUARD_PREFIX + connectorId, tenantId })

/** Exists from the moment the space is closed, without expiry: a write can arrive at any later time. */
const closedGuard = (tenantId: string, connectorId: string): Guard => ({ id: `closed:${connectorId}`, tenantId })

/**
 * Its version is the version of the org tree. Each change of the tree replaces it and quotes the version it was based
 * on.
 */
export const treeGuard = (tenantId: string, connectorId: string): Guard => ({ id: `tree:${connectorId}`, tenantId })

/** Has the same mark as the guard of a space with deliveries, so that one query finds both. */
const countsDocument = (tenantId: string, connectorId: string, counts: SpaceCounts) => ({
  ...{ id: COUNTS_PREFIX + connectorId, tenantId, hasDeliveries: true, counts },
})

const create = (resourceBody: Guard): OperationInput => ({ operationType: 'Create', resourceBody })

/** The operation fails when the space is not open. It also invalidates every version of the space read before. */
function deliver(tenantId: string, connectorId: string): OperationInput {
  const guard: DeliveredGuard = { ...openGuard(tenantId, connectorId), hasDeliveries: true }
  return { operationType: 'Replace', id: guard.id, resourceBody: guard }
}

/** Does the same, and keeps the stored time of the last delivery. */
function touch(tenantId: string, connectorId: string): OperationInput {
  const operations = [{ op: 'incr' as const, path: '/otherWriteCount', value: 1 }]
  return { operationType: 'Patch', id: openGuard(tenantId, connectorId).id, resourceBody: { operations } }
}

/**
 * Returns the operation by which writes of objects require that the space is open. Before writes that are no delivery,
 * stores the time of the last one. A delivery at the same moment replaces it: the time is that of these writes then.
 */
export async function openForWrites(
  container: Container,
  tenantId: string,
  connectorId: string,
  isDelivery: boolean,
): Promise<OperationInput> {
  if (isDelivery) return deliver(tenantId, connectorId)
  const guard = await readDocument<DeliveredGuard>(container, openGuard(tenantId, connectorId).id, tenantId)
  if (guard?.hasDeliveries && guard.deliveredAtS === undefined) {
    const { id, hasDeliveries, _ts: deliveredAtS, _etag: version } = guard
    // Without an effect after a concurrent write: that of a delivery has a later time, and others have stored this one.
    await savedVersion(container, tenantId, { id, tenantId, hasDeliveries, deliveredAtS }, version)
  }
  return touch(tenantId, connectorId)
}

/**
 * Changes the counts. The operation fails where they are not stored. It quotes no version, so that concurrent writers do
 * not conflict.
 * @returns No operation where nothing differs.
 */
export function changeCounts(
  connectorId: string,
  differences: ReadonlyMap<keyof SpaceCounts, number>,
): readonly OperationInput[] {
  const operations = [...differences].flatMap(([what, value]) =>
    value === 0 ? [] : [{ op: 'incr' as const, path: `/counts/${what}`, value }],
  )
  if (operations.length === 0) return []
  return [{ operationType: 'Patch', id: COUNTS_PREFIX + connectorId, resourceBody: { operations } }]
}

/** Of two that count concurrently, one can add what the other has counted: never below zero. */
const nonNegative = ({ identity, orgUnit, relationship, unresolved }: SpaceCounts): SpaceCounts => ({
  identity: Math.max(0, identity),
  orgUnit: Math.max(0, orgUnit),
  relationship: Math.max(0, relationship),
  unresolved: Math.max(0, unresolved),
})

/** The spaces of connectors: whether they are open, their versions and deliveries. Container `connectorObjects`. */
export function connectorSpaces(container: Container): ConnectorSpaces {
  return {
    open: (tenantId, connectorId) => openSpace(container, tenantId, connectorId),
    version: async (tenantId, connectorId) =>
      (await readDocument(container, openGuard(tenantId, connectorId).id, tenantId))?._etag,
    async recordDelivery(tenantId, connectorId) {
      const failure = await writeTogether(container, tenantId, [deliver(tenantId, connectorId)])
      if (failure !== undefined && failure.status !== 404) {
        throw new Error(`Recording a delivery of connector ${connectorId} failed with status ${failure.status}`)
      }
    },
    async deliveries(tenantId) {
      const query = 'SELECT c.id, c._ts, c.deliveredAtS, c.counts FROM c WHERE c.hasDeliveries = true'
      const found = await queryAll<DeliveryRow>(container, tenantId, { query })
      const [guards, counted] = [OPEN_GUARD_PREFIX, COUNTS_PREFIX].map((prefix) =>
        found.flatMap(({ id, ...row }) => (id.startsWith(prefix) ? [{ ...row, id: id.slice(prefix.length) }] : [])),
      )
      return {
        lastS: new Map(guards?.map(({ id, _ts, deliveredAtS }) => [id, deliveredAtS ?? _ts])),
        counts: new Map(
          counted?.flatMap(({ id, counts }) => (counts === undefined ? [] : [[id, nonNegative(counts)]])),
        ),
      }
    },
    close: (tenantId, connectorId, version) => closeSpace(container, tenantId, connectorId, version),
    treeVersion: async (tenantId, connectorId) =>
      (await readDocument(container, treeGuard(tenantId, connectorId).id, tenantId))?._etag,
  }
}

/** @returns Whether the space is open afterwards. A closed space stays closed. */
async function openSpace(container: Container, tenantId: string, connectorId: string): Promise<boolean> {
  const closed = closedGuard(tenantId, connectorId)
  // Creating and deleting the closed guard in the same transaction proves that the space has not been closed.
  const failure = await writeTogether(container, tenantId, [
    create(closed),
    { operationType: 'Delete', id: closed.id },
    create(openGuard(tenantId, connectorId)),
    { operationType: 'Upsert', resourceBody: countsDocument(tenantId, connectorId, NO_COUNTS) },
  ])
  if (failure !== undefined && failure.status !== 409) {
    throw new Error(`Opening the space of connector ${connectorId} failed with status ${failure.status}`)
  }
  return failure?.index !== 0
}

/** @throws Refusal `StaleVersion` when the space was written after `version` was read. */
async function closeSpace(container: Container, tenantId: string, connectorId: string, version: string): Promise<void> {
  const removal = deletionOf(openGuard(tenantId, connectorId).id, version)
  const failure = await writeTogether(container, tenantId, [removal, create(closedGuard(tenantId, connectorId))])
  if (failure === undefined) return
  if (!isWriteConflict(failure.status)) {
    throw new Error(`Closing the space of connector ${connectorId} failed with status ${failure.status}`)
  }
  throw new Refusal('StaleVersion', `The connector space of ${connectorId} has changed`)
}

/**
 * The counts of connectors, in documents beside the guards of their spaces, which every write of an object replaces. One
 * query returns both.
 */
export function cosmosSpaceCounts(container: Container): SpaceCountStore {
  const idOf = (connectorId: string): string => COUNTS_PREFIX + connectorId
  return {
    async find(tenantId, connectorId) {
      const document = await readDocument<{ counts: SpaceCounts }>(container, idOf(connectorId), tenantId)
      return document && { value: nonNegative(document.counts), version: document._etag }
    },
    async save(tenantId, connectorId, counts, version) {
      const document = countsDocument(tenantId, connectorId, counts)
      return (await savedVersion(container, tenantId, document, version)) !== undefined
    },
    async addUnresolved(tenantId, connectorId, difference) {
      const operations = changeCounts(connectorId, new Map([['unresolved', difference]]))
      const failure = await writeTogether(container, tenantId, [...operations])
      if (failure !== undefined && failure.status !== 404) {
        throw new Error(`Changing the counts of connector ${connectorId} failed with status ${failure.status}`)
      }
    },
    forget: (tenantId, connectorId) => deleteUnlessGone(container, idOf(connectorId), tenantId),
    async countObjects(tenantId, connectorId) {
      const counts = OBJECT_TYPES.map(async (objectType): Promise<[ObjectType, number]> => {
        const live = 'c.connectorId = @connectorId AND c.objectType = @objectType AND NOT IS_DEFINED(c.deletedAtMs)'
        return [objectType, await countDocuments(container, tenantId, live, { connectorId, objectType })]
      })
      return Object.fromEntries(await Promise.all(counts)) as Record<ObjectType, number>
    },
  }
}
