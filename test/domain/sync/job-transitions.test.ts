import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import {
  afterFailedRun,
  claimDecision,
  completed,
  failed,
  started,
  yielded,
} from '../../../shared/domain/group-links/job-transitions.ts'
import { newJob, retentionS, type SyncJob } from '../../../shared/domain/group-links/sync-job.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const [LINK, COLLECTION, GROUP, TENANT, JOB, OTHER] = ['link', 'collection', 'group', 'tenant', 'job', 'other']

const link = newLink(
  { id: LINK, tenantId: TENANT, collectionId: COLLECTION, directoryGroupId: GROUP, directoryGroupDisplayName: null },
  NOW_MS,
)
const jobWith = (changes: Partial<SyncJob>): SyncJob => ({
  ...newJob({ id: JOB, type: 'ManualSync' }, link, NOW_MS),
  ...changes,
})
const TIMES = { leaseMs: 60_000, clockDifferenceMs: 120_000 }
const DELAYS_S = [15, 60, 240]
const failure = { reason: 'It did not work', isPermanent: false }
const options = { delaysS: DELAYS_S, jitter: 0.5, nowMs: NOW_MS }

describe('afterFailedRun', () => {
  for (const [claim, attempts, jitter, dueAt] of [
    ['retries after 15 seconds', 1, 0.5, '2030-01-01T00:00:15.000Z'],
    ['retries at most a fifth earlier', 1, 0, '2030-01-01T00:00:12.000Z'],
    ['retries at most a fifth later', 1, 1, '2030-01-01T00:00:18.000Z'],
    ['retries a minute after the second run', 2, 0.5, '2030-01-01T00:01:00.000Z'],
    ['retries four minutes after the third run', 3, 0.5, '2030-01-01T00:04:00.000Z'],
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

  it('retries after the directory’s Retry-After when that is longer', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 90_000 }, options)
    assert.equal(job.dueAtMs - NOW_MS, 90_000)
    const sooner = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 2_000 }, options)
    assert.equal(sooner.dueAtMs - NOW_MS, 15_000)
  })

  it('retries after at most an hour', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, retryAfterMs: 1e20 }, options)
    assert.equal(job.dueAtMs - NOW_MS, 3_600_000)
  })

  it('fails after the fourth run, and at once after a permanent failure', () => {
    const expected = { status: 'Failed', error: 'It did not work', completedAt: '2030-01-01T00:00:00.000+00:00' }
    for (const job of [
      afterFailedRun(jobWith({ attempts: 4 }), failure, options),
      afterFailedRun(jobWith({ attempts: 1 }), { ...failure, isPermanent: true }, options),
    ]) {
      assert.deepEqual({ status: job.status, error: job.error, completedAt: job.completedAt }, expected)
    }
  })

  it('shortens a long error', () => {
    const job = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, reason: 'x'.repeat(2_000) }, options)
    assert.equal(job.error?.length, 500)
    const whole = afterFailedRun(jobWith({ attempts: 1 }), { ...failure, reason: 'x'.repeat(500) }, options)
    assert.equal(whole.error, 'x'.repeat(500))
  })

  it('retries after the last delay where the setting has fewer, and at once where it has none', () => {
    const delayMs = (attempts: number, delaysS: readonly number[]) =>
      afterFailedRun(jobWith({ attempts }), failure, { ...options, delaysS }).dueAtMs - NOW_MS
    assert.deepEqual([delayMs(3, [15, 60]), delayMs(1, [])], [60_000, 0])
  })
})

describe('The transitions of a job', () => {
  it('count runs and the batches of a run, and keep the start of the first run', () => {
    const first = started(jobWith({}), NOW_MS)
    assert.deepEqual([first.status, first.attempts, first.startedAt], ['Running', 1, '2030-01-01T00:00:00.000+00:00'])
    const next = started(yielded(first, NOW_MS), NOW_MS + 1)
    assert.deepEqual([next.status, next.attempts, next.batchCount, next.isYielded], ['Running', 1, 1, false])
    const second = started({ ...next, status: 'Queued' }, NOW_MS + 2)
    assert.deepEqual([second.attempts, second.batchCount, second.startedAt], [2, 0, first.startedAt])
  })

  it('end the run: no batch and no write of it is left', () => {
    const running = jobWith({ attempts: 1, isYielded: true, journal: { added: ['a'], removed: [] } })
    assert.equal(afterFailedRun(running, failure, options).isYielded, false)
    for (const job of [completed(running, NOW_MS), failed(running, 'It broke', NOW_MS)])
      assert.deepEqual([job.isYielded, job.journal], [false, { added: [], removed: [] }])
  })

  it('clear the error on success', () => {
    const job = completed(jobWith({ error: 'Once' }), NOW_MS)
    assert.deepEqual([job.status, job.error, job.completedAt], ['Succeeded', null, '2030-01-01T00:00:00.000+00:00'])
  })

  it('lead to expiry after 30 days for requested jobs, and after 2 for those of a sweep', () => {
    assert.deepEqual(
      (['ManualSync', 'LinkCreated', 'ScheduledSweep'] as const).map(retentionS),
      [2_592_000, 2_592_000, 172_800],
    )
  })
})

describe('claimDecision', () => {
  const held = (owner: string) => ({ ...link, lease: { owner, expiresAtMs: NOW_MS + 50_000, token: 1 }, lastToken: 1 })
  for (const [claim, job, of, expected] of [
    ['runs a queued job of a free link', {}, link, { outcome: 'run' }],
    ['aborts the job of a deleted link', {}, undefined, { outcome: 'abort' }],
    ['aborts the job of a disabled link', {}, { ...link, state: 'Disabled' }, { outcome: 'abort' }],
    [
      'waits for a running worker, also when the link is disabled',
      { status: 'Running' },
      { ...held(JOB), state: 'Disabled' },
      { outcome: 'wait', delayMs: 170_000 },
    ],
    [
      'waits until the lease of its own worker expires',
      { status: 'Running' },
      held(JOB),
      { outcome: 'wait', delayMs: 170_000 },
    ],
    ['waits for another job', {}, held(OTHER), { outcome: 'wait', delayMs: 15_000 }],
    ['continues a job that has yielded', { status: 'Running', isYielded: true }, held(JOB), { outcome: 'run' }],
    ['waits for a job that is not due', { dueAtMs: NOW_MS + 9_000 }, link, { outcome: 'wait', delayMs: 9_000 }],
    ['runs a job that is due within two seconds', { dueAtMs: NOW_MS + 2_000 }, link, { outcome: 'run' }],
    ['waits for a job that is due later', { dueAtMs: NOW_MS + 2_001 }, link, { outcome: 'wait', delayMs: 2_001 }],
    [
      'continues the fourth run when it has yielded',
      { status: 'Running', attempts: 4, isYielded: true },
      link,
      { outcome: 'run' },
    ],
    ['runs a job whose worker has crashed', { status: 'Running', attempts: 3 }, link, { outcome: 'run' }],
    ['aborts a job whose fourth worker has crashed', { status: 'Running', attempts: 4 }, link, { outcome: 'abort' }],
  ] as const) {
    it(claim, () => {
      const { outcome, ...more } = claimDecision(jobWith(job), of, TIMES, NOW_MS)
      const delay = 'delayMs' in more ? { delayMs: more.delayMs } : {}
      assert.deepEqual({ outcome, ...delay }, expected)
    })
  }
})
