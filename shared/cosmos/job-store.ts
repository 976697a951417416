import type { Container, SqlQuerySpec } from '@azure/cosmos'
import type { JobStore } from '../domain/group-links/job-store.ts'
import { type JobRecord, retentionS } from '../domain/group-links/sync-job.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { batchedDocumentReads } from './batched-reads.ts'
import { ifVersion, queryAll, refuse, type Stored, statusOf } from './documents.ts'
import { toVersioned, written } from './versioned-document.ts'

/** Container `jobs`: partition key `/tenantId`, each document with the `ttl` of its type. */
export function cosmosJobStore(jobs: Container): JobStore {
  const read = batchedDocumentReads<JobRecord>(jobs)
  /** Few jobs are unfinished at any time: no page is worth asking for. */
  async function unfinished(tenantId: string, query: SqlQuerySpec): Promise<Versioned<JobRecord>[]> {
    const found = await queryAll<Stored<JobRecord>>(jobs, tenantId, query)
    return found.map((document) => toVersioned<JobRecord>(document)).sort(oldestFirst)
  }

  return {
    async find(tenantId, jobId) {
      const document = await read(tenantId, jobId)
      return document === undefined ? undefined : toVersioned<JobRecord>(document)
    },
    async add(job) {
      await jobs.items.create(withTtl(job)).catch((error: unknown) => {
        if (statusOf(error) !== 409) throw error
      })
    },
    async replace(job, version) {
      const item = jobs.item(job.id, job.tenantId)
      const response = await item
        .replace<JobRecord>(withTtl(job), ifVersion(version))
        .catch(refuse({ 412: 'StaleVersion', 404: 'SyncJobNotFound' }))
      return written<JobRecord>(response)
    },
    async latestOf(tenantId, collectionId, limit) {
      const found = await queryAll<Stored<JobRecord>>(jobs, tenantId, {
        query: 'SELECT TOP @limit * FROM c WHERE c.collectionId = @collectionId ORDER BY c.createdAt DESC',
        parameters: [
          { name: '@limit', value: limit },
          { name: '@collectionId', value: collectionId },
        ],
      })
      return found.map((document) => toVersioned<JobRecord>(document).value)
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

function withTtl(job: JobRecord): JobRecord & { ttl: number } {
  return { ...job, ttl: retentionS(job.type) }
}

function oldestFirst({ value: one }: Versioned<JobRecord>, { value: other }: Versioned<JobRecord>): number {
  return one.createdAt < other.createdAt ? -1 : Number(one.createdAt > other.createdAt)
}
