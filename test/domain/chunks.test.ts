import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { chunkWithin } from '../../shared/kernel/chunk.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'

describe('chunks within limits', () => {
  it('have exactly the limit of bytes where the entries allow it', () => {
    const chunks = chunkWithin(['aa', 'bb', 'c'], { atMostCount: 9, atMostBytes: 4 }, ({ length }) => length)
    assert.deepEqual(chunks, [['aa', 'bb'], ['c']])
  })

  it('contain everything in order, within the limit unless a single entry exceeds it', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 60 }), (all, count, bytes) => {
        const slices = chunkWithin(all, { atMostCount: count, atMostBytes: bytes }, (size) => size)
        assert.deepEqual(slices.flat(), all)
        for (const slice of slices) {
          const sizeBytes = slice.reduce((sum, size) => sum + size, 0)
          assert.ok(slice.length >= 1 && slice.length <= count, `${slice}`)
          assert.ok(sizeBytes <= bytes || slice.length === 1, `${slice}`)
        }
      }),
    )
  })

  it('are as full as possible', () => {
    assert.deepEqual(
      chunkWithin([3, 3, 3, 1, 9, 1], { atMostCount: 3, atMostBytes: 7 }, (size) => size),
      [[3, 3], [3, 1], [9], [1]],
    )
  })
})

describe('forEachConcurrent', () => {
  it('works on each once, with limited concurrency', async () => {
    const done: number[] = []
    let [atOnceCount, mostCount] = [0, 0]
    await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (one) => {
      atOnceCount += 1
      mostCount = Math.max(mostCount, atOnceCount)
      await nextTurn()
      done.push(one)
      atOnceCount -= 1
    })
    assert.deepEqual(done, [1, 2, 3, 4, 5, 6, 7])
    assert.equal(mostCount, 3)
  })

  it('throws the first failure', async () => {
    await assert.rejects(
      forEachConcurrent([1, 2, 3], 2, async (one) => {
        if (one === 2) throw new Error('two')
      }),
      { message: 'two' },
    )
  })
})
