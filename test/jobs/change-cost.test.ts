import assert from 'node:assert/strict'
import { it } from 'node:test'
import { costOfChange } from './change-cost.ts'

const UNITS_AT_MOST = 90
/** Of the difference between collections of different sizes. */
const SHARE_AT_MOST = 0.2

it('One change of a member costs a bounded number of request units, almost the same in a collection of another size', async () => {
  const totals: number[] = []
  for (const size of [100, 1_000]) {
    const { write, evaluation, sync } = await costOfChange(size)
    totals.push(write + evaluation + sync)
  }
  const [small = 0, large = 0] = totals
  assert.ok(small > 0 && small <= UNITS_AT_MOST, `${small} request units`)
  assert.ok(Math.abs(large - small) <= small * SHARE_AT_MOST, `${small} and ${large} request units`)
})
