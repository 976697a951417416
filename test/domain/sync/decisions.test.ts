import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DirectoryGroup } from '../../../shared/domain/group-links/directory.ts'
import { groupRefusal } from '../../../shared/domain/group-links/directory.ts'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import { newJob } from '../../../shared/domain/group-links/sync-job.ts'
import { changesDecision } from '../../../shared/domain/sync/changes-decision.ts'
import { sweepPlan } from '../../../shared/domain/sync/sweep.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

const group: DirectoryGroup = {
  id: 'group',
  displayName: 'A group',
  groupTypes: [],
  mailEnabled: false,
  onPremisesSyncEnabled: null,
  isAssignableToRole: null,
  visibility: null,
  isManagementRestricted: null,
}
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
  it('compares when the history is too short, the changes are too many, or removals are deferred', () => {
    assert.equal(changesDecision(synced, undefined).outcome, 'compare')
    assert.equal(changesDecision(synced, { ...changes, added: Array(500).fill('a') }).outcome, 'compare')
    assert.equal(changesDecision({ ...synced, removalsDeferred: true }, changes).outcome, 'compare')
    const stillMissing = { ...changes, withoutAccountCount: 1 }
    assert.equal(changesDecision({ ...synced, removalsDeferred: true }, stillMissing).outcome, 'write')
  })
  it('has nothing to do for a version that is applied already', () => {
    const none = { added: [], removed: [], withoutAccountCount: 0, accountCount: 1, membershipVersion: 3 }
    assert.equal(changesDecision(synced, none).outcome, 'nothing')
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
