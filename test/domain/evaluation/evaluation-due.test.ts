import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type EvaluationInputs, evaluationSchedule } from '../../../shared/domain/evaluation/evaluation-due.ts'

import { UTC } from '../../../shared/kernel/time-zone.ts'

const EVALUATED_MS = Date.parse('2030-01-01T12:00:00Z')
const MINUTE_MS = 60_000
const TENANT = '11111111-0000-4000-8000-000000000001'

describe('The inputs of an evaluation', () => {
  it('are looked at from more than an hour before it: deletions remove members for so long', async () => {
    const read: Parameters<EvaluationInputs['hasFurtherWrites']>[1][] = []
    const schedule = evaluationSchedule({
      evaluationLeases: { find: async () => undefined },
      inputs: {
        async hasFurtherWrites(_tenantId, included) {
          read.push(included)
          return false
        },
      },
      timeZones: { zoneOf: async () => UTC },
      nowMs: () => EVALUATED_MS + MINUTE_MS,
    })
    const known = { atMs: EVALUATED_MS, readsRequests: true }
    assert.equal(await schedule.coveredUntil(TENANT, known), known)
    const minutesBefore = Object.values(read[0] ?? {}).map(({ sinceS }) => (EVALUATED_MS / 1000 - sinceS) / 60)
    assert.equal(minutesBefore.length, 3)
    assert.ok(
      minutesBefore.every((minutes) => minutes > 60),
      `${minutesBefore} minutes`,
    )
  })
})
