import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { successEnvelope, successEnvelopeSteps } from '../../shared/http/envelope.ts'
import { containsList } from '../../shared/http/json-steps.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'

/** Beyond the number of entries that are serialized together. */
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

  it('yields within lists, wherever they are in the data and however large their entries are', () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `id ${index}`)
    const large = Array.from({ length: 20 }, () => ({ text: 'x'.repeat(100_000) }))
    for (const data of [ids, { memberIds: ids }, { preview: [], added: ids }, large, { rows: large }]) {
      assert.ok(containsList(data))
      let stepCount = 0
      for (const _ of successEnvelopeSteps({ data }, 200)) stepCount += 1
      assert.ok(stepCount > 5, `${stepCount} steps`)
    }
    for (const data of ['text', null, 1, [], { ids: [] }]) assert.ok(!containsList(data))
  })
})
