import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  acquiredLease,
  type EvaluationLease,
  isHeld,
  type ReadLease,
  releasedLease,
} from '../../../shared/domain/evaluation/evaluation-lease.ts'
import { EvaluationLeases, type HeldLease } from '../../../shared/domain/evaluation/held-lease.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const SECOND_MS = 1000
const COVERED = { covered: { readsRequests: false } } as const

describe('The lease of evaluation', () => {
  const acquired = (holderId: string, value?: EvaluationLease) => {
    const lease = acquiredLease(value && { value, ageS: 17 }, holderId, NOON_MS)
    assert.ok(lease !== undefined)
    return lease
  }
  const anns = acquired('ann')

  for (const [claim, value, ageS, expected] of [
    ['is held by one evaluator for seventeen seconds after it was written', anns, 16, true],
    ['is free then', anns, 17, false],
    ['is free once it is released', releasedLease(anns, 'incomplete', NOON_MS), 0, false],
    ['is free for its own holder, the response to whose release was lost', { ...anns, holderId: 'bob' }, 0, false],
  ] as const) {
    it(claim, () => assert.equal(isHeld({ value, ageS }, 'bob'), expected))
  }

  it('has a higher epoch with each holder', () => {
    const { epoch } = acquired('bob', releasedLease(anns, COVERED, NOON_MS))
    assert.deepEqual([anns.epoch, epoch], [1, 2])
  })

  for (const [claim, former, expected] of [
    ['none after one that has evaluated all collections', releasedLease(anns, COVERED, NOON_MS), 0],
    ['none after one that has stopped in between', releasedLease(anns, 'incomplete', NOON_MS), 0],
    ['those of one that has failed, whose write may still take effect', releasedLease(anns, 'failed', NOON_MS), 1],
    ['those of one that has not released it', anns, 1],
  ] as const) {
    it(`makes its next holder write again, of the heads of former epochs, ${claim}`, () =>
      assert.equal(acquired('bob', former).unfencedEpoch, expected))
  }

  it('makes its holders write such heads again until one of them has evaluated all collections', () => {
    const bobs = acquired('bob', anns)
    const eves = acquired('eve', releasedLease(bobs, 'incomplete', NOON_MS))
    assert.equal(eves.unfencedEpoch, 1)
    assert.equal(acquired('ann', releasedLease(eves, COVERED, NOON_MS)).unfencedEpoch, 0)
  })

  for (const [claim, former] of [
    ['has failed', releasedLease({ ...anns, settingsId: 'oslo' }, 'failed', NOON_MS)],
    ['has evaluated all collections', releasedLease({ ...anns, settingsId: 'oslo' }, COVERED, NOON_MS)],
    ['has not released it', { ...anns, settingsId: 'oslo' }],
  ] as const) {
    it(`names the settings of the last holder, which ${claim}`, () =>
      assert.equal(acquired('bob', former).settingsId, 'oslo'))
  }

  it('names what was covered only while the last evaluation has evaluated all collections', () => {
    const free = releasedLease(anns, COVERED, NOON_MS)
    assert.deepEqual(free.evaluated, { atMs: NOON_MS, readsRequests: false })
    assert.equal(acquired('bob', free).evaluated, undefined)
    assert.equal(releasedLease(anns, 'incomplete', NOON_MS).evaluated, undefined)
  })

  it('names when the last evaluation of all collections began, whatever has become of later ones', () => {
    assert.equal(anns.coveredAtMs, undefined)
    const free = releasedLease(anns, COVERED, NOON_MS)
    const lost = acquired('bob', free)
    const failed = releasedLease(acquired('eve', lost), 'failed', NOON_MS + SECOND_MS)
    const next = acquired('ann', failed)
    assert.deepEqual([lost.coveredAtMs, next.coveredAtMs], [NOON_MS, NOON_MS])
    const later = releasedLease(next, COVERED, NOON_MS + SECOND_MS)
    assert.equal(acquired('bob', later).coveredAtMs, NOON_MS + SECOND_MS)
  })

  it('names the last evaluation of all collections as a version that does not keep it has left it', () => {
    const { coveredAtMs: _, ...former } = releasedLease(
      acquired('bob', releasedLease(anns, COVERED, 0)),
      COVERED,
      NOON_MS,
    )
    assert.equal(acquired('ann', former).coveredAtMs, NOON_MS)
  })
})

/** A stored lease, with the number of times that it was read and written. */
function storedLease() {
  let stored: ReadLease | undefined
  const used = { reads: 0, writes: 0 }
  return {
    used,
    grow: (seconds: number) => {
      if (stored !== undefined) stored = { ...stored, ageS: stored.ageS + seconds }
    },
    store: {
      async find() {
        used.reads += 1
        return stored
      },
      async save(_tenantId: string, value: EvaluationLease, version: string | undefined) {
        if (version !== stored?.version) throw new Refusal('StaleVersion')
        used.writes += 1
        stored = { value, version: `${used.writes}`, ageS: 0 }
        return stored.version
      },
    },
  }
}

describe('An evaluator', () => {
  const lease = storedLease()
  let elapsedMs = 0
  const evaluator = (holderId: string) =>
    new EvaluationLeases(lease.store, holderId, { nowMs: () => NOON_MS + elapsedMs, elapsedMs: () => elapsedMs })
  const held = (acquisition: HeldLease | { retryMs: number }): HeldLease => {
    assert.ok('release' in acquisition)
    return acquisition
  }
  const evaluates = async (one: EvaluationLeases) => {
    const { isContinued, release } = held(await one.acquire('tenant'))
    assert.equal(await release(COVERED), true)
    return isContinued
  }

  it('reads the lease that it has released only if another one has acquired it since', async () => {
    const [ann, bob] = [evaluator('ann'), evaluator('bob')]
    assert.equal(await evaluates(ann), false)
    const { reads } = lease.used
    assert.equal(await evaluates(ann), true)
    assert.equal(lease.used.reads, reads)
    assert.equal(await evaluates(bob), false)
    assert.equal(await evaluates(ann), false)
    const bobHolds = held(await bob.acquire('tenant'))
    assert.ok('retryMs' in (await ann.acquire('tenant')))
    await bobHolds.release(COVERED)
  })

  it('renews the lease before each write, as often as a third of its time has passed', async () => {
    const { renew, release } = held(await evaluator('ann').acquire('tenant'))
    const { writes } = lease.used
    await renew()
    assert.equal(lease.used.writes, writes)
    for (const expected of [1, 2]) {
      elapsedMs += 6 * SECOND_MS
      await Promise.all([renew(), renew(), renew()])
      assert.equal(lease.used.writes, writes + expected)
    }
    assert.equal(await release(COVERED), true)
  })

  it('says by which settings it reads rows, with a write only when they differ, until another one says so', async () => {
    const anns = held(await evaluator('ann').acquire('tenant'))
    const { writes } = lease.used
    await anns.readBy(undefined)
    assert.equal(lease.used.writes, writes)
    await anns.readBy('oslo')
    assert.equal(lease.used.writes, writes + 1)
    assert.equal(await anns.release('incomplete'), true)
    const bobs = held(await evaluator('bob').acquire('tenant'))
    assert.equal(bobs.settingsId, 'oslo')
    await bobs.readBy(undefined)
    assert.equal(bobs.settingsId, undefined)
    assert.equal(await bobs.release(COVERED), true)
    const evas = held(await evaluator('eva').acquire('tenant'))
    assert.equal(evas.settingsId, undefined)
    assert.equal(await evas.release(COVERED), true)
  })

  it('has covered what was written before it began, and not what was written until it has ended', async () => {
    const { release } = held(await evaluator('ann').acquire('tenant'))
    const beganMs = NOON_MS + elapsedMs
    elapsedMs += 10 * SECOND_MS
    assert.equal(await release(COVERED), true)
    assert.equal((await lease.store.find())?.value.evaluated?.atMs, beganMs)
  })

  it('renews the lease during work, until it ends, and never writes it twice at once', async ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval'] })
    const anns = held(await evaluator('ann').acquire('tenant'))
    const { writes } = lease.used
    const pass = (seconds: number) => {
      elapsedMs += seconds * SECOND_MS
      mock.timers.tick(seconds * SECOND_MS)
    }
    await anns.during(async () => {
      pass(6)
      await anns.readBy('oslo')
      assert.equal(lease.used.writes, writes + 2)
      pass(6)
    })
    assert.equal(lease.used.writes, writes + 3)
    pass(6)
    assert.equal(lease.used.writes, writes + 3)
    assert.equal(await anns.release(COVERED), true)
  })

  it('writes nothing under a lease that another one has acquired', async () => {
    const anns = held(await evaluator('ann').acquire('tenant'))
    lease.grow(17)
    elapsedMs += 17 * SECOND_MS
    const bobs = held(await evaluator('bob').acquire('tenant'))
    await assert.rejects(anns.renew(), { code: 'StaleVersion' })
    assert.equal(await anns.release('incomplete'), false)
    assert.equal(bobs.epoch, anns.epoch + 1)
    assert.equal(await bobs.release(COVERED), true)
  })
})
