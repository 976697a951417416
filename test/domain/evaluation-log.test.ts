import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  closed,
  type EvaluationLog,
  lastNumber,
  opened,
  unseenEntries,
} from '../../shared/domain/collections/evaluation-log.ts'

const NOON_MS = Date.parse('2030-03-01T12:00:00Z')
const MINUTE_MS = 60_000

describe('the log of evaluations', () => {
  it('tells an evaluator what others have written, once, and nothing of its own', () => {
    let log = opened([], 'ann', NOON_MS)
    log = closed(log, 1, 'ann', ['choir', 'band'], NOON_MS)
    assert.deepEqual(unseenEntries(log, 'bob', 0, NOON_MS), { written: ['choir', 'band'], knownNumber: 1 })
    assert.deepEqual(unseenEntries(log, 'bob', 1, NOON_MS), { written: [], knownNumber: 1 })
    assert.deepEqual(unseenEntries(log, 'ann', 0, NOON_MS), { written: [], knownNumber: 1 })
  })

  it('tells of one who is still writing as long as it may be, and of what it has written in the end', () => {
    const open = opened([], 'ann', NOON_MS)
    assert.deepEqual(unseenEntries(open, 'bob', 0, NOON_MS), { written: 'anything', knownNumber: 0 })
    assert.deepEqual(unseenEntries(closed(open, 1, 'ann', ['choir'], NOON_MS), 'bob', 0, NOON_MS), {
      written: ['choir'],
      knownNumber: 1,
    })
  })

  it('tells of one that was killed until it cannot write any more, and then once', () => {
    const open = opened([], 'ann', NOON_MS)
    assert.equal(unseenEntries(open, 'bob', 0, NOON_MS + 15 * MINUTE_MS - 1).knownNumber, 0)
    assert.deepEqual(unseenEntries(open, 'bob', 0, NOON_MS + 15 * MINUTE_MS), { written: 'anything', knownNumber: 1 })
  })

  it('has anything written for one who has not looked for twenty entries', () => {
    let log: EvaluationLog = []
    for (let number = 1; number <= 21; number += 1)
      log = closed(opened(log, 'ann', NOON_MS), number, 'ann', ['choir'], NOON_MS)
    assert.equal(log.length, 20)
    assert.equal(unseenEntries(log, 'bob', 0, NOON_MS).written, 'anything')
    assert.deepEqual(unseenEntries(log, 'bob', 1, NOON_MS).written, ['choir'])
  })

  it('tells anew of one that took so long that a clock five minutes ahead had given it up', () => {
    const open = opened([], 'ann', NOON_MS)
    assert.deepEqual(lastNumber(closed(open, 1, 'ann', ['choir'], NOON_MS + 10 * MINUTE_MS - 1)), 1)
    const late = closed(open, 1, 'ann', ['choir'], NOON_MS + 10 * MINUTE_MS)
    assert.deepEqual(unseenEntries(late, 'bob', 1, NOON_MS + 15 * MINUTE_MS), { written: ['choir'], knownNumber: 2 })
  })

  it('does not forget one who is still writing, however many others end meanwhile', () => {
    let log = opened([], 'ann', NOON_MS)
    for (let number = 2; number <= 30; number += 1) {
      log = closed(opened(log, 'eve', NOON_MS), number, 'eve', ['band'], NOON_MS)
    }
    assert.deepEqual(unseenEntries(log, 'bob', 30, NOON_MS), { written: [], knownNumber: 30 })
    assert.deepEqual(unseenEntries(log, 'bob', 0, NOON_MS), { written: 'anything', knownNumber: 0 })
    assert.equal(opened(log, 'eve', NOON_MS + 15 * MINUTE_MS).length, 20)
  })

  it('does not name more than two hundred collections', () => {
    const ids = Array.from({ length: 201 }, (_, index) => `collection ${index}`)
    const open = opened([], 'ann', NOON_MS)
    assert.equal(unseenEntries(closed(open, 1, 'ann', ids, NOON_MS), 'bob', 0, NOON_MS).written, 'anything')
    assert.deepEqual(
      unseenEntries(closed(open, 1, 'ann', ids.slice(1), NOON_MS), 'bob', 0, NOON_MS).written,
      ids.slice(1),
    )
  })

  it('lets no write go unheard of, whoever looks, writes, ends, is killed or is slow, with clocks minutes apart', () => {
    const evaluator = fc.constantFrom('ann', 'bob', 'eve')
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ does: fc.constant('look' as const), evaluator }) },
      {
        weight: 2,
        arbitrary: fc.record({
          does: fc.constant('write' as const),
          evaluator,
          collection: fc.constantFrom('choir', 'band'),
        }),
      },
      { weight: 2, arbitrary: fc.record({ does: fc.constant('end' as const), evaluator }) },
      fc.record({ does: fc.constant('die' as const), evaluator }),
      fc.record({ does: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ does: fc.constant('others' as const), count: fc.integer({ min: 1, max: 25 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => new Model().run(steps)),
      { numRuns: 2000 },
    )
  })
})

const AHEAD_MS = { ann: 0, bob: 2 * MINUTE_MS, eve: -2 * MINUTE_MS }
type Name = keyof typeof AHEAD_MS

type Step =
  | { does: 'look' | 'end' | 'die'; evaluator: Name }
  | { does: 'write'; evaluator: Name; collection: string }
  | { does: 'pass'; minutes: number }
  | { does: 'others'; count: number }

/** Three evaluators and the rest, who share a log; and what each of the three would have to hear. */
class Model {
  #log: EvaluationLog = []
  #nowMs = NOON_MS
  readonly #known = new Map<Name, number>()
  readonly #open = new Map<Name, { number: number; ids: string[]; sinceMs: number }>()
  readonly #unheard = { ann: new Set<string>(), bob: new Set<string>(), eve: new Set<string>() }

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.does === 'others') for (let count = 0; count < step.count; count += 1) this.#writeByAnother()
      else if (step.does === 'pass') this.#pass(step.minutes)
      else if (step.does === 'write') this.#write(step.evaluator, step.collection)
      else if (step.does === 'look') this.#look(step.evaluator)
      else if (step.does === 'end') this.#end(step.evaluator)
      else this.#open.delete(step.evaluator)
    }
  }

  #clockMs(name: Name): number {
    return this.#nowMs + AHEAD_MS[name]
  }

  #look(name: Name): void {
    const heard = unseenEntries(this.#log, name, this.#known.get(name) ?? 0, this.#clockMs(name))
    this.#known.set(name, heard.knownNumber)
    const { written } = heard
    if (written !== 'anything') {
      assert.deepEqual([...this.#unheard[name].difference(new Set(written))], [], `unheard of by ${name}`)
    }
    this.#unheard[name].clear()
  }

  #write(name: Name, collection: string): void {
    if (!this.#open.has(name)) {
      this.#log = opened(this.#log, name, this.#clockMs(name))
      this.#open.set(name, { number: lastNumber(this.#log), ids: [], sinceMs: this.#nowMs })
    }
    this.#open.get(name)?.ids.push(collection)
    for (const other of ['ann', 'bob', 'eve'] as const) if (other !== name) this.#unheard[other].add(collection)
  }

  #end(name: Name): void {
    const writing = this.#open.get(name)
    if (writing === undefined) return
    this.#open.delete(name)
    this.#log = closed(this.#log, writing.number, name, writing.ids, this.#clockMs(name))
  }

  /** What has run for ten minutes is killed by the host. */
  #pass(minutes: number): void {
    this.#nowMs += minutes * MINUTE_MS
    for (const [name, { sinceMs }] of this.#open) {
      if (this.#nowMs - sinceMs >= 10 * MINUTE_MS) this.#open.delete(name)
    }
  }

  #writeByAnother(): void {
    this.#log = opened(this.#log, 'another', this.#nowMs)
    this.#log = closed(this.#log, lastNumber(this.#log), 'another', ['orchestra'], this.#nowMs)
    for (const name of ['ann', 'bob', 'eve'] as const) this.#unheard[name].add('orchestra')
  }
}
