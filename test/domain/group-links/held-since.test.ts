import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type HeldRemovals, heldSinceMs } from '../../../shared/domain/group-links/removal-plan.ts'

const [CHANGED, FIRST_HELD, HELD] = ['07:00', '08:00', '09:00'].map((time) => `2030-01-01T${time}:00.000+00:00`)
const cause = { kind: 'Direct', actorId: 'someone', collectionId: 'choir', at: CHANGED }

for (const [claim, held, since] of [
  ['the change behind them was made', { createdAt: HELD, heldSince: FIRST_HELD, cause }, CHANGED],
  [
    'an earlier plan was held, without a known change',
    { createdAt: HELD, heldSince: FIRST_HELD, cause: null },
    FIRST_HELD,
  ],
  ['their plan was held, without an earlier one', { createdAt: HELD }, HELD],
] as const) {
  it(`Removals are held since ${claim}`, () => {
    assert.equal(heldSinceMs(held as unknown as HeldRemovals), Date.parse(since ?? ''))
  })
}
