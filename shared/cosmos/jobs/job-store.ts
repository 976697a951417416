import type { Container, OperationInput, SqlQuerySpec } from '@azure/cosmos'
import { eventsOfLinkAction } from '../../domain/events/change-events.ts'
import type { JobChanges } from '../../domain/group-links/job-changes.ts'
import type { JobFilter, JobStore } from '../../domain/group-links/job-store.ts'
import { retentionS, SyncJob } from '../../domain/group-links/sync-job.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { auditOperations } from '../audit-trail.ts'
import { batchedDocumentReads } from '../batched-reads.ts'
import { compareCreation, firstOfPages, matching, readPageByCreation } from '../creation-page.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { ifVersion, queryAll, refuse, type Stored, versionsTogether, writeOf, writeTogether } from '../documents.ts'
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts'
import { changeRecordOf, readJobChanges } from './job-change-store.ts'
import { cosmosSweepRecords } from './sweep-records.ts'

const { parse, parseWritten } = versionedDocumentParser('sync job', SyncJob, {
  held: 0,
  requestedBy: null,
  approvedPlanId: null,
  approvedBy: null,
  userCountAtStart: null,
  cause: null,
  changeRecordCount: 0,
})

const FILTERS = {
  collectionId: 'c.collectionId = @collectionId',
  linkId: 'c.linkId = @linkId',
  status: 'c.status = @status',
} as const satisfies Record<keyof JobFilter, string>

/** The version of a job that is not stored: it has ended and is never written. */
const NOT_STORED = ''

/**
 * Container `jobs`: partition key `/tenantId`; each document has the `ttl` of its job type. The registration in
 * container `tenants` has the sweeps that take the place of jobs.
 */
export function cosmosJobStore(
  jobs: Container,
  tenants: Container,
  nowMs: () => number,
  outbox: Outbox = NO_OUTBOX,
): JobStore {
  const read = batchedDocumentReads<SyncJob>(jobs)
  const sweeps = cosmosSweepRecords(jobs, tenants, nowMs)
  /** Few jobs are unfinished at any time, so the list is not paged. */
  async function unfinished(tenantId: string, query: SqlQuerySpec): Promise<Versioned<SyncJob>[]> {
    const found = await queryAll<unknown>(jobs, tenantId, query)
    return found.map(parse).sort((left, right) => compareCreation(left.value, right.value))
  }

  return {
    async find(tenantId, jobId) {
      const document = await read(tenantId, jobId)
      if (document !== undefined) return parse(document)
      const swept = await sweeps.findJob(tenantId, jobId)
      return swept && { value: swept, version: NOT_STORED }
    },
    beginSweep: sweeps.begin,
    async add(job, audit) {
      const creation: OperationInput = { operationType: 'Create', resourceBody: withTtl(job) }
      const { tenantId, linkId: id, collectionId, directoryGroupId } = job
      const eventWrites = await outbox.prepare(
        tenantId,
        eventsOfLinkAction({ id, collectionId, directoryGroupId }, audit),
      )
      const failed = await writeTogether(jobs, job.tenantId, [creation, ...auditOperations(audit), ...eventWrites])
      if (failed !== undefined && failed.status !== 409) {
        throw new Error(`Storing sync job ${job.id} failed with status ${failed.status}`)
      }
      await outbox.notify('jobs', tenantId, eventWrites)
    },
    async replace(job, version, changes) {
      if (changes !== undefined) return replaceWithChanges(jobs, job, version, changes)
      const item = jobs.item(job.id, job.tenantId)
      const conflict = refuse({ 412: 'StaleVersion', 404: 'SyncJobNotFound' })
      return parseWritten(await item.replace(withTtl(job), ifVersion(version)).catch(conflict))
    },
    changes: (tenantId, jobId, after, size) => readJobChanges(jobs, { tenantId, jobId }, after, size),
    async page(tenantId, filter, after, size) {
      const { conditions, parameters } = matching(filter, FILTERS)
      const where = ['IS_DEFINED(c.linkId)', ...conditions].join(' AND ')
      const query = { where, parameters, newestFirst: true, after, size }
      const page = await readPageByCreation<Stored<SyncJob>>(jobs, tenantId, query)
      const stored = { ...page, items: page.items.map((document) => parse(document).value) }
      const from = page.continueAfter === undefined ? undefined : stored.items.at(-1)?.createdAt
      const swept = await sweeps.firstJobs(tenantId, filter, { from, after, count: size + 1 })
      return swept.length === 0 ? stored : firstOfPages([stored, { items: swept }], query)
    },
    unfinishedOf(tenantId, linkId) {
      return unfinished(tenantId, {
        query: "SELECT * FROM c WHERE c.linkId = @linkId AND c.status IN ('Queued', 'Running')",
        parameters: [{ name: '@linkId', value: linkId }],
      })
    },
    unfinished(tenantId) {
      return unfinished(tenantId, { query: "SELECT * FROM c WHERE c.status IN ('Queued', 'Running')" })
    },
  }
}

/** @throws Refusal `StaleVersion`, `SyncJobNotFound`. */
async function replaceWithChanges(
  jobs: Container,
  job: SyncJob,
  version: string,
  changes: JobChanges,
): Promise<Versioned<SyncJob>> {
  const operations = [writeOf(withTtl(job), version), changeRecordOf(job, changes)]
  const outcome = await versionsTogether(jobs, job.tenantId, operations)
  if ('versions' in outcome) return { value: job, version: outcome.versions[0] ?? '' }
  // Another worker has stored a record of this number.
  if (outcome.status === 412 || outcome.index === 1) throw new Refusal('StaleVersion')
  if (outcome.status === 404) throw new Refusal('SyncJobNotFound')
  throw new Error(`Saving sync job ${job.id} failed with status ${outcome.status}`)
}

function withTtl(job: SyncJob): SyncJob & { ttl: number } {
  return { ...job, ttl: retentionS(job.type) }
}
