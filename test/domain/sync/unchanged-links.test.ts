import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CollectionAccounts } from '../../../shared/domain/group-links/collection-accounts.ts'
import type { GroupWithMembers } from '../../../shared/domain/group-links/directory.ts'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { agrees } from '../../../shared/domain/sync/compare-links.ts'
import { isComparisonDue, isSettled } from '../../../shared/domain/sync/comparison-decision.ts'
import {
  afterPage,
  FIRST_SET_ID,
  type TrackedGroups,
  trackingPlan,
} from '../../../shared/domain/sync/tracked-groups.ts'
import { securityGroup } from '../../support/domain/group-links/security-group.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const guid = (number: number) => `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`

const settled = (changes: Partial<GroupLink> = {}): GroupLink => ({
  ...newLink(
    { id: guid(0), tenantId: 't', collectionId: 'c', directoryGroupId: 'g', directoryGroupDisplayName: null },
    NOW_MS,
  ),
  lastSyncedAt: '2030-01-01T00:00:00.000+00:00',
  lastSyncOutcome: 'Succeeded',
  comparedAtMs: NOW_MS,
  appliedMembershipVersion: 3,
  skippedCount: 0,
  ...changes,
})
const CHANGED_AT_MS = NOW_MS - 10 * MINUTE_MS

describe('A link is settled', () => {
  it('when a comparison that began ten minutes after the last known change left nothing to do', () => {
    assert.equal(isSettled(settled(), CHANGED_AT_MS), true)
    assert.equal(isSettled(settled({ skippedCount: 4 }), CHANGED_AT_MS), true)
  })

  for (const [claim, changes] of [
    ['it was never compared', { comparedAtMs: null, appliedMembershipVersion: null }],
    ['it is disabled', { state: 'Disabled' }],
    ['its last job failed', { lastSyncOutcome: 'Failed' }],
    ['a worker holds its lease', { lease: { owner: 'job', expiresAtMs: 0, token: 1 } }],
    ['accounts of its members have changed', { accountsChangedAtMs: NOW_MS }],
    ['changes wait for the lease', { changesPending: true }],
    ['a job has something to write', { isBehind: true }],
    ['removals are deferred', { removalsDeferred: true }],
    ['accounts are unresolved', { unresolved: ['a'] }],
    ['an addition was not seen yet', { unseenAdditions: ['a'] }],
    ['the outcome of a removal is open', { removalWindow: { entries: [], open: { groupSize: 1, accounts: ['a'] } } }],
    ['its number of members without an account is not known', { skippedCount: null }],
  ] as const satisfies [string, Partial<GroupLink>][]) {
    it(`not when ${claim}`, () => assert.equal(isSettled(settled(changes), CHANGED_AT_MS), false))
  }

  it('not when a change of its group became known later, or the changes could not be read', () => {
    assert.equal(isSettled(settled(), CHANGED_AT_MS + 1), false)
    assert.equal(isSettled(settled(), undefined), false)
  })
})

describe('The full comparison of an unchanged link', () => {
  /** The hours in which each link of a tenant is compared, by sweeps that come once an hour, some of them late. */
  function comparisons(tenant: number, linkCountAt: (hour: number) => number): number[][] {
    const tenantId = guid(tenant)
    return Array.from({ length: linkCountAt(0) }, (_, number) => {
      const id = guid(number * 7919)
      let comparedAtMs = NOW_MS
      const hours: number[] = []
      for (let hour = 1; hour <= 500; hour += 1) {
        const sweptAtMs = NOW_MS + hour * HOUR_MS + ((hour * 7) % 60) * MINUTE_MS
        assert.ok(sweptAtMs - comparedAtMs < 7 * 24 * HOUR_MS)
        if (!isComparisonDue(settled({ id, tenantId, comparedAtMs }), linkCountAt(hour), sweptAtMs)) continue
        hours.push(hour)
        comparedAtMs = sweptAtMs + 30_000
      }
      return hours
    })
  }
  const inLastPeriod = (hours: readonly number[]) => hours.filter((hour) => hour > 340)

  it('is due within a week of the last one, in few hours for the links of one tenant', () => {
    const hours = inLastPeriod(comparisons(1, () => 50).flat())
    const counts = Map.groupBy(hours, (hour) => hour)
    assert.equal(hours.length, 50)
    assert.ok(counts.size <= 5, `${counts.size}`)
    assert.ok([...counts.values()].every(({ length }) => length <= 20))
  })

  it('is due in different hours for different tenants', () => {
    const hours = Array.from({ length: 160 }, (_, tenant) => inLastPeriod(comparisons(tenant, () => 1).flat()))
    assert.equal(new Set(hours.flat()).size, 160)
  })

  it('is due within a week while the number of links changes', () => {
    comparisons(1, (hour) => (hour % 90 < 45 ? 50 : 1000))
  })
})

describe('Tracked groups', () => {
  let idCount = 0
  const newId = () => {
    idCount += 1
    return `set ${idCount}`
  }
  const ids = (from: number, count: number) => Array.from({ length: count }, (_, index) => guid(from + index))
  const stored = (id: string, groupIds: readonly string[]) => {
    const groups = groupIds.map((groupId) => ({ groupId, changedAtMs: 1, seenAdditions: [] }))
    return {
      value: { id, groups, continueAfter: 'there', isTracking: true, savedAtMs: 2 },
      version: `version of ${id}`,
    }
  }
  const idsOf = ({ groups }: TrackedGroups) => groups.map(({ groupId }) => groupId)

  it('are in sets of at most fifty', () => {
    const { read, remove } = trackingPlan([], new Set(ids(0, 120)), newId)
    assert.deepEqual(
      read.map(({ value }) => value.groups.length),
      [50, 50, 20],
    )
    assert.deepEqual([remove, new Set(read.flatMap(({ value }) => idsOf(value)))], [[], new Set(ids(0, 120))])
    assert.ok(read.every(({ value, version }) => !value.isTracking && version === undefined))
    assert.deepEqual(
      read.map(({ value }) => value.id === FIRST_SET_ID),
      [true, false, false],
    )
  })

  it('keep their position while none is added, also when some are not needed any more', () => {
    const sets = [stored('a', ids(0, 50)), stored('b', ids(50, 30))]
    const { read, remove } = trackingPlan(sets, new Set(ids(10, 60)), newId)
    assert.deepEqual([read, remove], [sets, []])
  })

  it('begin again in the smallest set when groups are added, without those that are not needed', () => {
    const sets = [stored('a', ids(0, 50)), stored('b', ids(50, 50))]
    const { read } = trackingPlan(sets, new Set([...ids(0, 60), ...ids(200, 2)]), newId)
    const [first, second] = read
    assert.deepEqual([read.length, first], [2, sets[0]])
    assert.deepEqual([second?.version, second?.value.isTracking], ['version of b', false])
    assert.deepEqual(second && idsOf(second.value), [...ids(50, 10), ...ids(200, 2)])
  })

  it('get a set of their own when there is no room', () => {
    const sets = [stored('a', ids(0, 50))]
    const { read } = trackingPlan(sets, new Set(ids(0, 51)), newId)
    assert.deepEqual([read.length, read[0]?.value, read[1] && idsOf(read[1].value)], [2, sets[0]?.value, ids(50, 1)])
  })

  it('begin again in the first set when it has none that is needed, and in others of their own', () => {
    const sets = [stored(FIRST_SET_ID, ids(0, 2)), stored('b', ids(2, 2))]
    const { read, remove } = trackingPlan(sets, new Set(ids(100, 60)), newId)
    assert.deepEqual(
      read.map(({ value, version }) => [value.id === FIRST_SET_ID, value.isTracking, idsOf(value).length, version]),
      [
        [true, false, 50, 'version of tracked-groups'],
        [false, false, 10, undefined],
      ],
    )
    assert.deepEqual(remove, sets.slice(1))
  })

  it('are removed with the last one that is needed', () => {
    const sets = [stored('a', ids(0, 2))]
    assert.deepEqual(trackingPlan(sets, new Set(), newId), { read: [], remove: sets })
  })

  it('all count as changed when tracking has begun', () => {
    const begun = { ...stored('a', ids(0, 2)).value, isTracking: false }
    const first = afterPage(begun, { continueAfter: 'next', isLast: false }, NOW_MS)
    assert.deepEqual([first.isTracking, first.groups.map(({ changedAtMs }) => changedAtMs)], [false, [1, 1]])
    const last = afterPage(first, { continueAfter: 'end', isLast: true }, NOW_MS)
    assert.deepEqual([last.isTracking, last.groups.map(({ changedAtMs }) => changedAtMs)], [true, [NOW_MS, NOW_MS]])
    assert.deepEqual(afterPage(last, { continueAfter: 'later', isLast: true }, NOW_MS + 5), {
      ...last,
      continueAfter: 'later',
    })
  })
})

describe('A link agrees with its group', () => {
  const link = settled({ userCount: 2, directoryGroupDisplayName: 'A group' })
  const group = securityGroup('g')
  const found = { group, members: { users: ['a', 'b'], others: ['device'] } }
  const desired = { accounts: new Set(['a', 'b']), withoutAccountCount: 0, membershipVersion: 3, isCurrent: true }

  it('when its users are the accounts of the collection', () => assert.equal(agrees(link, found, desired), true))

  for (const [claim, differing] of [
    ['an account is missing', { ...found, members: { users: ['a'], others: ['b'] } }],
    ['another user is a member', { ...found, members: { users: ['a', 'b', 'c'], others: [] } }],
    ['an account is replaced', { ...found, members: { users: ['a', 'c'], others: [] } }],
    ['there are more pages', { ...found, members: { ...found.members, continueAfter: 'next' } }],
    ['the group is dynamic now', { ...found, group: { ...group, groupTypes: ['DynamicMembership'] } }],
    ['the group was renamed', { ...found, group: { ...group, displayName: 'Another' } }],
  ] as const satisfies [string, GroupWithMembers][]) {
    it(`not when ${claim}`, () => assert.equal(agrees(link, differing, desired), false))
  }

  for (const [claim, differing] of [
    ['the version was not applied', { ...desired, membershipVersion: 4 }],
    ['its condition was not evaluated yet', { ...desired, isCurrent: false }],
    ['a member lost its account', { ...desired, withoutAccountCount: 1 }],
    ['the collection changed', { ...desired, accounts: new Set(['a', 'b', 'c']) }],
  ] as const satisfies [string, CollectionAccounts][]) {
    it(`not when ${claim}`, () => assert.equal(agrees(link, found, differing), false))
  }

  it('not when the number of its users differs', () => {
    assert.equal(agrees({ ...link, userCount: 3 }, found, desired), false)
  })
})
