import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Attempt,
  afterAttempt,
  failingSinceEnabled,
  hasFailedTooLong,
  isGone,
  isSuccess,
  newDelivery,
  nextDueMs,
  type StoredDelivery,
  toEventDelivery,
  unavailableAt,
} from '../../shared/domain/events/delivery.ts'

const AT_MS = Date.parse('2030-01-01T00:00:00Z')
const AT = '2030-01-01T00:00:00.000+00:00'
const EVENT = { id: 'event', type: 'collection.created', time: AT, subject: '/collections/one', data: {} }
const answer = (status: number | null): Attempt => ({ at: AT, status, durationMs: 1_500, error: null })
const failures = (count: number): Attempt[] => Array.from({ length: count }, () => answer(500))

describe('An attempt', () => {
  for (const [status, expected] of [
    [null, false],
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [302, false],
    [500, false],
  ] as const)
    it(`with status ${status} ${expected ? 'is' : 'is not'} a success`, () =>
      assert.equal(isSuccess(answer(status)), expected))

  it('with status 410 asks for no further events', () => {
    assert.deepEqual([isGone(answer(410)), isGone(answer(404)), isGone(answer(null))], [true, false, false])
  })

  it('that is not made has no status, and says why', () => {
    const expected = { at: AT, status: null, durationMs: 0, error: 'ReceiverUnavailable' }
    assert.deepEqual(unavailableAt(AT_MS), expected)
  })
})

describe('A delivery', () => {
  it('is due at once when it is new', () => {
    assert.deepEqual(newDelivery(EVENT), { event: EVENT, state: 'Pending', attempts: [], dueAtMs: 0 })
  })

  it('has ended with the first success', () => {
    const delivery = { ...newDelivery(EVENT), attempts: failures(1) }
    const expected = { event: EVENT, state: 'Delivered', attempts: [answer(500), answer(200)], dueAtMs: 0 }
    assert.deepEqual(afterAttempt(delivery, answer(200)), expected)
  })

  for (const [failedCount, delayS] of [
    [1, 5],
    [2, 300],
    [3, 1_800],
    [4, 7_200],
    [5, 18_000],
    [6, 36_000],
    [7, 50_400],
    [8, 72_000],
    [9, 86_400],
  ] as const)
    it(`is due ${delayS} s after the end of failed attempt ${failedCount}`, () => {
      const delivery = { ...newDelivery(EVENT), attempts: failures(failedCount - 1) }
      const { state, attempts, dueAtMs } = afterAttempt(delivery, answer(500))
      assert.deepEqual([state, attempts.length, dueAtMs], ['Pending', failedCount, AT_MS + 1_500 + delayS * 1000])
    })

  it('is given up after the tenth', () => {
    const { state, attempts, dueAtMs } = afterAttempt({ ...newDelivery(EVENT), attempts: failures(9) }, answer(null))
    assert.deepEqual([state, attempts.length, dueAtMs], ['GivenUp', 10, 0])
  })

  it('is shown without the data of its event', () => {
    const { id: eventId, type, time, subject } = EVENT
    const expected = { eventId, type, time, subject, state: 'Pending', attempts: failures(1) }
    assert.deepEqual(toEventDelivery({ ...newDelivery(EVENT), attempts: failures(1) }), expected)
  })
})

describe('Deliveries together', () => {
  const due = (dueAtMs: number, state: StoredDelivery['state'] = 'Pending'): StoredDelivery => ({
    ...newDelivery(EVENT),
    state,
    dueAtMs,
  })

  it('are due with the first one that is pending', () => {
    assert.equal(nextDueMs([due(3), due(2), due(1, 'Delivered'), due(0, 'Dropped')]), 2)
  })

  it('are not due without one', () => {
    assert.equal(nextDueMs([due(0, 'GivenUp')]), undefined)
    assert.equal(nextDueMs([]), undefined)
  })
})

describe('A receiver', () => {
  it('has failed for too long after five days', () => {
    const days5Ms = 432_000_000
    assert.equal(hasFailedTooLong(AT_MS, AT_MS + days5Ms), true)
    assert.equal(hasFailedTooLong(AT_MS, AT_MS + days5Ms - 1), false)
  })

  it('has not failed before it was enabled', () => {
    assert.equal(failingSinceEnabled(AT_MS, AT_MS + 1), undefined)
    assert.equal(failingSinceEnabled(AT_MS, AT_MS), AT_MS)
    assert.equal(failingSinceEnabled(undefined, AT_MS), undefined)
  })

  it('has not failed after a success', () => assert.equal(hasFailedTooLong(undefined, AT_MS), false))
})
