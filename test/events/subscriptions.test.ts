import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  EventSubscriptionUpdate,
  getsMembersSinceMs,
  isEnabled,
  NewEventSubscription,
  rotated,
  SUBSCRIPTIONS_LIMIT_COUNT,
  type Subscription,
  secretsOf,
  toEventSubscription,
} from '../../shared/domain/events/subscription.ts'
import { bodyFaults } from '../../shared/http/validation.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const DAY_MS = 86_400_000
const NOW = '2030-01-01T00:00:00.000+00:00'
const RECORD = {
  ...{ id: 'one', url: 'https://example.com/', types: ['*'], description: null, disabledReason: null },
  ...{ state: 'Enabled' as const, createdAt: NOW, createdBy: 'somebody' },
}
const SUBSCRIPTION: Subscription = { ...RECORD, secret: 'whsec_first', sinceMs: NOW_MS, revision: 3 }

describe('A subscription', () => {
  it('is shown without its secrets', () => {
    assert.deepEqual(toEventSubscription(rotated(SUBSCRIPTION, 'whsec_second', NOW_MS)), RECORD)
  })

  it('gets events only while it is enabled', () => {
    assert.equal(isEnabled(SUBSCRIPTION), true)
    assert.equal(isEnabled({ ...SUBSCRIPTION, state: 'Disabled' }), false)
  })

  it('gets changes of members since it was enabled, or since its types have them when that is later', () => {
    assert.equal(getsMembersSinceMs(SUBSCRIPTION), NOW_MS)
    assert.equal(getsMembersSinceMs({ ...SUBSCRIPTION, membersSinceMs: NOW_MS + 1 }), NOW_MS + 1)
    assert.equal(getsMembersSinceMs({ ...SUBSCRIPTION, membersSinceMs: NOW_MS - 1 }), NOW_MS)
  })

  it('signs with its secret alone until that is replaced, then for a day with the former one as well', () => {
    assert.deepEqual(secretsOf(SUBSCRIPTION, NOW_MS), ['whsec_first'])
    const replaced = rotated(SUBSCRIPTION, 'whsec_second', NOW_MS)
    assert.equal(replaced.revision, 4)
    assert.deepEqual(secretsOf(replaced, NOW_MS + DAY_MS - 1), ['whsec_second', 'whsec_first'])
    assert.deepEqual(secretsOf(replaced, NOW_MS + DAY_MS), ['whsec_second'])
  })

  it('signs with each former secret for a day after that was replaced', () => {
    const second = rotated(SUBSCRIPTION, 'whsec_second', NOW_MS)
    const third = rotated(second, 'whsec_third', NOW_MS + 1)
    assert.deepEqual(secretsOf(third, NOW_MS + DAY_MS - 1), ['whsec_third', 'whsec_second', 'whsec_first'])
    assert.deepEqual(secretsOf(third, NOW_MS + DAY_MS), ['whsec_third', 'whsec_second'])
    assert.deepEqual(secretsOf(third, NOW_MS + DAY_MS + 1), ['whsec_third'])
    const fourth = rotated(third, 'whsec_fourth', NOW_MS + DAY_MS)
    assert.deepEqual(secretsOf(fourth, NOW_MS + DAY_MS), ['whsec_fourth', 'whsec_third', 'whsec_second'])
  })

  it('keeps nine former secrets: of more in a day, the oldest is invalid', () => {
    let subscription = SUBSCRIPTION
    for (let count = 1; count <= 11; count += 1) subscription = rotated(subscription, `whsec_${count}`, NOW_MS)
    const numbers = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert.deepEqual(
      secretsOf(subscription, NOW_MS),
      numbers.map((number) => `whsec_${number}`),
    )
  })

  it('signs with the former secret of a record of the previous release, which reads the last one of this', () => {
    const formerSecret = { secret: 'whsec_zeroth', untilMs: NOW_MS + 2 }
    const replaced = rotated({ ...SUBSCRIPTION, formerSecret }, 'whsec_second', NOW_MS + 1)
    assert.deepEqual(secretsOf(replaced, NOW_MS + 1), ['whsec_second', 'whsec_first', 'whsec_zeroth'])
    assert.deepEqual(replaced.formerSecret, { secret: 'whsec_first', untilMs: NOW_MS + 1 + DAY_MS })
  })
})

describe('A new subscription', () => {
  const faultsOf = (changes: object) =>
    bodyFaults(NewEventSubscription, { url: 'https://a', types: ['*'], ...changes }).map(({ target }) => target)

  for (const [claim, changes, target] of [
    ['without an address', { url: '' }, '/url'],
    ['with one of more than 2,048 characters', { url: 'x'.repeat(2_049) }, '/url'],
    ['without a type', { types: [] }, '/types'],
    ['with more than 50', { types: Array(51).fill('*') }, '/types'],
    ['with an empty type', { types: [''] }, '/types/0'],
    ['with a type of more than 64 characters', { types: ['x'.repeat(65)] }, '/types/0'],
    ['with a description of more than 1,000', { description: 'x'.repeat(1_001) }, '/description'],
  ] as const)
    it(`is refused ${claim}`, () => assert.deepEqual([...new Set(faultsOf(changes))], [target]))

  it('may have all of that at its limit', () => {
    const limits = { url: 'x'.repeat(2_048), types: Array(50).fill('x'.repeat(64)), description: 'x'.repeat(1_000) }
    assert.deepEqual(faultsOf(limits), [])
    assert.deepEqual(faultsOf({ url: 'x', types: ['x'], description: null }), [])
    assert.deepEqual(bodyFaults(EventSubscriptionUpdate, { url: null, types: null, state: null }), [])
  })

  it('is one of 20 at most', () => assert.equal(SUBSCRIPTIONS_LIMIT_COUNT, 20))
})
