import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import { afterFailedRun, completed, started, yielded } from '../../../shared/domain/group-links/job-transitions.ts'
import { leaseDecision, renewedLease } from '../../../shared/domain/group-links/lease.ts'
import { type JobRecord, newJob, retentionS } from '../../../shared/domain/group-links/sync-job.ts'
import { claimDecision } from '../../../shared/domain/sync/claim-job.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const [LINK, COLLECTION, GROUP, TENANT, JOB, OTHER] = ['link', 'collection', 'group', 'tenant', 'job', 'other']

const link = newLink(
  { id: LINK, tenantId: TENANT, collectionId: COLLECTION, directoryGroupId: GROUP, directoryGroupDisplayName: null },
  NOW_MS,
)
const jobWith = (changes: Partial<JobRecord>): JobRecord => ({
  ...newJob({ id: JOB, type: 'ManualSync' }, link, NOW_MS),
  ...changes,
})
const DELAYS_S = [15, 60, 240]
const failure = { reason: 'It did not work', isPermanent: false }

describe('afterFailedRun', () => {
  for (const [claim, attempts, jitter, dueAt] of [
    ['comes back after 15 seconds', 1, 0.5, '2030-01-01T00:00:15.000Z'],
    ['comes back a fifth earlier at the least', 1, 0, '2030-01-01T00:00:12.000Z'],
    ['comes back a fifth later at the most', 1, 1, '2030-01-01T00:00:18.000Z'],
    ['waits for a minute after the second run', 2, 0.5, '2030-01-01T00:01:00.000Z'],
    ['waits for four minutes after the third run', 3, 0.5, '2030-01-01T00:04:00.000Z'],
  ] as const) {
    it(claim, () => {
      const job = afterFailedRun(jobWith({ status: 'Running', attempts }), failure, {
        delaysS: DELAYS_S,
        jitter,
        nowMs: NOW_MS,
      })
      assert.equal(job.status, 'Queued')
      assert.equal(job.error, 'It did not work')
      assert.equal(job.completedAt, null)
      assert.equal(new Date(job.dueAtMs).toISOString(), dueAt)
    })
  }

  const options = { delaysS: DELAYS_S, jitter: 0.5, nowMs: NOW_MS }

  it('waits for as long as the directory asks, when that is longer', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 90_000 }, options)
    assert.equal(job.dueAtMs - NOW_MS, 90_000)
    const sooner = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 2_000 }, options)
    assert.equal(sooner.dueAtMs - NOW_MS, 15_000)
  })

  it('waits for an hour at most, whatever the directory asks', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 1e20 }, options)
    assert.equal(job.dueAtMs - NOW_MS, 3_600_000)
  })

  it('stays failed after the fourth run, and at once when no retry can mend it', () => {
    const expected = { status: 'Failed', error: 'It did not work', completedAt: '2030-01-01T00:00:00.000+00:00' }
    for (const job of [
      afterFailedRun(jobWith({ attempts: 4 }), failure, options),
      afterFailedRun(jobWith({ attempts: 1 }), { ...failure, isPermanent: true }, options),
    ]) {
      assert.deepEqual({ status: job.status, error: job.error, completedAt: job.completedAt }, expected)
    }
  })

  it('keeps an error short', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, reason: 'x'.repeat(2_000) }, options)
    assert.equal(job.error?.length, 500)
  })
})

describe('The course of a job', () => {
  it('counts runs, not slices, and keeps the start of the first run', () => {
    const first = started(jobWith({}), NOW_MS)
    assert.deepEqual([first.status, first.attempts, first.startedAt], ['Running', 1, '2030-01-01T00:00:00.000+00:00'])
    const next = started(yielded(first, NOW_MS), NOW_MS + 1)
    assert.deepEqual([next.status, next.attempts, next.sliceCount, next.paused], ['Running', 1, 1, false])
    const second = started({ ...next, status: 'Queued' }, NOW_MS + 2)
    assert.deepEqual([second.attempts, second.sliceCount, second.startedAt], [2, 0, first.startedAt])
  })

  it('has no error after success', () => {
    const job = completed(jobWith({ error: 'Once' }), NOW_MS)
    assert.deepEqual([job.status, job.error, job.completedAt], ['Succeeded', null, '2030-01-01T00:00:00.000+00:00'])
  })

  it('is kept for 30 days when someone asked for it, for 2 when the sweep did', () => {
    assert.deepEqual(
      (['ManualSync', 'LinkCreated', 'ScheduledSweep'] as const).map(retentionS),
      [2_592_000, 2_592_000, 172_800],
    )
  })
})

describe('leaseDecision', () => {
  const live = { owner: OTHER, untilMs: NOW_MS + 1, token: 7 }
  it('gives a free link away with the next token', () => {
    assert.deepEqual(leaseDecision({ lease: null, lastToken: 7 }, { owner: JOB, leaseMs: 60_000 }, NOW_MS), {
      outcome: 'take',
      lease: { owner: JOB, untilMs: NOW_MS + 60_000, token: 8 },
    })
  })
  it('respects a live lease, and takes over one that has ended', () => {
    assert.equal(leaseDecision({ lease: live, lastToken: 7 }, { owner: JOB, leaseMs: 60_000 }, NOW_MS).outcome, 'held')
    assert.equal(
      leaseDecision({ lease: live, lastToken: 7 }, { owner: JOB, leaseMs: 60_000 }, NOW_MS + 1).outcome,
      'take',
    )
  })
  it('lets a job go on under its own live lease only when it was put down', () => {
    const own = { lease: { ...live, owner: JOB }, lastToken: 7 }
    assert.equal(leaseDecision(own, { owner: JOB, leaseMs: 60_000 }, NOW_MS).outcome, 'held')
    assert.equal(leaseDecision(own, { owner: JOB, resumes: true, leaseMs: 60_000 }, NOW_MS).outcome, 'take')
    assert.equal(
      leaseDecision({ ...own, lease: live }, { owner: JOB, resumes: true, leaseMs: 60_000 }, NOW_MS).outcome,
      'held',
    )
  })
  it('is renewed when a third of its time is gone', () => {
    const lease = { owner: JOB, untilMs: NOW_MS + 60_000, token: 1 }
    assert.equal(renewedLease(lease, 60_000, NOW_MS + 20_000), undefined)
    assert.equal(renewedLease(lease, 60_000, NOW_MS + 20_001)?.untilMs, NOW_MS + 80_001)
  })
})

describe('takeUpDecision', () => {
  const held = (owner: string) => ({ ...link, lease: { owner, untilMs: NOW_MS + 50_000, token: 1 }, lastToken: 1 })
  for (const [claim, job, of, expected] of [
    ['takes a queued job of a free link', {}, link, { outcome: 'take' }],
    ['ends the job of a deleted link', {}, undefined, { outcome: 'end' }],
    ['ends the job of a disabled link', {}, { ...link, state: 'Disabled' }, { outcome: 'end' }],
    [
      'lets the worker end that is at it, though the link is disabled',
      { status: 'Running' },
      { ...held(JOB), state: 'Disabled' },
      { outcome: 'wait', delayMs: 50_001 },
    ],
    [
      'looks again when the lease of its own worker has ended',
      { status: 'Running' },
      held(JOB),
      { outcome: 'wait', delayMs: 50_001 },
    ],
    ['waits a while for another job', {}, held(OTHER), { outcome: 'wait', delayMs: 15_000 }],
    ['goes on with a job that was put down', { status: 'Running', paused: true }, held(JOB), { outcome: 'take' }],
    ['waits for a job that is not due', { dueAtMs: NOW_MS + 9_000 }, link, { outcome: 'wait', delayMs: 9_000 }],
    ['takes a job that is due in a moment', { dueAtMs: NOW_MS + 2_000 }, link, { outcome: 'take' }],
    ['takes over from a worker that has died', { status: 'Running', attempts: 3 }, link, { outcome: 'take' }],
    ['gives up when the fourth worker has died', { status: 'Running', attempts: 4 }, link, { outcome: 'end' }],
  ] as const) {
    it(claim, () => {
      const { outcome, ...more } = claimDecision(jobWith(job), of, 60_000, NOW_MS)
      const delay = 'delayMs' in more ? { delayMs: more.delayMs } : {}
      assert.deepEqual({ outcome, ...delay }, expected)
    })
  }
})
