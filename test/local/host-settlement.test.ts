import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { settlementOrder } from '../../infra/local/host/service-bus-pump.ts'

/** Runs all pending work that does not wait for a settlement. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('settlements of one receiver', () => {
  it('run concurrently with equal outcomes and serially with different outcomes', async () => {
    const inOrder = settlementOrder()
    const begun: string[] = []
    const settle = (outcome: 'complete' | 'abandon', name: string) => {
      const gate = Promise.withResolvers<void>()
      const settled = inOrder(outcome, () => {
        begun.push(name)
        return gate.promise
      })
      return { ...gate, settled }
    }
    const [a, b, c, d] = [
      settle('complete', 'a'),
      settle('complete', 'b'),
      settle('abandon', 'c'),
      settle('complete', 'd'),
    ]
    await turn()
    assert.deepEqual(begun, ['a', 'b'])
    a.resolve()
    await turn()
    assert.deepEqual(begun, ['a', 'b'])
    b.reject(new Error('lock lost'))
    await assert.rejects(b.settled, { message: 'lock lost' })
    await turn()
    assert.deepEqual(begun, ['a', 'b', 'c'])
    c.resolve()
    await turn()
    assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
    d.resolve()
    await Promise.all([a.settled, c.settled, d.settled])
  })
})
