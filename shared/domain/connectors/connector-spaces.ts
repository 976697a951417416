import type { ObjectType } from '../core/core-object.ts'

/** Live objects of a connector by type, and its references that lead to no object. */
export type SpaceCounts = Readonly<Record<ObjectType, number>> & { readonly unresolved: number }

/** What connectors have delivered, by their ids. */
export type TenantDeliveries = {
  /** When each last sent data, in seconds since 1970. Writes and recorded deliveries count. */
  readonly lastS: ReadonlyMap<string, number>
  /** The counts that are known. */
  readonly counts: ReadonlyMap<string, SpaceCounts>
}

/**
 * The spaces of connectors, and what was delivered to them. A space accepts writes after it is opened and until it is
 * closed. A closed space cannot be opened again.
 */
export interface ConnectorSpaces {
  /** Opens a space unless it is open. @returns False when the space is closed. */
  open(tenantId: string, connectorId: string): Promise<boolean>
  /** Returns the version of an open space, which changes with every write; undefined when the space is not open. */
  version(tenantId: string, connectorId: string): Promise<string | undefined>
  /** Closes a space. @throws Refusal `StaleVersion` when the space was written after `version` was read. */
  close(tenantId: string, connectorId: string, version: string): Promise<void>
  /** Records that a connector has sent data, without changing any. Does nothing for a space that is not open. */
  recordDelivery(tenantId: string, connectorId: string): Promise<void>
  /** Returns what the connectors of a tenant have delivered. */
  deliveries(tenantId: string): Promise<TenantDeliveries>
  /** Returns the version of a connector's org tree; undefined before its first change. */
  treeVersion(tenantId: string, connectorId: string): Promise<string | undefined>
}
