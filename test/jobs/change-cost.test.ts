import assert from 'node:assert/strict'
import { it } from 'node:test'
import { costOfChange } from '../support/jobs/change-cost.ts'

const MAX_UNITS = 90
/** Of the difference between collections of different sizes. */
const MAX_SHARE = 0.2

it('One change of a member costs a bounded number of request units, almost the same in a collection of another size', async () => {
  const totals: number[] = []
  for (const size of [100, 1_000]) {
    const { write, evaluation, sync } = await costOfChange(size)
    totals.push(write + evaluation + sync)
  }
  const [small = 0, large = 0] = totals
  assert.ok(small > 0 && small <= MAX_UNITS, `${small} request units`)
  assert.ok(Math.abs(large - small) <= small * MAX_SHARE, `${small} and ${large} request units`)
})
