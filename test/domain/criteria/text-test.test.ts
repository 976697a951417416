import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { CheckedLeaf } from '../../../shared/domain/criteria/condition.ts'
import { textTest } from '../../../shared/domain/criteria/text-test.ts'
import { CodePointBytes } from '../../../shared/domain/tenant-index/rows/code-point-bytes.ts'
import { processorClock } from '../../support/timing/processor-clock.ts'

const isFound = (operator: CheckedLeaf['operator'], wanted: string) => {
  const test = textTest({ kind: 'leaf', name: 'x', type: 'String', functions: [], operator, values: [wanted] })
  return (within: string) => {
    // The text is part of a longer one, as in a column of texts.
    const { bytes, length } = new CodePointBytes().set(`${wanted}${within}${wanted}`)
    const { length: outside } = new CodePointBytes().set(wanted)
    return test(bytes, outside, length - outside)
  }
}

/** All texts of the letters `a` and `b` up to a length. */
function allTexts(maxLength: number): readonly string[] {
  const shorter = maxLength === 0 ? [] : allTexts(maxLength - 1)
  return ['', ...shorter.flatMap((text) => [`a${text}`, `b${text}`])]
}

for (const [operator, isExpected] of [
  ['Contains', (within: string, wanted: string) => within.includes(wanted)],
  ['StartsWith', (within: string, wanted: string) => within.startsWith(wanted)],
  ['EndsWith', (within: string, wanted: string) => within.endsWith(wanted)],
] as const) {
  describe(operator, () => {
    it('finds each short text in all longer ones that have it, and in no others', () => {
      for (const wanted of allTexts(5)) {
        const found = isFound(operator, wanted)
        for (const within of allTexts(7)) {
          assert.equal(found(within), isExpected(within, wanted), `${operator} '${wanted}' in '${within}'`)
        }
      }
    })

    it('finds existing texts and no others', () => {
      const few = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 12 })
      fc.assert(
        fc.property(few, few, (within, wanted) =>
          assert.equal(isFound(operator, wanted)(within), isExpected(within, wanted)),
        ),
        { numRuns: 2000 },
      )
    })
  })
}

it('Contains goes on with the longest part that still matches', () => {
  assert.equal(isFound('Contains', 'bbaba')('aabbabbaba'), true)
})

it('Contains takes linear time for a text that almost matches everywhere', () => {
  const found = isFound('Contains', `${'a'.repeat(200_000)}b`)
  const usedMs = processorClock()
  assert.equal(found('a'.repeat(500_000)), false)
  assert.ok(usedMs() < 1000)
})
