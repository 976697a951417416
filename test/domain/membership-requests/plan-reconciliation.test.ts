import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MembershipRequest } from '../../../shared/domain/membership-requests/membership-request.ts'
import { planReconciliation } from '../../../shared/domain/membership-requests/plan-reconciliation.ts'
import { tellingDueMs } from '../../../shared/domain/membership-requests/reminders.ts'
import type { OrgChart } from '../../../shared/domain/tenant-index/rows/org-chart.ts'
import { NOW, NOW_MS, requestIn } from '../../support/domain/membership-requests/requests.ts'

const DAY_MS = 86_400_000
const at = (day: number) => `2030-02-0${day}T00:00:00.000+00:00`
const COLLECTION = { id: 'collection', objectType: 'Identity' } as const
/** The identity `from` was merged into `into`. */
const STATUSES = {
  orgChart: {} as unknown as OrgChart,
  identity: () => ({ id: 'into', isLive: true }),
  positionRestorableUntilMs: () => undefined,
  areTwoPeople: () => false,
}

const extension = (endsAt: string) => ({
  ...{ endsAt, requestedBy: 'from', requestedAt: NOW, approvals: [], policyVersion: 1 },
  currentGate: { order: 1, type: 'Identity', approverCount: 1 } as const,
})

const membership = (requesterId: string, day: number, changes: Partial<MembershipRequest>): MembershipRequest =>
  requestIn('Joined', {
    ...{ id: `request of ${requesterId}`, requesterId, slot: `collection:${requesterId}:none` },
    createdAt: `2030-01-0${day}T00:00:00.000+00:00`,
    ...changes,
  })

/** The membership that remains of several of one person. */
function merged(...memberships: MembershipRequest[]): MembershipRequest {
  const requests = memberships.map((value) => ({ value, version: '1' }))
  const after = new Map(memberships.map((value) => [value.id, value]))
  for (const change of planReconciliation(requests, COLLECTION, STATUSES, NOW_MS)) {
    after.set(change.after.id, change.after)
  }
  const [kept, ...others] = [...after.values()].filter(({ status }) => status === 'Joined')
  assert.deepEqual(others, [])
  return kept ?? assert.fail('no membership remains')
}

describe('An extension of a membership that ends by a merge', () => {
  it('is reminded of at the membership that remains, as one that has just come to its gate', () => {
    const reminder = { days: 3, dueAtMs: NOW_MS + DAY_MS }
    const kept = merged(
      membership('into', 1, { endsAt: at(2), endingTold: { endsAt: at(2), at: NOW } }),
      membership('from', 2, { endsAt: at(1), extension: extension(at(5)), reminder }),
    )
    assert.equal(kept.extension?.endsAt, at(5))
    assert.deepEqual(kept.reminder, { days: 3, dueAtMs: NOW_MS + 3 * DAY_MS })
    assert.equal(tellingDueMs(kept), NOW_MS + 3 * DAY_MS)
  })

  it('has no reminders at a gate without', () => {
    const kept = merged(
      membership('into', 1, { endsAt: at(2) }),
      membership('from', 2, { endsAt: at(1), extension: extension(at(5)) }),
    )
    assert.deepEqual([kept.extension?.endsAt, 'reminder' in kept], [at(5), false])
  })
})

describe('An extension of the membership that remains after a merge', () => {
  const reminder = { days: 3, dueAtMs: NOW_MS + DAY_MS }
  const asking = membership('into', 1, { endsAt: at(1), extension: extension(at(5)), reminder })
  const cancelled = { status: 'Cancelled', actorId: 'system', at: NOW, notes: 'Merged' }

  for (const [claim, changes] of [
    ['has no end any more', {}],
    ['ends when the extension asks for', { endsAt: at(5) }],
    ['ends later than the extension asks for', { endsAt: at(6) }],
  ] as const) {
    it(`is cancelled, with its reminders, where the membership ${claim}`, () => {
      const { extension: _extension, reminder: _reminder, endsAt: _endsAt, ...rest } = asking
      const lifecycle = [...asking.lifecycle, cancelled]
      const expected = { ...rest, ...changes, requesterId: 'into', updatedAt: NOW, lifecycle }
      assert.deepEqual(merged(asking, membership('from', 2, changes)), expected)
    })
  }

  it('waits as before where it asks for a later end', () => {
    assert.deepEqual(merged(asking, membership('from', 2, { endsAt: at(4) })), { ...asking, endsAt: at(4) })
  })

  it('gives way to one of the other membership where only that one asks for a later end', () => {
    const other = membership('from', 2, { endsAt: at(6), extension: extension(at(8)) })
    const kept = merged(asking, other)
    assert.deepEqual([kept.endsAt, kept.extension, 'reminder' in kept], [at(6), other.extension, false])
    const waits = { ...cancelled, status: 'PendingApproval', gate: { order: 1, type: 'Identity' } }
    assert.deepEqual(kept.lifecycle, [...asking.lifecycle, cancelled, waits])
  })
})
