import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { english, type MessageKey } from '../../functions/console/language/english.ts'
import { norwegian } from '../../functions/console/language/norwegian.ts'

const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

describe('The texts of the console', () => {
  it('have the same placeholders in both languages', () => {
    for (const [key, text] of Object.entries(english)) {
      assert.deepEqual(placeholders(norwegian[key as MessageKey]), placeholders(text), key)
    }
  })

  it('are never empty', () => {
    for (const texts of [english, norwegian]) assert.ok(Object.values(texts).every((text) => text.trim() !== ''))
  })
})
