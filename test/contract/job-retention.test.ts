import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosJobStore } from '../../shared/cosmos/jobs/job-store.ts'
import { newJob, type SyncJobType } from '../../shared/domain/group-links/sync-job.ts'
import { localAccount } from '../support/contract/local-database.ts'

const CREATED_MS = Date.parse('2030-01-01T00:00:00Z')
const TENANT = 'tenant'

const clock = { nowMs: CREATED_MS }
const { container } = await localAccount(() => clock.nowMs)
const jobs = cosmosJobStore(container('jobs'), container('tenants'), Date.now)

/** The types of a link's jobs that are stored at a given time after they have ended. */
async function typesKept(after: string): Promise<SyncJobType[]> {
  clock.nowMs = CREATED_MS
  const [id, collectionId, directoryGroupId] = [randomUUID(), randomUUID(), randomUUID()]
  const link = { id, tenantId: TENANT, collectionId, directoryGroupId }
  for (const type of ['LinkCreated', 'ManualSync', 'ScheduledSweep'] as const) {
    const job = newJob({ id: randomUUID(), type }, link, CREATED_MS)
    await jobs.add(job)
    const found = await jobs.find(TENANT, job.id)
    await jobs.replace({ ...job, status: 'Succeeded' }, found?.version ?? '')
  }
  clock.nowMs = Date.parse(after)
  return (await jobs.page(TENANT, { collectionId }, undefined, 50)).items.map(({ type }) => type).sort()
}

describe('Sync jobs are kept', () => {
  for (const [claim, at, expected] of [
    ['for two days, all types', '2030-01-02T23:59:58Z', ['LinkCreated', 'ManualSync', 'ScheduledSweep']],
    ['longer than two days, except those of sweeps', '2030-01-03T00:00:02Z', ['LinkCreated', 'ManualSync']],
    ['for thirty days when they were requested', '2030-01-30T23:59:58Z', ['LinkCreated', 'ManualSync']],
    ['no longer than that', '2030-01-31T00:00:02Z', []],
  ] as const) {
    it(claim, async () => assert.deepEqual(await typesKept(at), expected))
  }
})
