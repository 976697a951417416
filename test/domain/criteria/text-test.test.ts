import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { textTest } from '../../../shared/domain/criteria/text-test.ts'
import { CodePointBytes } from '../../../shared/domain/tenant-index/code-point-bytes.ts'

describe('Contains', () => {
  const contains = (wanted: string) => {
    const test = textTest({
      kind: 'leaf',
      name: 'x',
      type: 'String',
      functions: [],
      operator: 'Contains',
      values: [wanted],
    })
    return (within: string) => {
      const { bytes, length } = new CodePointBytes().set(within)
      return test(bytes, 0, length)
    }
  }

  it('finds existing texts and no others', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 12 })
    fc.assert(
      fc.property(few, few, (within, wanted) => assert.equal(contains(wanted)(within), within.includes(wanted))),
      { numRuns: 5000 },
    )
  })

  it('takes linear time for a text that almost matches everywhere', () => {
    const isFound = contains(`${'a'.repeat(200_000)}b`)
    const startMs = performance.now()
    assert.equal(isFound('a'.repeat(500_000)), false)
    assert.ok(performance.now() - startMs < 1000)
  })
})
