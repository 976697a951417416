import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { FieldFunction } from '../../../shared/domain/criteria/condition.ts'
import { DerivedTextCache } from '../../../shared/domain/criteria/derived-texts.ts'
import { TextFunctions } from '../../../shared/domain/criteria/text-functions.ts'
import { CodePointBytes, textOfBytes } from '../../../shared/domain/tenant-index/rows/code-point-bytes.ts'
import { TextDictionary } from '../../../shared/domain/tenant-index/rows/text-dictionary.ts'

/** What the functions mean, in the plainest words. */
function meant(text: string, functions: readonly FieldFunction[]): string {
  let result = text
  for (const call of functions) {
    if (call.name === 'ToUpper') result = result.toUpperCase().normalize('NFC')
    if (call.name === 'ToLower') result = result.toLowerCase().normalize('NFC')
    if (call.name === 'Substring') result = [...result].slice(call.start, call.start + call.length).join('')
  }
  return result
}

const letters = fc.constantFrom(
  ...'aZiJ 9éÅßΣσςİıŉǅﬁΐ𝒩𐐀\ud800\udc00µKÅ\u0345'.split(''),
  'ΑΣ',
  '𐐨',
  '\u0307',
  '\u030c',
  'ᾳ',
  'ა',
)
/** Composed, as stored. */
const text = fc
  .oneof(fc.string({ unit: letters, maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }))
  .map((sent) => sent.normalize('NFC'))
const call = fc.oneof(
  fc.constantFrom({ name: 'ToUpper' } as const, { name: 'ToLower' } as const),
  fc.record({ name: fc.constant('Substring' as const), start: fc.nat(4), length: fc.nat(9) }),
)
const functions = fc.array(call, { minLength: 1, maxLength: 6 })

describe('Functions on texts', () => {
  it('return the same as the case and code point functions of the language', () => {
    const property = fc.property(text, functions, (source, calls) => {
      const { bytes, length } = new CodePointBytes().set(source)
      const chain = new TextFunctions(calls)
      chain.apply(bytes, 0, length)
      assert.equal(textOfBytes(chain.bytes, chain.start, chain.end), meant(source, calls))
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  it('compose a letter with the mark behind it before they cut between them', () => {
    for (const [source, name, expected] of [
      ['i\u0307x', 'ToUpper', '\u0130'],
      ['J\u030cx', 'ToLower', '\u01f0'],
    ] as const) {
      const { bytes, length } = new CodePointBytes().set(source)
      const calls = [{ name }, { name: 'Substring', start: 0, length: 1 }] as const
      const chain = new TextFunctions(calls)
      chain.apply(bytes, 0, length)
      assert.equal(meant(source, calls), expected)
      assert.equal(textOfBytes(chain.bytes, chain.start, chain.end), expected)
    }
  })

  it('convert each letter as the language does, also twice', () => {
    const chains: FieldFunction[][] = [
      [{ name: 'ToUpper' }, { name: 'ToUpper' }],
      [{ name: 'ToLower' }, { name: 'ToLower' }],
    ]
    for (const calls of chains) {
      const chain = new TextFunctions(calls)
      const source = new CodePointBytes()
      for (let codePoint = 0; codePoint < 0x11000; codePoint += 1) {
        const letter = String.fromCodePoint(codePoint).normalize('NFC')
        chain.apply(source.set(letter).bytes, 0, source.length)
        assert.equal(textOfBytes(chain.bytes, chain.start, chain.end), meant(letter, calls))
      }
    }
  })

  it('have the same results when cached, evicted or computed again', () => {
    const property = fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), functions, (texts, calls) => {
      const memory = new DerivedTextCache()
      const source = new TextDictionary()
      const early = memory.of('identityDisplayName', source, calls)
      const codes = texts.map((text) => source.intern(text))
      const late = memory.of('identityDisplayName', source, calls)
      assert.equal(late, early)
      for (const round of [1, 2, 3]) {
        for (const [index, code] of codes.entries()) {
          late.read(code)
          assert.equal(textOfBytes(late.bytes, late.start, late.end), meant(texts[index] as string, calls))
        }
        if (round === 2) late.stopCaching()
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('are those of the texts that are asked for, when an attribute has another dictionary in a fork', () => {
    const memory = new DerivedTextCache()
    const calls: FieldFunction[] = [{ name: 'ToUpper' }]
    for (const name of ['ann', 'bob', 'cleo']) {
      const source = new TextDictionary()
      const code = source.intern(name)
      for (const _ of [1, 2]) {
        const derived = memory.of('identityCustom', source, calls)
        derived.read(code)
        assert.equal(textOfBytes(derived.bytes, derived.start, derived.end), name.toUpperCase())
      }
    }
  })

  it('are cached within the limit for any number of chains', () => {
    const memory = new DerivedTextCache()
    const source = new TextDictionary()
    for (let index = 0; index < 20_000; index += 1) source.intern(`somebody of the name ${index}`)
    const chains = Array.from({ length: 60 }, (_, index) => {
      const calls: FieldFunction[] = [{ name: 'ToUpper' }, { name: 'Substring', start: 0, length: 100 + index }]
      memory.of('identityDisplayName', source, calls)
      const derived = memory.of('identityDisplayName', source, calls)
      for (let code = 1; code < source.size; code += 1) derived.read(code)
      return derived
    })
    const sizeBytes = chains.reduce((sum, chain) => sum + chain.sizeBytes, 0)
    assert.ok(sizeBytes > 20_000_000 && sizeBytes <= 24_000_000, `${sizeBytes} bytes`)
  })
})
