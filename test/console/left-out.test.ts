import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { leftOutWith } from '../../functions/console/left-out.ts'

const ids = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `person ${from + index}`)

const membersOf = (identityIds: readonly (string | null)[]) => identityIds.map((identityId) => ({ identityId }))

describe('The members that a link leaves out', () => {
  for (const [claim, acceptedCount, members, addedCount, excessCount] of [
    ['are those of before and all that keep others in the group', 3, ids(20, 3), 20, 0],
    ['are as many as a link can leave out', 95, ids(20, 95), 5, 15],
    ['are a hundred where all fit', 80, ids(20, 80), 20, 0],
    ['are those of before where no more fit', 100, ids(20, 100), 0, 20],
    ['count each person once, and none who is left out already', 3, [...ids(2, 2), ...ids(2, 3)], 2, 0],
    ['have no positions without a person', 3, [null, ...ids(1, 3)], 1, 0],
  ] as const) {
    it(claim, () => {
      const accepted = ids(acceptedCount)
      const leftOut = leftOutWith(membersOf(members), accepted)
      assert.deepEqual(leftOut, { identityIds: ids(acceptedCount + addedCount), addedCount, excessCount })
    })
  }
})
