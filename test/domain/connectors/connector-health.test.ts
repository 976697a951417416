import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConnectorStore } from '../../../shared/domain/connectors/connector.ts'
import { connectorRecord, isLate } from '../../../shared/domain/connectors/connector-health.ts'
import { tellConnectorHealth } from '../../../shared/domain/events/connector-events.ts'

const CREATED_MS = Date.parse('2030-01-01T00:00:00Z')
const CREATED = '2030-01-01T00:00:00.000+00:00'
const HOUR_MS = 3_600_000
const connector = (expectedIntervalHours: number | null, id = 'one') =>
  ({ id, expectedIntervalHours, createdAt: CREATED }) as Awaited<ReturnType<ConnectorStore['list']>>[number]

describe('A connector is late', () => {
  it('when more than its interval has passed since its last delivery', () => {
    const lastS = CREATED_MS / 1000 + 3_600
    const lateFromMs = CREATED_MS + 25 * HOUR_MS
    assert.equal(isLate(connector(24), lastS, lateFromMs), false)
    assert.equal(isLate(connector(24), lastS, lateFromMs + 1), true)
  })

  it('counted from its creation when it never delivered', () => {
    assert.equal(isLate(connector(24), undefined, CREATED_MS + 24 * HOUR_MS), false)
    assert.equal(isLate(connector(24), undefined, CREATED_MS + 24 * HOUR_MS + 1), true)
  })

  it('never without an interval', () => {
    assert.equal(isLate(connector(null), undefined, CREATED_MS + 9_000 * HOUR_MS), false)
  })
})

describe('The health of a connector', () => {
  const counts = { identity: 1, orgUnit: 2, relationship: 3, unresolved: 0 }

  it('is late before unresolved, and unresolved before healthy', () => {
    const healthOf = (unresolved: number, nowMs: number) =>
      connectorRecord(connector(24), { lastS: undefined, counts: { ...counts, unresolved } }, nowMs).health
    const lateMs = CREATED_MS + 25 * HOUR_MS
    assert.deepEqual(
      [healthOf(1, lateMs), healthOf(1, CREATED_MS), healthOf(0, CREATED_MS)],
      ['Late', 'Unresolved', 'Healthy'],
    )
  })

  it('is shown with the time of the last delivery and the numbers of objects', () => {
    const { lastDeliveredAt, objectCounts } = connectorRecord(connector(null), { lastS: 0, counts }, CREATED_MS)
    assert.deepEqual(
      [lastDeliveredAt, objectCounts],
      ['1970-01-01T00:00:00+00:00', { identity: 1, orgUnit: 2, relationship: 3 }],
    )
    assert.equal(connectorRecord(connector(null), { lastS: undefined, counts }, CREATED_MS).lastDeliveredAt, null)
  })
})

describe('What is told of late connectors', () => {
  const NOW_MS = CREATED_MS + 25 * HOUR_MS
  const NOW = '2030-01-02T01:00:00.000+00:00'

  /** What is recorded, for these connectors and those that were told as late. */
  async function recorded(list: readonly ReturnType<typeof connector>[], told: readonly string[], lastS?: number) {
    const records: unknown[] = []
    await tellConnectorHealth('tenant', {
      connectors: { list: async () => [...list] },
      objects: {
        deliveries: async () => ({ lastS: new Map(lastS === undefined ? [] : [['one', lastS]]) }) as never,
      },
      lateConnectors: {
        of: async () => new Set(told),
        record: async (_, id, isLateNow, event) => void records.push([id, isLateNow, event]),
      },
      nowMs: () => NOW_MS,
    })
    return records
  }
  const event = (type: string) => ({
    ...{ key: ['one', type, NOW], type, time: NOW, subject: '/connectors/one' },
    data: { connectorId: 'one', actorId: 'system' },
  })

  it('is each change once', async () => {
    assert.deepEqual(await recorded([connector(24)], []), [['one', true, event('connector.late')]])
    assert.deepEqual(await recorded([connector(24)], ['one']), [])
    const justNowS = NOW_MS / 1000
    assert.deepEqual(await recorded([connector(24)], ['one'], justNowS), [['one', false, event('connector.recovered')]])
    assert.deepEqual(await recorded([connector(24)], [], justNowS), [])
  })

  it('reads nothing where no connector has an interval', async () => {
    const [list, nothing] = [async () => [connector(null)], () => assert.fail()]
    const lateConnectors = { of: nothing, record: nothing }
    await tellConnectorHealth('tenant', {
      ...{ connectors: { list }, objects: { deliveries: nothing }, lateConnectors, nowMs: () => NOW_MS },
    })
  })

  it('is each of those that have one, beside others', async () => {
    const both = [connector(null, 'two'), connector(24)]
    assert.deepEqual(await recorded(both, []), [['one', true, event('connector.late')]])
  })

  it('is nothing of a connector that was deleted', async () => {
    assert.deepEqual(await recorded([connector(48, 'two')], ['one', 'two'], undefined), [
      [
        'two',
        false,
        {
          ...event('connector.recovered'),
          key: ['two', 'connector.recovered', NOW],
          subject: '/connectors/two',
          data: { connectorId: 'two', actorId: 'system' },
        },
      ],
      ['one', false, undefined],
    ])
  })
})
