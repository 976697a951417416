import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { english, type MessageKey } from '../../functions/console/language/english.ts'
import { norwegian } from '../../functions/console/language/norwegian.ts'
import { englishRefusals } from '../../functions/console/language/refusals-english.ts'
import { norwegianRefusals } from '../../functions/console/language/refusals-norwegian.ts'
import { REFUSALS } from '../../shared/kernel/refusal-register.ts'

const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{\w+\}/g)].map(([name]) => name))].sort()

/** Refusals of requests that the console never sends: of programs that deliver data, and of malformed HTTP. */
const NOT_FOR_PEOPLE = [
  'RouteNotFound',
  'MethodNotAllowed',
  'TokenMissing',
  'TokenInvalid',
  'InvalidJson',
  'BodyRequired',
  'LengthRequired',
  'BodyTooDeep',
  'UnsupportedMediaType',
  'IdempotencyKeyInvalid',
  'IdempotencyKeyReused',
  'IdentityIsLive',
  'ConnectorInUse',
  'ConnectorDisabled',
  'ConnectorObjectNotFound',
  'ConnectorObjectExists',
  'NotThisConnector',
  'TooManyAttributes',
  'UnknownAttribute',
  'ReferenceToItself',
  'ReferenceCycle',
  'DuplicateItem',
]

describe('The texts of the console', () => {
  it('have the same placeholders in both languages', () => {
    for (const [key, text] of Object.entries(english)) {
      assert.deepEqual(placeholders(norwegian[key as MessageKey]), placeholders(text), key)
    }
  })

  it('are never empty', () => {
    for (const texts of [english, norwegian, englishRefusals, norwegianRefusals]) {
      assert.ok(Object.values(texts).every((text) => text.trim() !== ''))
    }
  })

  for (const [language, sentences] of Object.entries({ English: englishRefusals, Norwegian: norwegianRefusals })) {
    it(`have a sentence in ${language} for each refusal that a person can meet`, () => {
      const expected = Object.keys(REFUSALS).filter((code) => !NOT_FOR_PEOPLE.includes(code))
      assert.deepEqual(Object.keys(sentences).sort(), expected.sort())
    })
  }
})
