import { type Static, Type } from 'typebox'
import { isScheduleDue, offsetOf } from '../../kernel/schedule.ts'
import { DAY_MS } from '../../kernel/timestamp.ts'
import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'

/** What the audits of a tenant's core objects have covered. */
export const AuditedUntil = Type.Object({
  /** The last audit began then: all earlier writes were audited. */
  auditedAtMs: Type.Number(),
  /** The last audit of all core objects began then. */
  completeAtMs: Type.Number(),
})
export type AuditedUntil = Readonly<Static<typeof AuditedUntil>>

/** A connector object that was written, and the core objects that the writes of it may have changed. */
export type ChangedConnectorObject = Pick<ConnectorObject, 'id' | 'objectType'> & {
  readonly coreObjectIds: readonly string[]
}

/** What audits have covered, and what was written since. */
export interface CoreObjectAudits {
  /** Undefined before the first audit. */
  find(tenantId: string): Promise<AuditedUntil | undefined>
  /** Of concurrent writes, either can remain: both are true. */
  save(tenantId: string, audited: AuditedUntil): Promise<void>
  /**
   * The connector objects written since a time of the database's clock, in seconds, soft-deleted ones included; at most
   * `count`, in any order.
   */
  connectorObjectsSince(tenantId: string, sinceS: number, count: number): Promise<ChangedConnectorObject[]>
  /** The ids of the core objects written since then; at most `count`, in any order. */
  coreObjectsSince(tenantId: string, sinceS: number, count: number): Promise<string[]>
}

/** All core objects are audited at least so often. The tenants are spread over the days. */
const COMPLETE_SCHEDULE = { unitMs: DAY_MS, unitCount: 84 }

/** The clocks of the database and of the instances differ by less. Writes of this time are audited twice. */
const OVERLAP_MS = 60 * 60 * 1000

/** With more changed objects, all core objects are audited: a complete audit continues in further messages. */
const MAX_CHANGED_COUNT = 5000

/** Of more identities that join keys leave apart, the others are audited with all core objects. */
const MAX_CONFLICTING_COUNT = 1000

type ScopeDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'coreObjectsReferringTo' | 'conflicting'>
  readonly audits: CoreObjectAudits
}

/**
 * The core objects that can differ from their contributions because of writes since the last audit: those that were
 * written, those whose contributions, or objects that these refer to, were written, and those of identities that join keys
 * leave apart: two writes at once can end their conflict without seeing each other. Undefined when all must be audited:
 * in the first audit of a tenant, at least every 84 days, after a change of a connector, and after many changes.
 */
export async function coreObjectsToAudit(
  tenantId: string,
  { audited, connectors, nowMs }: AuditBasis,
  deps: ScopeDependencies,
): Promise<readonly string[] | undefined> {
  if (audited === undefined || isScheduleDue(offsetOf(tenantId), audited.completeAtMs, COMPLETE_SCHEDULE, nowMs)) return
  const sinceMs = audited.auditedAtMs - OVERLAP_MS
  // The rules by which all objects are merged may have changed.
  if (connectors.some(({ updatedAt }) => Date.parse(updatedAt) >= sinceMs)) return
  const sinceS = Math.floor(sinceMs / 1000)
  const [conflicting, changed, written] = await Promise.all([
    deps.objects.conflicting(tenantId),
    deps.audits.connectorObjectsSince(tenantId, sinceS, MAX_CHANGED_COUNT + 1),
    deps.audits.coreObjectsSince(tenantId, sinceS, MAX_CHANGED_COUNT + 1),
  ])
  if (changed.length > MAX_CHANGED_COUNT || written.length > MAX_CHANGED_COUNT) return
  const byType = Map.groupBy(changed, ({ objectType }) => objectType)
  const referring = await Promise.all(
    [...byType].map(([objectType, ofType]) =>
      deps.objects.coreObjectsReferringTo(
        tenantId,
        objectType,
        ofType.map(({ id }) => id),
      ),
    ),
  )
  const ids = new Set([...written, ...changed.flatMap(({ coreObjectIds }) => coreObjectIds), ...referring.flat()])
  if (ids.size > MAX_CHANGED_COUNT) return
  for (const { coreObjectId } of conflicting.slice(0, MAX_CONFLICTING_COUNT)) ids.add(coreObjectId)
  return [...ids]
}

type AuditBasis = {
  /** Undefined before the first audit. */
  readonly audited: AuditedUntil | undefined
  readonly connectors: readonly Connector[]
  readonly nowMs: number
}
