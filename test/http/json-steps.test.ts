import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { successEnvelope, successEnvelopeSteps } from '../../shared/http/envelope.ts'
import { hasLongList } from '../../shared/http/json-steps.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'

/** Beyond the number of entries that are written in one step. */
const LONG = { minLength: 129, maxLength: 300 }
const anyEntry = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constant(undefined),
  fc.record({ id: fc.uuid(), name: fc.option(fc.string()), left: fc.constant(undefined) }, { requiredKeys: ['id'] }),
)
const anyList = fc.oneof(fc.array(anyEntry, { maxLength: 3 }), fc.array(anyEntry, { ...LONG, size: 'max' }))
const anyData = fc.oneof(
  anyList,
  fc.record({ one: anyList, other: anyList, name: fc.string(), gone: fc.constant(undefined) }, { requiredKeys: [] }),
  fc.jsonValue(),
)

describe('JSON serialized in steps', () => {
  it('equals the JSON that is serialized at once', () => {
    fc.assert(
      fc.property(anyData, fc.option(fc.string(), { nil: undefined }), (data, nextCursor) => {
        const result = { data, nextCursor, headers: { etag: '"1"' } }
        const stepwise = runToCompletion(successEnvelopeSteps(result, 200))
        assert.deepEqual({ ...stepwise, body: String(stepwise.body) }, successEnvelope(result, 200))
      }),
      { numRuns: 200 },
    )
  })

  it('yields within each long list, at any place in the data', () => {
    const long = Array.from({ length: 1000 }, (_, index) => index)
    for (const data of [long, { memberIds: long }, { preview: [], added: long }]) {
      assert.ok(hasLongList(data))
      let stepCount = 0
      for (const _ of successEnvelopeSteps({ data }, 200)) stepCount += 1
      assert.ok(stepCount > 5, `${stepCount} steps`)
    }
    for (const data of ['text', null, 1, [], { ids: [1, 2] }, long.slice(0, 100)]) assert.ok(!hasLongList(data))
  })
})
