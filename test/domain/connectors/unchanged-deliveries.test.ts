import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UnchangedDeliveries } from '../../../shared/domain/connectors/unchanged-deliveries.ts'

describe('A delivery that changes nothing', () => {
  it('is recorded when the recording of the one before has failed, and once in ten minutes', async () => {
    let isAway = true
    let nowMs = Date.parse('2030-01-01T06:00:00Z')
    const recorded: string[] = []
    const recordDelivery = async (_tenantId: string, connectorId: string) => {
      if (isAway) throw new Error('The database is away')
      recorded.push(connectorId)
    }
    const deliveries = new UnchangedDeliveries({ objects: { recordDelivery }, nowMs: () => nowMs })
    await assert.rejects(deliveries.record('tenant', 'hr'), /The database is away/)
    isAway = false
    await deliveries.record('tenant', 'hr')
    await deliveries.record('tenant', 'hr')
    assert.deepEqual(recorded, ['hr'])
    nowMs += 10 * 60_000
    await deliveries.record('tenant', 'hr')
    assert.deepEqual(recorded, ['hr', 'hr'])
  })
})
