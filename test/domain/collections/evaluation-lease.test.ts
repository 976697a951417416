import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  acquired,
  EVALUATION_LEASE_MS,
  type EvaluationLease,
  released,
} from '../../../shared/domain/collections/evaluation-lease.ts'
import { EvaluationLeases, type HeldLease } from '../../../shared/domain/collections/held-lease.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import type { Versioned } from '../../../shared/kernel/versioned.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const MINUTE_MS = 60_000

const at = (nowMs: number) => ({ nowMs, clockDifferenceMs: 2 * MINUTE_MS })

function acquire(current: EvaluationLease | undefined, holderId: string, knownEpoch = 0, nowMs = NOON_MS) {
  const decision = acquired(current, holderId, knownEpoch, at(nowMs))
  assert.equal(decision.outcome, 'acquired')
  return decision
}

/** The lease after evaluations by `ann`, each of which wrote these collections. */
function evaluatedByAnn(...written: string[][]): EvaluationLease {
  let lease: EvaluationLease | undefined
  for (const ids of written) lease = released(acquire(lease, 'ann').lease, ids, NOON_MS)
  assert.ok(lease !== undefined)
  return lease
}

const SEEN = { membersSeen: '0:1#7' } as const

describe('The lease of evaluation', () => {
  it('is held by one evaluator until it is released, or two minutes after it expires', () => {
    const { lease } = acquire(undefined, 'ann')
    assert.equal(acquired(lease, 'bob', 0, at(NOON_MS + EVALUATION_LEASE_MS + 2 * MINUTE_MS - 1)).outcome, 'held')
    assert.equal(acquired(lease, 'bob', 0, at(NOON_MS + EVALUATION_LEASE_MS + 2 * MINUTE_MS)).outcome, 'acquired')
    assert.equal(acquired(released(lease, [], NOON_MS), 'bob', 0, at(NOON_MS)).outcome, 'acquired')
  })

  it('can be acquired again by its own holder after the response to its release was lost', () => {
    const known = released(acquire(undefined, 'bob').lease, [], NOON_MS)
    const again = acquire(acquire(known, 'ann').lease, 'ann')
    assert.equal(again.stale, 'all')
    assert.equal(again.lease.lateWritesUntilMs, undefined)
    assert.equal(acquire(released(again.lease, [], NOON_MS), 'bob', known.epoch).stale, 'all')
  })

  it('names the collections that others wrote since the evaluator last held it, and no others', () => {
    const lease = evaluatedByAnn(['choir'], ['band', 'choir'], [])
    assert.equal(acquire(lease, 'bob').stale, 'all')
    assert.deepEqual(acquire(lease, 'bob', 1).stale, ['band', 'choir'])
    assert.deepEqual(acquire(lease, 'bob', 2).stale, [])
  })

  it('names no collections after more than 200, or to an evaluator that missed more than twenty entries', () => {
    const many = Array.from({ length: 201 }, (_, index) => `collection ${index}`)
    assert.equal(acquire(evaluatedByAnn(['choir'], many), 'bob', 1).stale, 'all')
    const long = evaluatedByAnn(...Array.from({ length: 22 }, () => ['choir']))
    assert.equal(long.entries.length, 20)
    assert.equal(acquire(long, 'bob', 1).stale, 'all')
    assert.deepEqual(acquire(long, 'bob', 2).stale, ['choir'])
  })

  it('invalidates all caches while a holder with an expired lease may still write', () => {
    const expiredMs = NOON_MS + EVALUATION_LEASE_MS + 2 * MINUTE_MS
    const { lease } = acquire(undefined, 'ann')
    const taken = acquire(lease, 'bob', 0, expiredMs).lease
    const during = released(taken, [], expiredMs)
    assert.equal(acquire(during, 'bob', taken.epoch, expiredMs + 11 * MINUTE_MS).stale, 'all')
    const after = acquire(during, 'bob', taken.epoch, expiredMs + 13 * MINUTE_MS)
    assert.equal(after.stale, 'all')
    const settled = released(after.lease, [], expiredMs + 13 * MINUTE_MS)
    assert.deepEqual(acquire(settled, 'bob', after.lease.epoch, expiredMs + 14 * MINUTE_MS).stale, [])
    assert.equal(acquire(settled, 'eve', taken.epoch, expiredMs + 14 * MINUTE_MS).stale, 'all')
  })
})

describe('A new holder of the lease', () => {
  const expiredMs = NOON_MS + EVALUATION_LEASE_MS + 2 * MINUTE_MS
  const first = acquire(undefined, 'ann').lease

  it('reads the members with all that former holders have written once they have released the lease', () => {
    const free = { ...released(first, ['choir'], NOON_MS), ...SEEN }
    const { lease, seesFormerWrites } = acquire(free, 'bob')
    assert.equal(seesFormerWrites, true)
    assert.equal('membersSeen' in lease, false)
    assert.equal(acquire(released(acquire(undefined, 'ann').lease, [], NOON_MS), 'bob').seesFormerWrites, false)
  })

  it('may miss what one whose lease has expired has written or still writes', () => {
    const taken = acquire(first, 'bob', 0, expiredMs)
    assert.equal(taken.seesFormerWrites, false)
    const during = { ...released(taken.lease, [], expiredMs), ...SEEN }
    assert.equal(acquire(during, 'bob', 0, expiredMs + 11 * MINUTE_MS).seesFormerWrites, false)
    const after = acquire(during, 'bob', 0, expiredMs + 13 * MINUTE_MS)
    assert.equal(after.seesFormerWrites, false)
    const settled = { ...released(after.lease, [], expiredMs + 13 * MINUTE_MS), ...SEEN }
    assert.equal(acquire(settled, 'eve', 0, expiredMs + 14 * MINUTE_MS).seesFormerWrites, true)
  })
})

/** A stored lease, with the number of times that it was read. */
function storedLease() {
  let stored: Versioned<EvaluationLease> | undefined
  let [writeCount, readCount] = [0, 0]
  const save = async (_tenantId: string, value: EvaluationLease, version: string | undefined) => {
    if (version !== stored?.version) throw new Refusal('StaleVersion')
    writeCount += 1
    stored = { value, version: `${writeCount}` }
    return stored.version
  }
  return {
    readCount: () => readCount,
    membersSeen: () => stored?.value.membersSeen,
    store: {
      async find() {
        readCount += 1
        return stored
      },
      save,
      saveWithState: (tenantId: string, value: EvaluationLease, version: string) =>
        save(tenantId, { ...value, ...SEEN }, version),
    },
  }
}

describe('An evaluator', () => {
  const lease = storedLease()
  const evaluator = (holderId: string) =>
    new EvaluationLeases(lease.store, holderId, { nowMs: () => NOON_MS, clockDifferenceMs: 2 * MINUTE_MS })
  const held = (acquisition: HeldLease | { retryMs: number }): HeldLease => {
    assert.ok('release' in acquisition)
    return acquisition
  }
  const evaluates = async (one: EvaluationLeases, written: string) => {
    const { stale, beforeWrite, release } = held(await one.acquire('tenant'))
    await beforeWrite(written)
    assert.equal(await release(), true)
    return stale
  }

  it('reads the lease that it has released only if another one has acquired it since', async () => {
    const [ann, bob] = [evaluator('ann'), evaluator('bob')]
    await evaluates(ann, 'first')
    const readCount = lease.readCount()
    assert.deepEqual(await evaluates(ann, 'second'), [])
    assert.equal(lease.readCount(), readCount)
    await evaluates(bob, 'third')
    assert.deepEqual(await evaluates(ann, 'fourth'), ['third'])
    const bobHolds = held(await bob.acquire('tenant'))
    assert.ok('retryMs' in (await ann.acquire('tenant')))
    await bobHolds.release()
  })

  it('names the state that it has seen only after it has covered all collections', async () => {
    const ann = evaluator('ann')
    const complete = held(await ann.acquire('tenant'))
    complete.cover({ readsRequests: false })
    await complete.release()
    assert.equal(lease.membersSeen(), SEEN.membersSeen)
    const failed = held(await ann.acquire('tenant'))
    await failed.beforeWrite('choir')
    await failed.release()
    assert.equal(lease.membersSeen(), undefined)
  })
})
