import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  eventsOfCollection,
  eventsOfLinkAction,
  eventsOfLinkChange,
  eventsOfRequest,
  withPauseTold,
} from '../../shared/domain/events/change-events.ts'
import type { EventDraft } from '../../shared/domain/events/event-types.ts'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import type { HeldRemovals } from '../../shared/domain/group-links/removal-plan.ts'
import type { AuditRecord } from '../../shared/domain/history/audit.ts'
import type { LifecycleEntry } from '../../shared/domain/membership-requests/membership-request.ts'
import { requestIn } from '../support/domain/membership-requests/requests.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const NOW = '2030-01-01T00:00:00.000+00:00'
const IDS = { collectionId: 'collection', directoryGroupId: 'group' }
const LINK = newLink({ id: 'link', tenantId: 'tenant', directoryGroupDisplayName: null, ...IDS }, NOW_MS)
const failed: GroupLink = { ...LINK, lastSyncOutcome: 'Failed', lastSyncError: 'No group' }
const stopped: GroupLink = { ...failed, state: 'Disabled', lastSyncError: 'The group link is disabled.' }
const succeeded: GroupLink = { ...LINK, lastSyncOutcome: 'Succeeded', lastSyncError: null }
const holding = (planId: string): GroupLink => ({ ...LINK, heldRemovals: { planId } as HeldRemovals })

const types = (events: readonly EventDraft[]) => events.map(({ type }) => type)
const ids = { linkId: 'link', ...IDS, actorId: 'system' }

const action = (name: AuditRecord['action'], after: AuditRecord['after'] = {}): AuditRecord => ({
  ...{ id: 'audit', tenantId: 'tenant', subject: 'collection', at: NOW, actorId: 'somebody' },
  ...{ action: name, linkId: null, before: {}, after },
})

describe('An action on a collection tells', () => {
  for (const [name, type] of [
    ['Created', 'collection.created'],
    ['Updated', 'collection.updated'],
    ['Deleted', 'collection.deleted'],
  ] as const)
    it(`${type} with the actor, by the id of its audit`, () => {
      const data = { collectionId: 'collection', actorId: 'somebody' }
      const expected = [{ key: ['audit'], type, time: NOW, subject: '/collections/collection', data }]
      assert.deepEqual(eventsOfCollection(action(name)), expected)
    })

  it('nothing when it is one on a link, or is not in the audit', () => {
    assert.deepEqual(eventsOfCollection(action('LinkCreated')), [])
    assert.deepEqual(eventsOfCollection(undefined), [])
  })
})

describe('An action on a group link tells', () => {
  for (const [name, type] of [
    ['LinkCreated', 'link.created'],
    ['LinkUpdated', 'link.updated'],
    ['LinkDeleted', 'link.deleted'],
  ] as const)
    it(`${type} with the actor and the ids of the link, by the id of its audit`, () => {
      const data = { ...ids, actorId: 'somebody' }
      const expected = [{ key: ['audit'], type, time: NOW, subject: '/group-links/link', data }]
      assert.deepEqual(eventsOfLinkAction(LINK, action(name, { planId: 'one' })), expected)
    })

  for (const [name, type] of [
    ['RemovalsApproved', 'removals.approved'],
    ['RemovalsRejected', 'removals.rejected'],
  ] as const)
    it(`${type} with the plan`, () => {
      const [event] = eventsOfLinkAction(LINK, action(name, { planId: 'one' }))
      assert.deepEqual([event?.type, event?.data], [type, { ...ids, planId: 'one', actorId: 'somebody' }])
    })

  it('nothing when it is one on the collection, or is not in the audit', () => {
    assert.deepEqual(eventsOfLinkAction(LINK, action('Created')), [])
    assert.deepEqual(eventsOfLinkAction(LINK, undefined), [])
  })
})

describe('A change of a group link tells', () => {
  for (const [claim, before, after, expected] of [
    ['of the first failure of a series', succeeded, failed, ['link.failed']],
    ['of a first sync that fails', LINK, failed, ['link.failed']],
    ['nothing of a job that ends because the link is disabled', succeeded, stopped, []],
    ['of a failure after such a job', stopped, failed, ['link.failed']],
    ['nothing of a success after such a job', stopped, succeeded, []],
    ['nothing of a further failure', failed, { ...failed, lastSyncError: 'Another' }, []],
    ['of a success after failures', failed, succeeded, ['link.recovered']],
    ['nothing of a first success', LINK, succeeded, []],
    ['of removals that are paused', LINK, withPauseTold({ ...LINK, skippedCount: 1 }), ['link.paused']],
    ['nothing of removals that stay paused', { ...LINK, isPauseTold: true }, { ...LINK, isPauseTold: true }, []],
    ['of removals that go on', { ...LINK, isPauseTold: true }, { ...LINK, isPauseTold: false }, ['link.resumed']],
    ['of held removals', LINK, holding('one'), ['removals.held']],
    ['nothing of removals that stay held', holding('one'), holding('one'), []],
    ['of other removals that are held', holding('one'), holding('two'), ['removals.held']],
    ['of removals that are held no more', holding('one'), LINK, ['removals.resolved']],
    [
      'of both at once',
      { ...holding('one'), lastSyncOutcome: 'Failed' },
      succeeded,
      ['link.recovered', 'removals.resolved'],
    ],
  ] as const)
    it(claim, () => {
      assert.deepEqual(types(eventsOfLinkChange(before, after, NOW_MS)), expected)
    })

  it('nothing of a pause while it is not known, or the link is disabled', () => {
    const paused: GroupLink = { ...LINK, isPauseTold: true }
    const told = (link: GroupLink) => withPauseTold(link).isPauseTold ?? false
    assert.deepEqual(
      [
        told({ ...paused, skippedCount: null }),
        told({ ...paused, skippedCount: 0, state: 'Disabled' }),
        told({ ...paused, skippedCount: 0 }),
        told({ ...LINK, skippedCount: null }),
        told({ ...LINK, skippedCount: 1, state: 'Disabled' }),
      ],
      [true, true, false, false, false],
    )
    assert.equal(withPauseTold(paused), paused)
  })

  it('the error of a failure, null when it is unknown, and the ids of the link', () => {
    const [known] = eventsOfLinkChange(LINK, failed, NOW_MS)
    assert.deepEqual(known?.data, { ...ids, error: 'No group' })
    const { lastSyncError: _error, ...unknown } = failed
    assert.equal(eventsOfLinkChange(LINK, unknown, NOW_MS)[0]?.data.error, null)
  })

  it('the plan that is held, and the one that was', () => {
    const [held] = eventsOfLinkChange(LINK, holding('one'), NOW_MS)
    assert.deepEqual(held?.data, { ...ids, planId: 'one' })
    const [resolved] = eventsOfLinkChange(holding('one'), LINK, NOW_MS)
    assert.deepEqual(resolved?.data, { ...ids, planId: 'one' })
  })

  it('the same again under the same key: by the lease and the sync that changed the link', () => {
    const [first] = eventsOfLinkChange(LINK, { ...failed, lastToken: 7 }, NOW_MS)
    assert.deepEqual([first?.key, first?.time], [['link', '7', '', 'link.failed'], NOW])
    const [later] = eventsOfLinkChange(LINK, { ...failed, lastToken: 7, lastSyncedAt: NOW }, NOW_MS + 1)
    assert.deepEqual(later?.key, ['link', '7', NOW, 'link.failed'])
  })
})

const AT = ['2030-01-01T00:00:01.000+00:00', '2030-01-01T00:00:02.000+00:00'] as const
const LIFECYCLE: readonly LifecycleEntry[] = [
  { status: 'Requested', actorId: 'ola', at: AT[0] },
  { status: 'PendingApproval', actorId: 'system', at: AT[1] },
]

describe('A change of a membership request tells', () => {
  it('each new entry of its lifecycle, by its place', () => {
    const before = { value: requestIn('PendingApproval', { lifecycle: LIFECYCLE.slice(0, 1) }), version: '1' }
    const told = (entry: LifecycleEntry, type: string, index: string) => ({
      ...{ key: ['request', index], type, time: entry.at, subject: '/membership-requests/request' },
      data: { requestId: 'request', collectionId: 'collection', actorId: entry.actorId },
    })
    const after = requestIn('PendingApproval', { lifecycle: LIFECYCLE })
    const [first, second] = LIFECYCLE as readonly [LifecycleEntry, LifecycleEntry]
    const both = [told(first, 'request.submitted', '0'), told(second, 'request.waiting', '1')]
    assert.deepEqual(eventsOfRequest({ after }), both)
    assert.deepEqual(eventsOfRequest({ before, after }), both.slice(1))
    assert.deepEqual(eventsOfRequest({ before: { value: after, version: '1' }, after }), [])
  })

  for (const [status, type] of [
    ['Approved', 'request.approved'],
    ['Joined', 'request.joined'],
    ['Rejected', 'request.rejected'],
    ['Cancelled', 'request.cancelled'],
    ['Left', 'request.left'],
  ] as const)
    it(`${type} when it becomes ${status}`, () => {
      const after = requestIn('Left', { lifecycle: [{ status, actorId: 'ola', at: AT[0] }] })
      assert.deepEqual(types(eventsOfRequest({ after })), [type])
    })

  const told = (before: object, after: object) => {
    const request = (changes: object) => requestIn('Joined', { lifecycle: [], ...changes })
    return eventsOfRequest({ before: { value: request(before), version: '1' }, after: request(after) })
  }
  const END = '2030-01-08T00:00:00.000+00:00'
  const data = { requestId: 'request', collectionId: 'collection', actorId: 'system' }
  const subject = '/membership-requests/request'

  it('its near end once, and again when that was put off', () => {
    const endingTold = { endsAt: END, at: NOW }
    const key = ['request', 'request.ending', END]
    assert.deepEqual(told({}, { endingTold }), [{ key, type: 'request.ending', time: NOW, subject, data }])
    assert.deepEqual(told({ endingTold }, { endingTold }), [])
    const later = { endsAt: '2030-02-01T00:00:00.000+00:00', at: AT[0] }
    assert.deepEqual(types(told({ endingTold }, { endingTold: later })), ['request.ending'])
  })

  it('each reminder, and nothing of one that is only due', () => {
    const reminder = { days: 2, dueAtMs: NOW_MS, lastAt: NOW }
    const key = ['request', 'request.reminder', NOW]
    assert.deepEqual(told({}, { reminder }), [{ key, type: 'request.reminder', time: NOW, subject, data }])
    assert.deepEqual(told({ reminder }, { reminder: { ...reminder, dueAtMs: NOW_MS + 1 } }), [])
    assert.deepEqual(told({}, { reminder: { days: 2, dueAtMs: NOW_MS } }), [])
    assert.deepEqual(types(told({ reminder }, { reminder: { ...reminder, lastAt: AT[0] } })), ['request.reminder'])
  })
})
