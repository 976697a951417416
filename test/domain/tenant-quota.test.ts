import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { TenantQuota } from '../../shared/kernel/tenant-quota.ts'

/** A store of one kind of record for several instances, and how often each of them counted the records. */
function records(limitCount: number, storedCount: number, clock = { nowMs: 0 }) {
  const store = { count: storedCount }
  const newInstance = () => {
    let countings = 0
    const quota = new TenantQuota({
      what: 'things',
      limitCount,
      count: async () => {
        countings += 1
        return store.count
      },
      elapsedMs: () => clock.nowMs,
    })
    const add = async (count: number) => {
      const taken = await quota.take('tenant', count)
      await new Promise(setImmediate)
      store.count += taken.count
      taken.settle()
      return taken.count
    }
    return { quota, add, countings: () => countings }
  }
  return { store, newInstance, clock }
}

describe('A quota of a tenant', () => {
  it('gives no more than what is left', async () => {
    const { newInstance } = records(10, 7)
    const { quota, add } = newInstance()
    assert.deepEqual([await add(2), await add(2), await add(2)], [2, 1, 0])
    await assert.rejects(quota.requireRoom('tenant'), { code: 'QuotaExceeded', message: /10 things/ })
  })

  it('counts the records seldom while much is left, and every time when little is left', async () => {
    const { newInstance } = records(2_000_000, 0)
    const { add, countings } = newInstance()
    for (let batch = 0; batch < 2_000; batch += 1) assert.equal(await add(1_000), 1_000)
    assert.equal(await add(1), 0)
    assert.ok(countings() < 120, `${countings()} countings`)
  })

  it('counts the records again after an hour, although much is left', async () => {
    const { newInstance, clock } = records(1_000_000, 0)
    const { add, countings } = newInstance()
    for (const nowMs of [0, 3_599_999, 3_600_000]) {
      clock.nowMs = nowMs
      await add(1)
    }
    assert.equal(countings(), 2)
  })

  it('adds nothing by an earlier count while the records are counted again', async () => {
    const counts = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    let countings = 0
    const count = () => {
      countings += 1
      return counts[countings - 1]?.promise ?? Promise.reject(new Error('Counted too often'))
    }
    const quota = new TenantQuota({ what: 'things', limitCount: 100, count, elapsedMs: () => 0 })
    counts[0]?.resolve(0)
    await quota.adding('tenant', async () => undefined)
    const many = quota.adding('tenant', async () => undefined, 50)
    let isAdded = false
    const one = quota.adding('tenant', async () => {
      isAdded = true
    })
    await new Promise(setImmediate)
    assert.deepEqual([countings, isAdded], [2, false])
    counts[1]?.resolve(1)
    await Promise.all([many, one])
    assert.equal(isAdded, true)
  })

  it('has room for what was checked for a preview, or refused, before', async () => {
    const { newInstance } = records(10, 8)
    const { quota } = newInstance()
    const refused = () => Promise.reject(new Refusal('InvalidValue'))
    for (let repetition = 0; repetition < 3; repetition += 1) {
      await quota.requireRoom('tenant', 2)
      await assert.rejects(quota.adding('tenant', refused, 2), { code: 'InvalidValue' })
    }
    assert.equal(await quota.adding('tenant', async () => 'added', 2), 'added')
  })

  it('is not exceeded by several instances that take turns', async () => {
    const { store, newInstance } = records(100_000, 0)
    const instances = Array.from({ length: 10 }, newInstance)
    for (let round = 0; round < 50; round += 1) for (const { add } of instances) await add(1_000)
    assert.equal(store.count, 100_000)
  })

  it('holds exactly when an instance adds many at once, whose writes take their time', async () => {
    const { newInstance } = records(10, 0)
    const { add } = newInstance()
    const taken = await Promise.all(Array.from({ length: 30 }, () => add(1)))
    const sum = taken.reduce((before, count) => before + count)
    assert.equal(sum, 10)
    const { quota } = records(10, 0).newInstance()
    const adding = Array.from({ length: 30 }, () => quota.adding('tenant', async () => 1).catch(() => 0))
    assert.equal(
      (await Promise.all(adding)).reduce((before, count) => before + count),
      10,
    )
  })

  it('has room again after deletions, and is not counted for each refusal', async () => {
    const { store, newInstance, clock } = records(10, 10)
    const { add, countings } = newInstance()
    for (let time = 0; time < 20; time += 1) assert.equal(await add(1), 0)
    assert.equal(countings(), 1)
    store.count -= 5
    clock.nowMs += 2_000
    assert.equal(await add(3), 3)
  })
})
