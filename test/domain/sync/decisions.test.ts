import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupRefusal } from '../../../shared/domain/group-links/directory.ts'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import { newJob } from '../../../shared/domain/group-links/sync-job.ts'
import { type ChangesDecision, changesDecision, guardedChanges } from '../../../shared/domain/sync/changes-decision.ts'
import { sweepPlan } from '../../../shared/domain/sync/sweep.ts'
import { securityGroup } from '../../support/domain/group-links/security-group.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

const group = securityGroup('group')
const linkNamed = (id: string) =>
  newLink(
    { id, tenantId: 'tenant', collectionId: 'c', directoryGroupId: `group of ${id}`, directoryGroupDisplayName: null },
    NOW_MS,
  )
const synced = { ...linkNamed('link'), appliedMembershipVersion: 3 }

describe('groupRefusal', () => {
  for (const [expected, properties] of [
    [undefined, {}],
    [undefined, { groupTypes: ['Unified'], mailEnabled: true }],
    [undefined, { onPremisesSyncEnabled: false }],
    [undefined, { visibility: 'Private', isAssignableToRole: false }],
    ['GroupMembershipIsDynamic', { groupTypes: ['Unified', 'DynamicMembership'], mailEnabled: true }],
    ['GroupIsMailEnabled', { mailEnabled: true }],
    ['GroupIsSyncedFromOnPremises', { onPremisesSyncEnabled: true }],
    ['GroupIsRoleAssignable', { isAssignableToRole: true }],
    ['GroupHasHiddenMembership', { visibility: 'HiddenMembership' }],
    ['GroupManagementIsRestricted', { isManagementRestricted: true }],
  ] as const) {
    it(`is ${expected ?? 'undefined'} for ${JSON.stringify(properties)}`, () => {
      assert.equal(groupRefusal({ ...group, ...properties }), expected)
    })
  }
  it('is GroupNotFound without a group', () => assert.equal(groupRefusal(undefined), 'GroupNotFound'))
})

describe('changesDecision', () => {
  const changes = { added: ['a'], removed: ['b'], withoutAccountCount: 0, accountCount: 1, membershipVersion: 4 }
  it('writes what has changed', () => {
    assert.deepEqual(changesDecision(synced, changes), { outcome: 'write', add: ['a'], remove: ['b'] })
  })
  it('removes no member while a member of the collection has no account', () => {
    const decision = changesDecision(synced, { ...changes, withoutAccountCount: 1 })
    assert.deepEqual(decision, { outcome: 'write', add: ['a'], remove: [] })
  })
  it('removes no member while an account that could not be added is still in the collection', () => {
    const unresolved = { ...synced, unresolved: ['b', 'missing'] }
    assert.deepEqual(changesDecision(unresolved, changes), { outcome: 'write', add: ['a'], remove: [] })
    const gone = { ...changes, removed: ['b', 'missing'] }
    assert.deepEqual(changesDecision(unresolved, gone), { outcome: 'write', add: ['a'], remove: gone.removed })
  })
  const accounts = (count: number) => Array.from({ length: count }, (_, index) => `account ${index}`)
  const deferred = { ...synced, removalsDeferred: true }
  for (const [claim, link, changed, outcome] of [
    ['compares when the history is too short', synced, undefined, 'compare'],
    ['compares when accounts have changed', { ...synced, accountsChangedAtMs: NOW_MS }, changes, 'compare'],
    ['writes 500 changes', synced, { ...changes, added: accounts(250), removed: accounts(250) }, 'write'],
    ['compares for 501 changes', synced, { ...changes, added: accounts(251), removed: accounts(250) }, 'compare'],
    ['compares when deferred removals are possible again', deferred, changes, 'compare'],
    ['writes while removals stay deferred', deferred, { ...changes, withoutAccountCount: 1 }, 'write'],
  ] as const) {
    it(claim, () => assert.equal(changesDecision(link, changed).outcome, outcome))
  }
  it('has nothing to do for a version that is applied already', () => {
    const none = { added: [], removed: [], withoutAccountCount: 0, accountCount: 1, membershipVersion: 3 }
    assert.equal(changesDecision(synced, none).outcome, 'nothing')
  })
})

describe('guardedChanges', () => {
  const guard = { enabled: true, percent: 20, minimum: 0 }
  const changes = { added: [], removed: [], withoutAccountCount: 0, accountCount: 9, membershipVersion: 4 }
  const HELD = {
    ...{ planId: 'plan', reason: 'TooMany' as const, count: 1, limit: 0, removedInWindow: 0, groupSize: 10 },
    ...{ createdAt: '2030-01-01T00:00:00.000+00:00', storedAtMs: NOW_MS },
  }
  const guarded = { ...synced, userCount: 10, hasAdded: true }
  const recentlyRemoved = { account: 'b', kind: 'removed' as const, atMs: NOW_MS - 1 }
  const counted = {
    ...guarded,
    removalWindow: { entries: [{ atMs: NOW_MS - 1, count: 1, groupSize: 10 }], open: null },
  }
  const held = { ...guarded, heldRemovals: HELD }
  const write = (add: readonly string[], remove: readonly string[]): ChangesDecision => ({
    outcome: 'write',
    add,
    remove,
  })
  const COMPARE = { outcome: 'compare' } as const

  for (const [claim, link, decision, expected] of [
    ['passes on what is no write', guarded, { outcome: 'nothing' }, { outcome: 'nothing' }],
    ['passes on a write without removals', { ...guarded, userCount: null }, write(['a'], []), write(['a'], [])],
    [
      'adds, and leaves to a job which held removals are still due',
      held,
      write(['a'], []),
      { ...write(['a'], []), isHeld: true },
    ],
    ['allows removals up to the limit', guarded, write(['a'], ['b', 'c']), write(['a'], ['b', 'c'])],
    ['leaves removals over the limit to a job', guarded, write([], ['b', 'c', 'd']), COMPARE],
    [
      'adds, and holds the removals over the limit',
      guarded,
      write(['a'], ['b', 'c', 'd']),
      { ...write(['a'], []), isHeld: true },
    ],
    ['counts the removals of the last 24 hours', counted, write([], ['b', 'c']), COMPARE],
    [
      'counts an account once that was just removed',
      { ...counted, recentWrites: [recentlyRemoved] },
      write([], ['b', 'c']),
      write([], ['b', 'c']),
    ],
    ['compares when the size of the group is not known', { ...guarded, userCount: null }, write(['a'], ['b']), COMPARE],
    [
      'holds removals together with those that are held',
      held,
      write(['a'], ['b']),
      { ...write(['a'], []), isHeld: true },
    ],
    ['leaves removals together with those that are held to a job', held, write([], ['b']), COMPARE],
  ] as const) {
    it(claim, () => assert.deepEqual(guardedChanges(link, decision, changes, { guard, nowMs: NOW_MS }), expected))
  }

  it('allows everything when the guard is off', () => {
    const off = { guard: { ...guard, enabled: false }, nowMs: NOW_MS }
    assert.deepEqual(guardedChanges(held, write([], ['b', 'c', 'd']), changes, off), write([], ['b', 'c', 'd']))
  })

  it('allows no removal for an empty collection until the link has added a member', () => {
    const decided = (hasAdded: boolean, accountCount: number) =>
      guardedChanges({ ...guarded, hasAdded }, write([], ['b']), { ...changes, accountCount }, { guard, nowMs: NOW_MS })
    assert.deepEqual(decided(false, 0), COMPARE)
    assert.deepEqual([decided(true, 0), decided(false, 1)], [write([], ['b']), write([], ['b'])])
  })
})

describe('sweepPlan', () => {
  const [idle, busy, disabled] = [
    linkNamed('idle'),
    linkNamed('busy'),
    { ...linkNamed('off'), state: 'Disabled' as const },
  ]
  const job = newJob({ id: 'job', type: 'ManualSync' }, busy, NOW_MS)
  const plan = (changes: Partial<typeof job>, lease: typeof busy.lease = null) => {
    const made = sweepPlan([idle, { ...busy, lease }, disabled], [{ ...job, ...changes }], NOW_MS)
    return { queued: made.linksToQueue.map(({ id }) => id), enqueued: made.jobsToNotify.map(({ id }) => id) }
  }
  const live = { owner: 'job', expiresAtMs: NOW_MS + 1, token: 1 }

  it('queues jobs for enabled links without an unfinished job, and enqueues due jobs without a worker', () => {
    assert.deepEqual(plan({}), { queued: ['idle'], enqueued: ['job'] })
    assert.deepEqual(plan({ status: 'Running' }), { queued: ['idle'], enqueued: ['job'] })
    assert.deepEqual(plan({ status: 'Running' }, { ...live, expiresAtMs: NOW_MS }), {
      queued: ['idle'],
      enqueued: ['job'],
    })
    const ofAnother = { ...live, owner: 'other' }
    assert.deepEqual(plan({ status: 'Running' }, ofAnother), { queued: ['idle'], enqueued: ['job'] })
    assert.deepEqual(plan({ linkId: 'gone' }), { queued: ['idle', 'busy'], enqueued: ['job'] })
  })
  it('does not enqueue jobs with a worker, jobs that wait for them, and jobs that are not due', () => {
    assert.deepEqual(plan({ status: 'Running' }, live).enqueued, [])
    assert.deepEqual(plan({}, { ...live, owner: 'other' }).enqueued, [])
    assert.deepEqual(plan({ dueAtMs: NOW_MS + 1 }).enqueued, [])
  })
})
