import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  cloudEvent,
  EVENTS,
  eventOf,
  isOfMembers,
  isTypePattern,
  receives,
  receivesMembers,
} from '../../shared/domain/events/event-types.ts'
import { type ChangeOfVersion, eventsOfMembers } from '../../shared/domain/events/member-events.ts'

const AT_MS = Date.parse('2030-01-01T00:00:00Z')
const AT = '2030-01-01T00:00:00.000+00:00'

describe('A subscription to', () => {
  for (const [types, type, expected] of [
    [['member.added'], 'member.added', true],
    [['member.added'], 'member.removed', false],
    [['member.*'], 'member.removed', true],
    [['member.*'], 'members.changed', false],
    [['member*'], 'members.changed', true],
    [['link.failed', 'request.*'], 'request.joined', true],
    [['*'], 'connector.late', true],
    [['link.*'], 'subscription.disabled', false],
    [['link.*'], 'subscription.test', true],
    [['link.*'], 'subscription.dropped', true],
  ] as const)
    it(`${types.join(' and ')} ${expected ? 'gets' : 'does not get'} ${type}`, () =>
      assert.equal(receives(types, type), expected))
})

describe('Changes of members', () => {
  it('are told by three types of events', () => {
    assert.deepEqual(Object.keys(EVENTS).filter(isOfMembers), ['member.added', 'member.removed', 'members.changed'])
  })

  for (const [types, expected] of [
    [['member.removed'], true],
    [['members.changed'], true],
    [['link.*', 'member.*'], true],
    [['*'], true],
    [['link.*', 'request.joined'], false],
  ] as const)
    it(`are ${expected ? '' : 'not '}in a subscription to ${types.join(' and ')}`, () =>
      assert.equal(receivesMembers(types), expected))
})

describe('A type in a subscription', () => {
  for (const [text, expected] of [
    ['member.added', true],
    ['member.*', true],
    ['m*', true],
    ['*', true],
    ['member', false],
    ['member.added*', true],
    ['members.*', true],
    ['unknown.*', false],
    ['*.added', false],
    ['subscription.test', false],
    ['', false],
  ] as const)
    it(`is ${expected ? '' : 'not '}"${text}"`, () => assert.equal(isTypePattern(text), expected))
})

describe('An event', () => {
  const draft = {
    key: ['a', 'b'],
    type: 'link.failed' as const,
    time: AT,
    subject: '/group-links/1',
    data: { linkId: '1' },
  }

  it('has an id that follows from tenant and key', () => {
    const { key: _key, ...rest } = draft
    assert.deepEqual(
      eventOf(draft, 'tenant', (...parts) => parts.join()),
      { id: 'event,tenant,a,b', ...rest },
    )
  })

  it('is a CloudEvent when it is delivered', () => {
    const event = eventOf(draft, 'tenant', () => 'id')
    assert.deepEqual(cloudEvent('tenant', event), {
      ...{ specversion: '1.0', id: 'id', source: '/tenants/tenant', type: 'link.failed', time: AT },
      ...{ subject: '/group-links/1', datacontenttype: 'application/json', data: { linkId: '1' } },
    })
  })
})

describe('A change of members tells', () => {
  const collection = { id: 'collection', kind: 'criteria', objectType: 'Identity' } as const
  const change = (added: readonly string[], removed: readonly string[]): ChangeOfVersion => ({
    ...{ membershipVersion: 7, atMs: AT_MS, addedCount: added.length, removedCount: removed.length },
    changes: [{ cause: 'ObjectChanged', actorId: 'system', added, removed }],
  })
  const many = (count: number) => Array.from({ length: count }, (_, index) => `id${index}`)

  it('each member in the order of the history: those removed, then those added', () => {
    const events = eventsOfMembers(change(['ann'], ['bo', 'cato']), collection)
    assert.deepEqual(
      events.map(({ key, type, time, subject }) => [key.join(), type, time, subject]),
      [
        [`collection,7,${AT_MS},0`, 'member.removed', AT, '/collections/collection/members/bo'],
        [`collection,7,${AT_MS},1`, 'member.removed', AT, '/collections/collection/members/cato'],
        [`collection,7,${AT_MS},2`, 'member.added', AT, '/collections/collection/members/ann'],
      ],
    )
    assert.deepEqual(events[2]?.data, {
      ...{ collectionId: 'collection', at: AT, objectId: 'ann', relationshipId: null, change: 'Added' },
      ...{ cause: 'ObjectChanged', actorId: 'system', requestId: null, until: null, membershipVersion: 7 },
    })
  })

  it('each of 1,000 members', () => {
    assert.equal(eventsOfMembers(change(many(999), ['gone']), collection).length, 1_000)
  })

  it('only their counts when there are more', () => {
    const key = ['collection', '7', String(AT_MS)]
    const data = { collectionId: 'collection', added: 1_000, removed: 1, membershipVersion: 7 }
    const expected = [{ key, type: 'members.changed', time: AT, subject: '/collections/collection', data }]
    assert.deepEqual(eventsOfMembers(change(many(1_000), ['gone']), collection), expected)
  })
})
