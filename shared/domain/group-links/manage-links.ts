import { Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import { type Page, requireIfMatch, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import { auditOfLink, auditOfLinkChange, type LinkActor, linkFields } from './audit-link.ts'
import { type GroupLink, type GroupLinkDto, linkETag, toGroupLinkDto } from './group-link.ts'
import { changeLink, getLink, ignoreDeletedLink } from './lease.ts'
import type { JobFilter, JobStore, LinkDependencies, LinkFilter, LinkStore, TenantStore } from './link-dependencies.ts'
import { endQueuedJobs, queueJob } from './queue-job.ts'
import { SERVICE_ORIGIN, type SyncJobDto, toSyncJobDto } from './sync-job.ts'

/** A page of the links that match the filter, oldest first. */
export async function listLinks(
  tenantId: string,
  filter: LinkFilter,
  after: string | undefined,
  size: number,
  deps: { links: LinkStore; tenants: TenantStore },
): Promise<Page<GroupLinkDto>> {
  const page = await deps.links.page(tenantId, filter, after, size)
  const isSwept = page.items.some(({ isSweptUnchanged }) => isSweptUnchanged)
  const sweptAtMs = isSwept ? await deps.tenants.lastSweepMs(tenantId) : undefined
  return { ...page, items: page.items.map((link) => toGroupLinkDto(link, sweptAtMs)) }
}

/** The link as callers see it. The last sweep of the tenant is read if it can be the link's last sync. */
export async function readLinkDto(link: GroupLink, { tenants }: { tenants: TenantStore }): Promise<GroupLinkDto> {
  return toGroupLinkDto(link, link.isSweptUnchanged ? await tenants.lastSweepMs(link.tenantId) : undefined)
}

/** The oldest link of a collection. @throws Refusal `LinkNotFound`. */
export async function getLinkOfCollection(
  tenantId: string,
  collectionId: string,
  { links }: { links: LinkStore },
): Promise<GroupLink> {
  const [oldest] = await links.ofCollection(tenantId, collectionId)
  if (oldest === undefined) throw withoutLink(collectionId)
  return oldest.value
}

/** A page of the jobs that match the filter, newest first. Jobs of deleted links are included. */
export async function listSyncJobs(
  tenantId: string,
  filter: JobFilter,
  after: string | undefined,
  size: number,
  { jobs }: { jobs: JobStore },
): Promise<Page<SyncJobDto>> {
  const page = await jobs.page(tenantId, filter, after, size)
  return { ...page, items: page.items.map(toSyncJobDto) }
}

/** @throws Refusal `SyncJobNotFound`. */
export async function getSyncJob(tenantId: string, jobId: string, { jobs }: { jobs: JobStore }): Promise<SyncJobDto> {
  const found = await jobs.find(tenantId, jobId)
  if (found === undefined) throw new Refusal('SyncJobNotFound', `The sync job ${jobId} does not exist.`)
  return toSyncJobDto(found.value)
}

type LinkTarget = LinkActor & {
  readonly tenantId: string
  readonly linkId: string
  readonly ifMatch: string | undefined
}

/**
 * Enables or disables a link. Disabling ends its queued jobs; enabling does not queue a job.
 * @throws Refusal `LinkNotFound`, `PreconditionFailed`.
 */
export async function setLinkState(
  { tenantId, linkId, ifMatch, actorId }: LinkTarget,
  state: GroupLink['state'],
  deps: LinkDependencies,
): Promise<GroupLink> {
  const change = (link: GroupLink): GroupLink => {
    requireIfMatch(linkETag(link), ifMatch)
    return { ...link, state, revision: link.revision + 1 }
  }
  const auditOf = (before: GroupLink, after: GroupLink) => auditOfLinkChange(before, after, { actorId }, deps)
  const { value } = await changeLink(tenantId, linkId, change, deps, auditOf)
  deps.log.info('link.state-set', { tenantId, linkId, state })
  if (state === 'Enabled' || (await endQueuedJobs(value, 'The group link is disabled.', deps)) === 0) return value
  return (await getLink(tenantId, linkId, deps.links)).value
}

/**
 * Deletes a link and ends its queued jobs. The group keeps its members. The jobs are kept until they expire.
 * @throws Refusal `LinkNotFound`, `PreconditionFailed`.
 */
export async function deleteLink(
  { tenantId, linkId, ifMatch, actorId }: LinkTarget,
  deps: LinkDependencies,
): Promise<void> {
  const removed = await retryOnConflict(async () => {
    const { value, version } = await getLink(tenantId, linkId, deps.links)
    requireIfMatch(linkETag(value), ifMatch)
    const audit = auditOfLink(value, 'LinkDeleted', { before: linkFields(value), after: {} }, { actorId }, deps)
    await deps.links.remove(value, version, audit)
    return value
  })
  deps.log.info('link.deleted', { tenantId, linkId })
  await endQueuedJobs(removed, 'The group link was deleted.', deps)
}

export const QueuedSync = Closed({
  jobId: Described(Guid, "The job of the collection's oldest enabled link."),
  jobIds: Described(Type.Array(Guid), 'One job for each enabled link of the collection, oldest link first.'),
})

/**
 * Queues a ManualSync for each enabled link of a collection. A link's queued ManualSync is returned instead of a new
 * one.
 * @param requestedBy object id of the caller in the directory.
 * @throws Refusal `LinkNotFound` without a link, `LinkDisabled` when all links are disabled.
 */
export async function requestSync(
  tenantId: string,
  collectionId: string,
  deps: LinkDependencies,
  requestedBy: string | null = null,
): Promise<{ jobId: string; jobIds: string[] }> {
  const links = await deps.links.ofCollection(tenantId, collectionId)
  if (links.length === 0) throw withoutLink(collectionId)
  const queued = await Promise.all(
    links.map((link) => queueManualSync(link, requestedBy, deps).catch(ignoreDeletedLink)),
  )
  const jobIds = queued.filter((id) => id !== undefined)
  const [jobId] = jobIds
  if (jobId === undefined) {
    throw new Refusal('LinkDisabled', `All group links of the collection ${collectionId} are disabled.`)
  }
  return { jobId, jobIds }
}

/**
 * The job's id is saved on the link before the job is stored, so that of two concurrent requests one finds the other's.
 * After a crash between the two writes, the next request stores the job.
 * @returns Undefined when the link is disabled.
 */
async function queueManualSync(
  link: Versioned<GroupLink>,
  requestedBy: string | null,
  deps: LinkDependencies,
): Promise<string | undefined> {
  const origin = { ...SERVICE_ORIGIN, requestedBy }
  let known: Versioned<GroupLink> | undefined = link
  return retryOnConflict(async () => {
    const { value, version } = known ?? (await getLink(link.value.tenantId, link.value.id, deps.links))
    known = undefined
    if (value.state === 'Disabled') return undefined
    if (value.manualJobId !== null) {
      const job = await deps.jobs.find(value.tenantId, value.manualJobId)
      if (job?.value.status === 'Queued') return job.value.id
      if (job === undefined) return (await queueJob(value, 'ManualSync', deps, { id: value.manualJobId, origin })).id
    }
    const manualJobId = deps.newId()
    await deps.links.replace({ ...value, manualJobId }, version)
    return (await queueJob(value, 'ManualSync', deps, { id: manualJobId, origin })).id
  })
}

function withoutLink(collectionId: string): Refusal {
  return new Refusal('LinkNotFound', `The collection ${collectionId} has no group link.`)
}
