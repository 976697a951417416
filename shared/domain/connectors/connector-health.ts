import { type Static, Type } from 'typebox'
import { Closed, Described, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import { Connector } from './connector.ts'
import type { SpaceCounts } from './connector-spaces.ts'

const HOUR_MS = 60 * 60 * 1000
const HEALTH = ['Healthy', 'Late', 'Unresolved'] as const
const Count = Type.Integer({ minimum: 0 })

/** A connector with what it has delivered. These members change without a new version. */
export const ConnectorRecord = Closed({
  ...Connector.properties,
  lastDeliveredAt: Described(
    Nullable(Timestamp),
    'When the connector last sent data, in whole seconds; null if it never did. While it sends only data that are ' +
      'stored already, the time can be up to ten minutes too old.',
  ),
  objectCounts: Described(
    Closed({ identity: Count, orgUnit: Count, relationship: Count }),
    'Its live objects. They change shortly after the data.',
  ),
  health: Described(
    OneOf(HEALTH),
    '`Late`: it has sent nothing for `expectedIntervalHours`, counted from its creation if it never did, also while ' +
      'it is disabled. Otherwise ' +
      '`Unresolved`: references of its objects lead to no object. Changes of members do not change the ETag.',
  ),
})
export type ConnectorRecord = Static<typeof ConnectorRecord>

/** What is known of a connector's deliveries. */
type Deliveries = { readonly lastS: number | undefined; readonly counts: SpaceCounts }

export function connectorRecord(connector: Connector, { lastS, counts }: Deliveries, nowMs: number): ConnectorRecord {
  const { unresolved, ...objectCounts } = counts
  const { keysPendingSinceMs: _pending, ...settings } = connector
  return {
    ...settings,
    lastDeliveredAt: lastS === undefined ? null : toSecondsTimestamp(lastS),
    objectCounts,
    health: isLate(connector, lastS, nowMs) ? 'Late' : unresolved > 0 ? 'Unresolved' : 'Healthy',
  }
}

/** Whether a connector has sent nothing for its expected interval. @param lastS as of `TenantDeliveries`. */
export function isLate(
  { expectedIntervalHours, createdAt }: Pick<Connector, 'expectedIntervalHours' | 'createdAt'>,
  lastS: number | undefined,
  nowMs: number,
): boolean {
  const sinceMs = lastS === undefined ? Date.parse(createdAt) : lastS * 1000
  return expectedIntervalHours !== null && nowMs - sinceMs > expectedIntervalHours * HOUR_MS
}
