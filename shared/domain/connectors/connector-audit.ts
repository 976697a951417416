import { type Static, Type } from 'typebox'
import { actorIdOf, type KnownCaller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import { type AuditRecord, type AuditTrail, changedFields, hasChanges } from '../history/audit.ts'
import type { Connector, ConnectorStore } from './connector.ts'

const CONNECTOR_ACTIONS = ['Created', 'Updated', 'Deleted'] as const
const Fields = Type.Unsafe<AuditRecord['before']>({ type: 'object' })

/** One change of a connector's settings. */
export const ConnectorAuditEntry = Closed({
  at: Timestamp,
  actorId: Described(Type.String(), 'A core identity id, or the `oid` of an actor without one.'),
  action: OneOf(CONNECTOR_ACTIONS),
  before: Described(Fields, 'The changed settings with their former values; empty for a new connector.'),
  after: Described(Fields, 'The same with their new values; empty for a deleted connector.'),
})
export type ConnectorAuditEntry = Static<typeof ConnectorAuditEntry>

/**
 * The audit records of connectors. The newest record of a connector is a part of its document, so that both are written
 * together. It is kept here before the next change, and after its own one.
 */
export interface ConnectorAuditTrail extends AuditTrail {
  /** Stores a record. Does nothing if one with its id is stored. */
  keep(record: AuditRecord): Promise<void>
}

/**
 * The audit record of a change of a connector; undefined when no setting changes.
 * @param before Undefined for a new connector.
 * @param after Undefined for a deleted one.
 */
export function auditOfConnector(
  before: Connector | undefined,
  after: Connector | undefined,
  caller: KnownCaller,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): AuditRecord | undefined {
  const changed = changedFields(settingsOf(before), settingsOf(after))
  const subject = (after ?? before)?.id
  if (subject === undefined || !hasChanges(changed)) return undefined
  const action = before === undefined ? 'Created' : after === undefined ? 'Deleted' : 'Updated'
  const actorId = actorIdOf(caller)
  return { id, tenantId: caller.tenantId, subject, at: toTimestamp(nowMs), actorId, action, linkId: null, ...changed }
}

function settingsOf(connector: Connector | undefined): Record<string, unknown> {
  if (connector === undefined) return {}
  const { id: _id, createdAt: _createdAt, createdBy: _createdBy, updatedAt: _updatedAt, ...settings } = connector
  const { keysPendingSinceMs: _pending, ...shown } = settings
  return shown
}

/**
 * A page of the changes of a connector's settings, the newest first. Also of a deleted connector.
 * @throws Refusal `ConnectorNotFound` for one that never existed.
 */
export async function listConnectorAudit(
  tenantId: string,
  id: string,
  { after, size }: PageRange,
  { connectors, connectorAudit }: { readonly connectors: ConnectorStore; readonly connectorAudit: ConnectorAuditTrail },
): Promise<Page<ConnectorAuditEntry>> {
  const connector = await connectors.find(tenantId, id)
  if (connector?.lastChange !== undefined) await connectorAudit.keep(connector.lastChange)
  const page = await connectorAudit.page(tenantId, id, after, size)
  if (page.items.length === 0 && connector === undefined) {
    throw new Refusal('ConnectorNotFound', `There is no connector ${id}`)
  }
  return { ...page, items: page.items.map(toEntry) }
}

function toEntry({ at, actorId, action, before, after }: AuditRecord): ConnectorAuditEntry {
  return { at, actorId, action: action as ConnectorAuditEntry['action'], before, after }
}
