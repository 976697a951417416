import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { acquiredLease, isHeld } from '../../shared/domain/evaluation/evaluation-lease.ts'
import type { Lease } from '../../shared/domain/group-links/group-link.ts'
import { linkLeaseDecision } from '../../shared/domain/group-links/link-lease.ts'
import { decideOnRecord, inProgressRecord } from '../../shared/domain/idempotency/idempotency-record.ts'
import { isRenewalDue, leaseDecision, retryDelayMs } from '../../shared/kernel/lease.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
/** The default of `CLOCK_DIFFERENCE_S`. */
const DIFFERENCE_MS = 2 * MINUTE_MS
const TIMES = { leaseMs: MINUTE_MS, clockDifferenceMs: DIFFERENCE_MS }

describe('A lease', () => {
  const anns = { owner: 'ann', untilMs: NOON_MS + 1, epoch: 7 }

  for (const [claim, stored, nowMs, resumedOwner, expected] of [
    ['is acquired with the next epoch once it is released', { ...anns, owner: null }, NOON_MS, undefined, 'acquire'],
    ['is respected for the difference of clocks after its end', anns, NOON_MS + DIFFERENCE_MS, undefined, 1],
    ['is acquired from then on', anns, NOON_MS + DIFFERENCE_MS + 1, undefined, 'acquire'],
    ['is acquired at once from an owner that no longer acts', anns, NOON_MS, 'ann', 'acquire'],
    ['is respected when another owner no longer acts', anns, NOON_MS, 'bob', DIFFERENCE_MS + 1],
  ] as const) {
    it(claim, () => {
      const acquired = { outcome: 'acquire', untilMs: nowMs + MINUTE_MS, epoch: 8 }
      const decision = leaseDecision(stored, TIMES, nowMs, resumedOwner)
      assert.deepEqual(decision, expected === 'acquire' ? acquired : { outcome: 'held', forMs: expected })
    })
  }

  it('is renewed when more than a third of its time has passed', () => {
    assert.deepEqual([isRenewalDue(40_000, MINUTE_MS), isRenewalDue(39_999, MINUTE_MS)], [false, true])
  })
})

/** A lease that a worker acquired: when it stops by its own clock, and whether another worker may acquire it. */
type Acquired = { readonly untilMs: number; isFree(nowMs: number): boolean }

function linkLease(atMs: number): Acquired {
  const acquire = (lease: Lease | null, owner: string, nowMs: number) =>
    linkLeaseDecision({ lease, lastToken: 0 }, { owner, ...TIMES }, nowMs)
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

describe('The lease of evaluation', () => {
  it('has one holder at a time whatever the clocks of instances say', () => {
    const clock = fc.integer({ min: NOON_MS - 60 * MINUTE_MS, max: NOON_MS + 60 * MINUTE_MS })
    fc.assert(
      fc.property(clock, clock, fc.integer({ min: 0, max: 30 }), (holderMs, otherMs, ageS) => {
        const value = acquiredLease(undefined, 'ann', holderMs)
        assert.ok(value !== undefined)
        const other = acquiredLease({ value, ageS }, 'bob', otherMs)
        // The holder writes for fifteen seconds; the database counts whole ones, from before and after it.
        assert.equal(other === undefined, ageS < 17)
        assert.equal(isHeld({ value, ageS }, 'bob'), other === undefined)
        assert.ok(other === undefined || other.epoch > value.epoch)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('An attempt with an idempotency key', () => {
  it('excludes other attempts for thirty seconds', () => {
    const request = { tenantId: 'tenant', callerId: 'ann', key: 'key', fingerprint: 'one' }
    const record = inProgressRecord(request, 'seed', NOON_MS)
    const outcome = (nowMs: number) => decideOnRecord(record, request, nowMs).outcome
    assert.deepEqual([outcome(NOON_MS + 29_999), outcome(NOON_MS + 30_000)], ['in-progress', 'run'])
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
