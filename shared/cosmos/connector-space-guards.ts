import type { Container, OperationInput } from '@azure/cosmos'
import { Refusal } from '../kernel/refusals.ts'
import { deletionOf, isOvertaken, readDocument, writeTogether } from './documents.ts'
import type { VersionedWrite } from './versioned-writes.ts'

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
  if (!isOvertaken(failure.status)) throw new Error(`A space was not closed: ${failure.status}`)
  throw new Refusal('StaleVersion', `The space of connector ${connectorId} has changed`)
}
