import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { newJob } from '../../../shared/domain/group-links/sync-job.ts'
import { changesByRun } from '../../../shared/domain/sync/completed-run.ts'
import type { BatchPlan } from '../../../shared/domain/sync/plan-sync.ts'

const [START_MS, END_MS] = [Date.parse('2030-01-01T08:00:00Z'), Date.parse('2030-01-01T08:05:00Z')]
const DURING = '2030-01-01T08:03:00.000+00:00'

const LINK = newLink(
  { id: 'l', tenantId: 't', collectionId: 'c', directoryGroupId: 'g', directoryGroupDisplayName: null },
  START_MS,
)
const HELD: NonNullable<GroupLink['heldRemovals']> = {
  ...{ planId: 'plan', reason: 'TooMany', count: 9, limit: 1, removedInWindow: 0, groupSize: 9 },
  ...{ createdAt: '2030-01-01T08:05:00.000+00:00', storedAtMs: END_MS },
}

/** What a link that was changed during a run records of the run, which has found nothing to do. */
function recorded(during: Partial<GroupLink>, heldRemovals: GroupLink['heldRemovals'] = null): Partial<GroupLink> {
  const job = newJob({ id: 'j', type: 'ManualSync' }, LINK, START_MS)
  const counted = { job, added: [], removed: [], earlier: { added: [], removed: [] }, uncertain: new Set<string>() }
  const found = { steps: [], removals: [], hold: null, removalOutcomes: { removed: [], notRemoved: [] }, userCount: 0 }
  const withoutAccount = { count: 0, identityIds: [] }
  const accepted = { withoutAccount, acceptedIds: [], accepted: new Map(), deferredRemovalCount: 0 }
  const plan: BatchPlan = { ...counted, ...found, ...accepted, membershipVersion: 4, leavesOut: false }
  const run = { startMs: START_MS, endMs: END_MS, accountsChangedAtMs: LINK.accountsChangedAtMs, heldRemovals }
  return changesByRun({ ...LINK, ...during }, job, plan, run)
}

describe('A link that is changed while a job runs', () => {
  it('was compared when the run began: the group may have changed since', () => {
    assert.deepEqual([recorded({}).comparedAtMs, recorded({}).isBehind], [START_MS, false])
  })

  it('keeps the time at which accounts have changed meanwhile', () => {
    assert.equal(recorded({ accountsChangedAtMs: START_MS + 1 }).accountsChangedAtMs, START_MS + 1)
    assert.equal(recorded({}).accountsChangedAtMs, null)
  })

  it('is behind when it accepts another member without an account since then', () => {
    const { isBehind, acceptedWithoutAccount } = recorded({ acceptedWithoutAccount: ['ada'] })
    assert.deepEqual([isBehind, acceptedWithoutAccount], [true, ['ada']])
  })

  it('keeps the rejection of the plan that it holds, and knows that another one was rejected', () => {
    const rejected = { ...HELD, rejectedBy: 'ada', rejectedAt: DURING }
    assert.equal(recorded({ heldRemovals: rejected }, HELD).heldRemovals?.rejectedAt, DURING)
    const former = { ...rejected, planId: 'former' }
    const rejection = { planId: 'former', rejectedBy: 'ada', rejectedAt: DURING }
    assert.deepEqual(recorded({ heldRemovals: former }, HELD).heldRemovals?.rejection, rejection)
  })
})
