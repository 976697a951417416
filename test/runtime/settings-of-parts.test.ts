import assert from 'node:assert/strict'
import { it } from 'node:test'
import { builtService } from '../support/api/built-service.ts'
import { localDatabase } from '../support/contract/local-database.ts'

it('settings reach the parts of the service, in their unit', async () => {
  const { links, events, connectors } = builtService(
    await localDatabase(),
    {},
    { clockDifferenceS: 7, evaluationDelayMs: 1_234 },
  )
  assert.deepEqual(
    [links.clockDifferenceMs, events.clockDifferenceMs, connectors.evaluationDelayMs],
    [7_000, 7_000, 1_234],
  )
})
