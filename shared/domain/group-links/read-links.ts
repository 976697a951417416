import { Refusal } from '../../kernel/refusals.ts'
import { type GroupLink, type LinkRecord, toGroupLink } from './group-link.ts'
import type { JobStore } from './job-store.ts'
import type { LinkStore } from './link-store.ts'
import { type SyncJob, toSyncJob } from './sync-job.ts'

/** All links of a collection, oldest first. */
export async function linksOfCollection(
  tenantId: string,
  collectionId: string,
  { links }: { links: LinkStore },
): Promise<GroupLink[]> {
  return (await links.ofCollection(tenantId, collectionId)).map(({ value }) => toGroupLink(value))
}

/** The oldest link of a collection. @throws Refusal `LinkNotFound`. */
export async function linkOfCollection(
  tenantId: string,
  collectionId: string,
  { links }: { links: LinkStore },
): Promise<LinkRecord> {
  const [oldest] = await links.ofCollection(tenantId, collectionId)
  if (oldest === undefined) throw new Refusal('LinkNotFound', `The collection ${collectionId} has no group link`)
  return oldest.value
}

/** The latest jobs of a collection's links, newest first, those of deleted links included. */
export async function syncJobsOf(
  tenantId: string,
  collectionId: string,
  limit: number,
  { jobs }: { jobs: JobStore },
): Promise<SyncJob[]> {
  return (await jobs.latestOf(tenantId, collectionId, limit)).map(toSyncJob)
}

/** @throws Refusal `SyncJobNotFound`. */
export async function syncJob(tenantId: string, jobId: string, { jobs }: { jobs: JobStore }): Promise<SyncJob> {
  const found = await jobs.find(tenantId, jobId)
  if (found === undefined) throw new Refusal('SyncJobNotFound', `There is no sync job ${jobId}`)
  return toSyncJob(found.value)
}
