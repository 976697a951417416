import type { Container, OperationInput } from '@azure/cosmos'
import type { ConnectorObjectStore } from '../../domain/connectors/connector-object.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { deletionOf, isWriteConflict, queryAll, readDocument, writeTogether } from '../documents.ts'

/**
 * A document that a transaction writes together with a connector's objects. Guard ids are not GUIDs and guards have
 * none of the objects' properties, so queries for objects never return them.
 */
type Guard = { readonly id: string; readonly tenantId: string }

const OPEN_GUARD_PREFIX = 'open:'

/**
 * Exists while the space is open. Each write replaces it without a version, so that concurrent writers do not conflict.
 * Its time is that of the last delivery, once there was one.
 */
const openGuard = (tenantId: string, connectorId: string): Guard => ({ id: OPEN_GUARD_PREFIX + connectorId, tenantId })

/** Exists from the moment the space is closed, without expiry: a write can arrive at any later time. */
const closedGuard = (tenantId: string, connectorId: string): Guard => ({ id: `closed:${connectorId}`, tenantId })

/**
 * Its version is the version of the org tree. Each change of the tree replaces it and quotes the version it was based
 * on.
 */
export const treeGuard = (tenantId: string, connectorId: string): Guard => ({ id: `tree:${connectorId}`, tenantId })

const create = (resourceBody: Guard): OperationInput => ({ operationType: 'Create', resourceBody })

/** The operation fails when the space is not open. It also invalidates every version of the space read before. */
export function requireOpen(tenantId: string, connectorId: string): OperationInput {
  const guard = openGuard(tenantId, connectorId)
  return { operationType: 'Replace', id: guard.id, resourceBody: { ...guard, hasDeliveries: true } }
}

type ConnectorSpaces = Pick<
  ConnectorObjectStore,
  'open' | 'version' | 'recordDelivery' | 'lastDeliveriesS' | 'close' | 'treeVersion'
>

/** The spaces of connectors: whether they are open, their versions and deliveries. Container `connectorObjects`. */
export function connectorSpaces(container: Container): ConnectorSpaces {
  return {
    open: (tenantId, connectorId) => openSpace(container, tenantId, connectorId),
    version: async (tenantId, connectorId) =>
      (await readDocument(container, openGuard(tenantId, connectorId).id, tenantId))?._etag,
    async recordDelivery(tenantId, connectorId) {
      const failure = await writeTogether(container, tenantId, [requireOpen(tenantId, connectorId)])
      if (failure !== undefined && failure.status !== 404) {
        throw new Error(`Recording a delivery of connector ${connectorId} failed with status ${failure.status}`)
      }
    },
    async lastDeliveriesS(tenantId) {
      const query = 'SELECT c.id, c._ts FROM c WHERE c.hasDeliveries = true'
      const guards = await queryAll<{ id: string; _ts: number }>(container, tenantId, { query })
      return new Map(guards.map(({ id, _ts }) => [id.slice(OPEN_GUARD_PREFIX.length), _ts]))
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
