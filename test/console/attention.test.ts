import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Api, ApiUnreachable } from '../../functions/console/api.ts'
import { attention, attentionState, loadAttention } from '../../functions/console/attention.ts'

const COUNTS = { toDecide: 2 }

const answering = (read: () => Promise<unknown>) => ({ read }) as unknown as Api
const failing = answering(() => Promise.reject(new ApiUnreachable('The service is not reachable')))

describe('What needs attention', () => {
  it('has the reason why it could not be read, and keeps what was read before', async () => {
    await loadAttention(failing)
    assert.ok(attentionState.value.error instanceof ApiUnreachable)
    assert.equal(attention.value, undefined)
    await loadAttention(answering(() => Promise.resolve(COUNTS)))
    assert.deepEqual([attention.value, attentionState.value.error], [COUNTS, undefined])
    const { loadedAt } = attentionState.value
    assert.ok(loadedAt instanceof Date)
    await loadAttention(failing)
    assert.ok(attentionState.value.error instanceof ApiUnreachable)
    assert.deepEqual([attention.value, attentionState.value.loadedAt], [COUNTS, loadedAt])
  })
})
