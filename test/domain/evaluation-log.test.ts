import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  closed,
  type EvaluationLog,
  lastNumber,
  opened,
  unheardOf,
} from '../../shared/domain/collections/evaluation-log.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const MINUTE_MS = 60_000

describe('the log of evaluations', () => {
  it('tells an evaluator what others have written, once, and nothing of its own', () => {
    let log = opened([], 'ann', NOON_MS)
    log = closed(log, 1, 'ann', ['choir', 'band'])
    assert.deepEqual(unheardOf(log, 'bob', 0, NOON_MS), { written: ['choir', 'band'], knownNumber: 1 })
    assert.deepEqual(unheardOf(log, 'bob', 1, NOON_MS), { written: [], knownNumber: 1 })
    assert.deepEqual(unheardOf(log, 'ann', 0, NOON_MS), { written: [], knownNumber: 1 })
  })

  it('tells of one who is still writing as long as it may be, and of what it has written in the end', () => {
    const open = opened([], 'ann', NOON_MS)
    assert.deepEqual(unheardOf(open, 'bob', 0, NOON_MS), { written: 'anything', knownNumber: 0 })
    assert.deepEqual(unheardOf(closed(open, 1, 'ann', ['choir']), 'bob', 0, NOON_MS), {
      written: ['choir'],
      knownNumber: 1,
    })
  })

  it('tells of one that was killed until it cannot write any more, and then once', () => {
    const open = opened([], 'ann', NOON_MS)
    assert.equal(unheardOf(open, 'bob', 0, NOON_MS + 15 * MINUTE_MS - 1).knownNumber, 0)
    assert.deepEqual(unheardOf(open, 'bob', 0, NOON_MS + 15 * MINUTE_MS), { written: 'anything', knownNumber: 1 })
  })

  it('has anything written for one who has not looked for twenty entries', () => {
    let log: EvaluationLog = []
    for (let number = 1; number <= 21; number += 1) log = closed(opened(log, 'ann', NOON_MS), number, 'ann', ['choir'])
    assert.equal(log.length, 20)
    assert.equal(unheardOf(log, 'bob', 0, NOON_MS).written, 'anything')
    assert.deepEqual(unheardOf(log, 'bob', 1, NOON_MS).written, ['choir'])
  })

  it('does not name more than two hundred collections', () => {
    const ids = Array.from({ length: 201 }, (_, index) => `collection ${index}`)
    const open = opened([], 'ann', NOON_MS)
    assert.equal(unheardOf(closed(open, 1, 'ann', ids), 'bob', 0, NOON_MS).written, 'anything')
    assert.deepEqual(unheardOf(closed(open, 1, 'ann', ids.slice(1)), 'bob', 0, NOON_MS).written, ids.slice(1))
  })

  it('lets no write go unheard of, whoever looks, writes, ends and is killed in whatever order', () => {
    const evaluator = fc.constantFrom('ann', 'bob', 'eve')
    const step = fc.oneof(
      fc.record({ does: fc.constant('look' as const), evaluator }),
      fc.record({ does: fc.constant('write' as const), evaluator, collection: fc.constantFrom('choir', 'band') }),
      { weight: 2, arbitrary: fc.record({ does: fc.constant('end' as const), evaluator }) },
      fc.record({ does: fc.constant('die' as const), evaluator }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let log: EvaluationLog = []
        const known = new Map<string, number>()
        const open = new Map<string, { number: number; ids: string[] }>()
        const unheard = { ann: new Set<string>(), bob: new Set<string>(), eve: new Set<string>() }
        for (const step of steps) {
          const { evaluator: name } = step
          const writing = open.get(name)
          if (step.does === 'look') {
            const heard = unheardOf(log, name, known.get(name) ?? 0, NOON_MS)
            known.set(name, heard.knownNumber)
            const missed = unheard[name].difference(
              new Set(heard.written === 'anything' ? unheard[name] : heard.written),
            )
            assert.deepEqual([...missed], [], `unheard of by ${name}`)
            unheard[name].clear()
          } else if (step.does === 'write') {
            if (writing === undefined) log = opened(log, name, NOON_MS)
            const { number, ids } = writing ?? { number: lastNumber(log), ids: [] }
            open.set(name, { number, ids: [...ids, step.collection] })
            for (const [other, collections] of Object.entries(unheard)) {
              if (other !== name) collections.add(step.collection)
            }
          } else if (writing !== undefined) {
            open.delete(name)
            if (step.does === 'end') log = closed(log, writing.number, name, writing.ids)
          }
        }
      }),
      { numRuns: 2000 },
    )
  })
})
