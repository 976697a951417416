import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { foldedText } from '../../../shared/domain/core/search-text.ts'

describe('a text as searches compare it', () => {
  for (const [claim, first, second] of [
    ['has no case', 'STRASSE', 'strasse'],
    ['has no dot left from a Turkish capital', 'İpek', 'ipek'],
    ['has one sigma', 'ΟΔΟΣ', 'οδοσ'],
    ['is the same for composed and decomposed letters', 'A\u030aSE', 'åse'],
    ['is the same for the parts of a Turkish capital', 'I\u0307pek', 'ipek'],
  ] as const) {
    it(claim, () => assert.equal(foldedText(first), second))
  }

  it('keeps different letters apart', () => assert.notEqual(foldedText('Ása'), foldedText('Asa')))
})
