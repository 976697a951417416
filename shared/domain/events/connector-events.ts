import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { ConnectorStore } from '../connectors/connector.ts'
import { isLate } from '../connectors/connector-health.ts'
import type { ConnectorObjectStore } from '../connectors/connector-object-store.ts'
import type { EventDraft } from './event-types.ts'

/** The connectors whose last event said that they are late. */
export interface LateConnectorStore {
  of(tenantId: string): Promise<ReadonlySet<string>>
  /**
   * Records whether a connector is late, with the event in the same transaction. Ignored where others have done it.
   * @param event Absent for a connector that was deleted.
   */
  record(tenantId: string, connectorId: string, isLate: boolean, event: EventDraft | undefined): Promise<void>
}

type Dependencies = {
  readonly connectors: Pick<ConnectorStore, 'list'>
  readonly objects: Pick<ConnectorObjectStore, 'deliveries'>
  readonly lateConnectors: LateConnectorStore
  nowMs(): number
}

/** Tells of connectors that have become late, or have sent data again. Each change once, however often it is called. */
export async function tellConnectorHealth(tenantId: string, deps: Dependencies): Promise<void> {
  const connectors = await deps.connectors.list(tenantId)
  if (connectors.every(({ expectedIntervalHours }) => expectedIntervalHours === null)) return
  const [{ lastS }, reported] = await Promise.all([deps.objects.deliveries(tenantId), deps.lateConnectors.of(tenantId)])
  const nowMs = deps.nowMs()
  for (const connector of connectors) {
    const { id } = connector
    const isLateNow = isLate(connector, lastS.get(id), nowMs)
    if (isLateNow === reported.has(id)) continue
    await deps.lateConnectors.record(tenantId, id, isLateNow, eventOf(id, isLateNow, nowMs))
  }
  const existing = new Set(connectors.map(({ id }) => id))
  for (const id of reported.difference(existing)) await deps.lateConnectors.record(tenantId, id, false, undefined)
}

function eventOf(connectorId: string, isLateNow: boolean, nowMs: number): EventDraft {
  const type = isLateNow ? 'connector.late' : 'connector.recovered'
  const time = toTimestamp(nowMs)
  const data = { connectorId, actorId: SYSTEM_ACTOR }
  return { key: [connectorId, type, time], type, time, subject: `/connectors/${connectorId}`, data }
}
