import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { normalisedOperand, normalisedText } from '../../shared/kernel/normalised-text.ts'

describe('A normalised text', () => {
  for (const [claim, text, expected] of [
    ['is composed', 'Rene\u0301', 'Ren\u00e9'],
    ['has no blanks at its ends', ' Rektor\u00a0', 'Rektor'],
    ['keeps inner blanks', 'Ola  Nordmann', 'Ola  Nordmann'],
    ['keeps its case', 'ÆØÅ', 'ÆØÅ'],
    ['is empty without anything else than blanks', ' \t', ''],
  ] as const) {
    it(claim, () => assert.equal(normalisedText(text), expected))
  }

  it('is as a value of a condition what it is otherwise, except that blanks alone stay', () => {
    assert.equal(normalisedOperand(' Rektor '), 'Rektor')
    assert.equal(normalisedOperand(' '), ' ')
  })

  it('equals the composed and trimmed text for every text, and itself when it is normalised again', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^(?: |a|\u0301|\u00a0){0,6}$/))
    fc.assert(
      fc.property(text, (given) => {
        const normalised = normalisedText(given)
        assert.equal(normalised, given.normalize('NFC').trim())
        assert.equal(normalisedText(normalised), normalised)
      }),
      { numRuns: 2000 },
    )
  })
})
