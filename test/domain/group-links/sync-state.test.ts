import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { type PausedByDto, pausedBy } from '../../../shared/domain/group-links/removal-pause.ts'
import { needsAttention, type SyncState, syncStateOf } from '../../../shared/domain/group-links/sync-state.ts'

const NOW_MS = Date.parse('2030-01-01T08:00:00Z')
const IDS = { id: 'link', tenantId: 'tenant', collectionId: 'collection', directoryGroupId: 'group' }

/** A link whose last sync has found nothing to do. */
const SYNCED: GroupLink = {
  ...newLink({ ...IDS, directoryGroupDisplayName: null }, NOW_MS),
  lastSyncOutcome: 'Succeeded',
  appliedMembershipVersion: 3,
  skippedCount: 0,
}

const HELD: NonNullable<GroupLink['heldRemovals']> = {
  ...{ planId: 'plan', reason: 'TooMany', count: 9, limit: 1, removedInWindow: 0, groupSize: 9 },
  ...{ createdAt: '2030-01-01T08:00:00.000+00:00', storedAtMs: NOW_MS },
}

describe('the sync state of a link', () => {
  for (const [claim, changes, expected] of [
    ['is InSync after a sync with nothing left', {}, 'InSync'],
    ['is Pending before the first sync', { appliedMembershipVersion: null }, 'Pending'],
    ['is Pending while a worker has the lease', { lease: { owner: 'job', expiresAtMs: NOW_MS, token: 1 } }, 'Pending'],
    ['is Pending while changes wait for the lease', { changesPending: true }, 'Pending'],
    ['is Pending after accounts have changed', { accountsChangedAtMs: NOW_MS }, 'Pending'],
    ['is Pending while deferred removals are due', { removalsDeferred: true }, 'Pending'],
    ['is Pending while a job has something to write', { isBehind: true }, 'Pending'],
    ['is Pending while the members without an account are not known', { skippedCount: null }, 'Pending'],
    [
      'is Pending while the outcome of a removal is unknown',
      { removalWindow: { entries: [], open: { groupSize: 9, accounts: ['a'] } } },
      'Pending',
    ],
    ['is Failed after a failure, also with work left', { lastSyncOutcome: 'Failed', isBehind: true }, 'Failed'],
    [
      'is Pending after a job that ended because the link was disabled, when it is enabled',
      { lastSyncOutcome: 'Failed', lastSyncError: 'The group link is disabled.', accountsChangedAtMs: NOW_MS },
      'Pending',
    ],
    ['is RemovalsHeld also after a failure', { heldRemovals: HELD, lastSyncOutcome: 'Failed' }, 'RemovalsHeld'],
    ['is RemovalsPaused also while nothing is due', { skippedCount: 1 }, 'RemovalsPaused'],
    ['is RemovalsPaused also with held removals', { skippedCount: 1, heldRemovals: HELD }, 'RemovalsPaused'],
    ['is Disabled whatever else', { state: 'Disabled', skippedCount: 1, heldRemovals: HELD }, 'Disabled'],
  ] as const satisfies readonly (readonly [string, Partial<GroupLink>, SyncState])[]) {
    it(claim, () => {
      const link: GroupLink = { ...SYNCED, ...changes }
      assert.equal(syncStateOf(link), expected)
      assert.equal(needsAttention(link), ['Failed', 'RemovalsHeld', 'RemovalsPaused'].includes(expected))
    })
  }
})

describe('what pauses the removals of a link', () => {
  const names = new Map([['ada', 'Ada']])
  const holders = new Map([
    ['a1', { identityId: 'bob', displayName: 'Bob' }],
    ['a2', { identityId: 'eve', displayName: null }],
  ])
  const pausing = (changes: Partial<GroupLink>): PausedByDto | null =>
    pausedBy({ ...SYNCED, ...changes }, { names, holders })

  it('is nothing while all members have an account', () => assert.equal(pausing({}), null))

  it('is the members without an account, then those with an unknown one, counted together', () => {
    const withoutAccount = { count: 2, identityIds: ['ada', null] }
    assert.deepEqual(pausing({ skippedCount: 3, withoutAccount, unresolved: ['a1'] }), {
      reason: 'MembersWithoutAccount',
      count: 3,
      members: [
        { identityId: 'ada', displayName: 'Ada', directoryObjectId: null },
        { identityId: null, displayName: null, directoryObjectId: null },
        { identityId: 'bob', displayName: 'Bob', directoryObjectId: 'a1' },
      ],
    })
  })

  it('is unknown accounts alone, without those of accepted members', () => {
    const link = { skippedCount: 1, withoutAccount: { count: 0, identityIds: [] }, unresolved: ['a1', 'a2'] }
    assert.deepEqual(pausing({ ...link, acceptedWithoutAccount: ['bob'] }), {
      reason: 'AccountsUnknown',
      count: 1,
      members: [{ identityId: 'eve', displayName: null, directoryObjectId: 'a2' }],
    })
  })

  it('names at most 20 members', () => {
    const identityIds = Array.from({ length: 20 }, (_, index) => String(index))
    const paused = pausing({ skippedCount: 31, withoutAccount: { count: 30, identityIds }, unresolved: ['a1'] })
    assert.deepEqual([paused?.count, paused?.members.length], [31, 20])
  })
})
