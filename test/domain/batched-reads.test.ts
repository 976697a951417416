import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { batchReads } from '../../shared/kernel/concurrency.ts'

const limits = { maxKeys: 50, overlapAfterMs: 60_000 }
type Read = { readonly group: string; readonly keys: readonly string[] }

/** Answers every key with itself, a turn later, and remembers what it was asked for. */
function echoing() {
  const reads: Read[] = []
  const readAll = async (group: string, keys: readonly string[]) => {
    reads.push({ group, keys })
    await turn()
    return new Map(keys.map((key) => [key, `${group} ${key}`]))
  }
  return { reads, readAll }
}

describe('batched reads', () => {
  it('start with the first key at once, and read all keys of waiting calls together', async () => {
    const { reads, readAll } = echoing()
    const read = batchReads(readAll, limits)
    const answers = await Promise.all(['a', 'b', 'c', 'b', 'a'].map((key) => read('t', key)))
    assert.deepEqual(answers, ['t a', 't b', 't c', 't b', 't a'])
    assert.deepEqual(
      reads.map(({ keys }) => keys),
      [['a'], ['b', 'c', 'a']],
    )
  })

  it('treat groups independently', async () => {
    const { reads, readAll } = echoing()
    const read = batchReads(readAll, limits)
    assert.deepEqual(await Promise.all([read('t', 'a'), read('u', 'a')]), ['t a', 'u a'])
    assert.deepEqual(reads, [
      { group: 't', keys: ['a'] },
      { group: 'u', keys: ['a'] },
    ])
  })

  it('read no more keys at once than allowed', async () => {
    const { reads, readAll } = echoing()
    const read = batchReads(readAll, { ...limits, maxKeys: 2 })
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => read('t', key)))
    assert.deepEqual(
      reads.map(({ keys }) => keys),
      [['a'], ['b', 'c'], ['d']],
    )
  })

  it('return undefined for an unknown key', async () => {
    const read = batchReads(async () => new Map(), limits)
    assert.deepEqual(await Promise.all([read('t', 'a'), read('t', 'b')]), [undefined, undefined])
  })

  it('reject the calls of a failed read, and continue with the others', async () => {
    const failure = new Error('no')
    const read = batchReads(async (_, keys) => {
      await turn()
      if (keys.includes('bad')) throw failure
      return new Map(keys.map((key) => [key, key]))
    }, limits)
    const [first, second, third] = await Promise.allSettled([read('t', 'bad'), read('t', 'a'), read('t', 'b')])
    assert.deepEqual(first, { status: 'rejected', reason: failure })
    assert.deepEqual(second, { status: 'fulfilled', value: 'a' })
    assert.deepEqual(third, { status: 'fulfilled', value: 'b' })
    assert.equal(await read('t', 'c'), 'c')
  })

  it('start the next read when one takes longer than the limit', async () => {
    const ends = Promise.withResolvers<void>()
    const read = batchReads(
      async (_, keys) => {
        if (keys.includes('slow')) await ends.promise
        return new Map(keys.map((key) => [key, key]))
      },
      { ...limits, overlapAfterMs: 5 },
    )
    const slow = read('t', 'slow')
    assert.equal(await read('t', 'a'), 'a')
    ends.resolve()
    assert.equal(await slow, 'slow')
    assert.equal(await read('t', 'b'), 'b')
  })

  it('never return an older state than that of the call', async () => {
    const key = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      fc.record({ does: fc.constant('write' as const), key }),
      fc.record({ does: fc.constant('read' as const), key }),
      fc.record({ does: fc.constant('turn' as const), key }),
    )
    const scenario = fc.tuple(fc.array(step, { maxLength: 40 }), fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(scenario, async ([steps, delays]) => {
        const versions = new Map<string, number>()
        let readCount = 0
        const read = batchReads(
          async (_, keys) => {
            // What is there now is what is answered, some turns later.
            const found = new Map(keys.map((key) => [key, versions.get(key) ?? 0]))
            for (let turns = delays[readCount++ % delays.length] ?? 0; turns > 0; turns -= 1) await turn()
            return found
          },
          { maxKeys: 2, overlapAfterMs: 60_000 },
        )
        const reads: Promise<void>[] = []
        for (const { does, key: one } of steps) {
          const written = versions.get(one) ?? 0
          if (does === 'write') versions.set(one, written + 1)
          if (does === 'turn') await turn()
          if (does === 'read') reads.push(read('t', one).then((seen = -1) => assert.ok(seen >= written)))
        }
        await Promise.all(reads)
      }),
      { numRuns: 300 },
    )
  })
})
