import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { jsonDepthSteps, jsonParseSteps, MEMBERS_LIMIT_COUNT } from '../../shared/http/json-parse-steps.ts'
import { readJsonBody } from '../../shared/http/request.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'

const parse = (text: string, stepCount: number) => runToCompletion(jsonParseSteps(text, stepCount))

/** The value, or that there is none. */
function outcome(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'SyntaxError'
  }
}

const sameAsParse = (text: string, stepCount: number) =>
  assert.deepEqual(
    outcome(() => parse(text, stepCount)),
    outcome(() => JSON.parse(text)),
    JSON.stringify({ text, stepCount }),
  )

const stepCounts = fc.integer({ min: 1, max: 40 })

describe('JSON that is parsed in steps', () => {
  it('is the value that JSON.parse returns, however long the steps are', () => {
    const texts = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'))
    fc.assert(
      fc.property(texts, stepCounts, ([value, space], stepCount) =>
        sameAsParse(JSON.stringify(value, null, space), stepCount),
      ),
      { numRuns: 2_000 },
    )
  })

  it('is refused if and only if JSON.parse refuses it', () => {
    const change = fc.record({
      value: fc.jsonValue(),
      at: fc.nat(200),
      removedCount: fc.nat(2),
      inserted: fc.constantFrom('', ',', '"', '[', ']', '{', '}', ':', '\\', ' ', '1', 'x', ',,', '"a":', '\u00a0'),
    })
    fc.assert(
      fc.property(change, stepCounts, ({ value, at, removedCount, inserted }, stepCount) => {
        const text = JSON.stringify(value)
        const place = at % (text.length + 1)
        sameAsParse(text.slice(0, place) + inserted + text.slice(place + removedCount), stepCount)
      }),
      { numRuns: 10_000 },
    )
  })

  for (const text of [
    '{"__proto__":{"a":1},"b":[],"__proto__":2}',
    '{"a":1,"b":2,"a":3}',
    '[1,2,3,]',
    '[,1]',
    '{"a":1,}',
    '[]',
    '{ }',
    '[ ] x',
    '[1}',
    '{"a":[}]',
    '"[1,2"',
    '["\\\\","\\"]",{"\\\\\\"":1}]',
  ]) {
    it(`is the same as with JSON.parse: ${text}`, () => {
      for (let stepCount = 1; stepCount < 20; stepCount += 1) sameAsParse(text, stepCount)
    })
  }

  for (const [claim, entry] of [
    ['objects with new names', (at: number) => `{"name ${at}":0}`],
    ['deeply nested lists', () => '['.repeat(60) + ']'.repeat(60)],
    ['objects of a connector', (at: number) => JSON.stringify({ op: 'delete', externalId: `person ${at}` })],
  ] as const) {
    it(`parses no more than 16 KB at once of the largest batch of ${claim}`, async (test) => {
      const entries: string[] = []
      for (let count = 0; count < 4_000_000; count += entries.at(-1)?.length ?? 0) entries.push(entry(entries.length))
      const body = new TextEncoder().encode(`{"items":[${entries.join(',')}]}`)
      const header = (name: string) => (name === 'content-type' ? 'application/json' : null)
      const parse = test.mock.method(JSON, 'parse')
      const request = { method: 'POST', url: '/', header, bytes: async () => body }
      const parsed = await readJsonBody(request, { bodyLimitBytes: 5_000_000 })
      assert.equal((parsed as { items: unknown[] }).items.length, entries.length)
      const lengths = parse.mock.calls.map(({ arguments: [text] }) => text.length)
      assert.ok(Math.max(...lengths) < 17_000, `${Math.max(...lengths)} characters`)
    })
  }

  it('has at most 10,000 members in one object', () => {
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`name ${at}`, at]))
    assert.deepEqual(parse(JSON.stringify(members(MEMBERS_LIMIT_COUNT)), 1_000), members(MEMBERS_LIMIT_COUNT))
    assert.throws(() => parse(JSON.stringify(members(MEMBERS_LIMIT_COUNT + 1)), 1_000), SyntaxError)
  })

  it('has the depth of its brackets outside of strings', () => {
    for (const [text, depth] of [
      ['1', 0],
      ['[[],[{"a":["]"]}]]', 4],
      ['["[[[\\"[["]', 1],
    ] as const) {
      assert.equal(runToCompletion(jsonDepthSteps(text)), depth, text)
    }
  })
})
