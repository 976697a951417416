import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { differenceTask } from '../../../shared/domain/collections/membership-store.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'

const ascending = fc.uniqueArray(fc.nat(60).map((number) => String(number).padStart(2, '0'))).map((ids) => ids.sort())

describe('The difference of two memberships', () => {
  it('has the ids that only one of them has, in order', () => {
    fc.assert(
      fc.property(ascending, ascending, (before, after) => {
        const { added, removed } = runToCompletion(differenceTask(before, after))
        assert.deepEqual(
          added,
          after.filter((id) => !before.includes(id)),
        )
        assert.deepEqual(
          removed,
          before.filter((id) => !after.includes(id)),
        )
      }),
    )
  })
})
