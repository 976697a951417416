import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Lease } from '../../shared/domain/group-links/group-link.ts'
import { leaseDecision } from '../../shared/domain/group-links/lease.ts'
import { retryDelayMs } from '../../shared/kernel/lease-expiry.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
/** The default of `CLOCK_DIFFERENCE_S`. */
const DIFFERENCE_MS = 2 * MINUTE_MS

/** A lease that a worker acquired: when it stops by its own clock, and whether another worker may acquire it. */
type Acquired = { readonly untilMs: number; isFree(nowMs: number): boolean }

function linkLease(atMs: number): Acquired {
  const acquire = (lease: Lease | null, owner: string, nowMs: number) =>
    leaseDecision({ lease, lastToken: 0 }, { owner, leaseMs: MINUTE_MS, clockDifferenceMs: DIFFERENCE_MS }, nowMs)
  const decision = acquire(null, 'ann', atMs)
  assert.ok(decision.outcome === 'acquire')
  const { lease } = decision
  return { untilMs: lease.expiresAtMs, isFree: (nowMs) => acquire(lease, 'bob', nowMs).outcome === 'acquire' }
}

describe('The lease of a group link', () => {
  it('is not acquired by a worker whose clock is a minute ahead while its holder acts under it', () => {
    const { untilMs, isFree } = linkLease(NOON_MS)
    assert.equal(isFree(untilMs - 1 + MINUTE_MS), false)
  })

  it('has one holder at a time when clocks differ by up to two minutes, and is free five minutes after a crash', () => {
    const offset = fc.integer({ min: -MINUTE_MS, max: MINUTE_MS })
    const passed = fc.integer({ min: 0, max: 6 * MINUTE_MS })
    fc.assert(
      fc.property(offset, offset, passed, (holderAheadMs, otherAheadMs, passedMs) => {
        const { untilMs, isFree } = linkLease(NOON_MS + holderAheadMs)
        const actsUnderIt = NOON_MS + passedMs + holderAheadMs < untilMs
        const canBeAcquired = isFree(NOON_MS + passedMs + otherAheadMs)
        assert.ok(!(actsUnderIt && canBeAcquired), 'two workers act under the lease')
        assert.ok(canBeAcquired || passedMs < 5 * MINUTE_MS, 'the lease is never free')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('The next attempt to acquire a lease', () => {
  for (const [claim, forMs, delayMs] of [
    ['follows soon while its holder works', DIFFERENCE_MS + MINUTE_MS, 2_000],
    ['waits for the end of the lease once its holder has not renewed it in time', DIFFERENCE_MS, DIFFERENCE_MS],
  ] as const) {
    it(claim, () => assert.equal(retryDelayMs(forMs, DIFFERENCE_MS, 2_000), delayMs))
  }
})
