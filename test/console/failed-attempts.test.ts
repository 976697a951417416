import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failedAttempts } from '../../functions/console/failed-attempts.ts'

describe('The failed attempts of a sync', () => {
  for (const [claim, status, attempts, expected] of [
    ['are all where it waits for the next one', 'Queued', 1, 1],
    ['do not contain the one that is running', 'Running', 2, 1],
    ['are all where it is given up', 'Failed', 4, 4],
  ] as const) {
    it(claim, () => assert.equal(failedAttempts({ status, attempts }), expected))
  }
})
