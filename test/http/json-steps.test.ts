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

describe('An answer written in steps', () => {
  it('is the one that is written in one go', () => {
    fc.assert(
      fc.property(anyData, fc.option(fc.string(), { nil: undefined }), (data, nextCursor) => {
        const answer = { data, nextCursor, headers: { etag: '"1"' } }
        const { bytes, ...stepwise } = runToCompletion(successEnvelopeSteps(answer, 200))
        assert.deepEqual({ ...stepwise, body: Buffer.from(bytes ?? []).toString() }, successEnvelope(answer, 200))
      }),
      { numRuns: 200 },
    )
  })

  it('pauses within each long list, wherever it stands in the data', () => {
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
