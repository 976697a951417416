import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { coalesce } from '../../shared/kernel/concurrency.ts'

describe('coalescing', () => {
  it('never overlaps runs of a key, and lets all calls during a run share the next', async () => {
    let running = 0
    let runs = 0
    const call = coalesce(async () => {
      running += 1
      runs += 1
      assert.equal(running, 1)
      await turn()
      running -= 1
      return runs
    })
    const first = call('a')
    const later = [call('a'), call('a'), call('a')]
    assert.equal(await first, 1)
    assert.deepEqual(await Promise.all(later), [2, 2, 2])
    assert.equal(await call('a'), 3)
  })

  it('starts a run after the call that it answers', async () => {
    let state = 0
    const read = coalesce(async () => {
      const seen = state
      await turn()
      return seen
    })
    const before = read('a')
    state = 1
    assert.equal(await read('a'), 1)
    assert.equal(await before, 0)
  })

  it('treats keys independently, and continues after a failure', async () => {
    let failing = true
    const call = coalesce(async (key) => {
      await turn()
      if (failing && key === 'a') throw new Error('no')
      return key
    })
    const failed = call('a')
    const next = call('a')
    assert.equal(await call('b'), 'b')
    await assert.rejects(failed)
    failing = false
    assert.equal(await next, 'a')
  })
})
