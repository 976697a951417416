import { Type } from 'typebox'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import { type Page, requireIfMatch, retryOnConflict, revisionETag, type Versioned } from '../../kernel/versioned.ts'
import { auditOfLink, auditOfLinkChange, type LinkActor, linkFields } from './audit-link.ts'
import { type GroupLink, type GroupLinkDto, toGroupLinkDto } from './group-link.ts'
import type { JobFilter, JobStore } from './job-store.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { changeLink, getLink, ignoreDeletedLink } from './link-lease.ts'
import type { LinkFilter, LinkLists, LinkStore } from './link-store.ts'
import { endQueuedJobs, queueJob } from './queue-job.ts'
import { pausingIds } from './removal-pause.ts'
import type { AccountHolders } from './removal-plan.ts'
import { SERVICE_ORIGIN, type SyncJob, type SyncJobDto, toSyncJobDto } from './sync-job.ts'
import { LINK_DISABLED } from './sync-state.ts'
import type { TenantStore } from './tenant-store.ts'

/** A page of the links that match the filter, oldest first. */
export async function listLinks(
  tenantId: string,
  filter: LinkFilter,
  after: string | undefined,
  size: number,
  deps: { links: LinkLists } & ShownLinkDependencies,
): Promise<Page<GroupLinkDto>> {
  const page = await deps.links.page(tenantId, filter, after, size)
  return { ...page, items: await shownLinks(tenantId, page.items, deps) }
}

type ShownLinkDependencies = { readonly tenants: TenantStore; readonly accountHolders: AccountHolders }

/** The link as callers see it. */
export async function readLinkDto(link: GroupLink, deps: ShownLinkDependencies): Promise<GroupLinkDto> {
  const [shown] = await shownLinks(link.tenantId, [link], deps)
  return shown as GroupLinkDto
}

/**
 * Links as callers see them. The last sweep of the tenant is read if it can be the last sync of one of them, and names
 * are read if members pause removals.
 */
async function shownLinks(
  tenantId: string,
  links: readonly GroupLink[],
  { tenants, accountHolders }: ShownLinkDependencies,
): Promise<GroupLinkDto[]> {
  const wanted = links.map(pausingIds)
  const identityIds = [...new Set(wanted.flatMap((accepted) => accepted.identityIds))]
  const accounts = [...new Set(wanted.flatMap((accepted) => accepted.accounts))]
  const isSwept = links.some(({ isSweptUnchanged }) => isSweptUnchanged)
  const [sweptAtMs, names, holders] = await Promise.all([
    isSwept ? tenants.lastSweepMs(tenantId) : undefined,
    accountHolders.namesOf(tenantId, identityIds),
    accountHolders.ofAccounts(tenantId, accounts),
  ])
  return links.map((link) => toGroupLinkDto(link, sweptAtMs, { names, holders }))
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
  { jobs, accountHolders }: ShownJobDependencies,
): Promise<Page<SyncJobDto>> {
  const page = await jobs.page(tenantId, filter, after, size)
  return { ...page, items: await shownJobs(tenantId, page.items, accountHolders) }
}

type ShownJobDependencies = { readonly jobs: JobStore; readonly accountHolders: AccountHolders }

/** Jobs as callers see them, with the names of the people who requested them. */
async function shownJobs(
  tenantId: string,
  jobs: readonly SyncJob[],
  accountHolders: AccountHolders,
): Promise<SyncJobDto[]> {
  const requesters = new Set(jobs.flatMap(({ requestedBy }) => requestedBy ?? []))
  const holders = await accountHolders.ofAccounts(tenantId, [...requesters])
  return jobs.map((job) => toSyncJobDto(job, holders.get(job.requestedBy ?? '')?.displayName ?? null))
}

/** @throws Refusal `SyncJobNotFound`. */
export async function getSyncJob(
  tenantId: string,
  jobId: string,
  { jobs, accountHolders }: ShownJobDependencies,
): Promise<SyncJobDto> {
  const found = await jobs.find(tenantId, jobId)
  if (found === undefined) throw new Refusal('SyncJobNotFound', `The sync job ${jobId} does not exist.`)
  const [shown] = await shownJobs(tenantId, [found.value], accountHolders)
  return shown as SyncJobDto
}

type LinkTarget = LinkActor & {
  readonly tenantId: string
  readonly linkId: string
  readonly ifMatch: string | undefined
}

/** What a caller changes of a link. Members that are left out keep their value. */
type LinkChange = Partial<Pick<GroupLink, 'state' | 'acceptedWithoutAccount'>> & {
  /** Object id of the caller in the directory. */
  readonly requestedBy?: string | null
}

/**
 * Enables or disables a link, and sets which identities it accepts without an account. Disabling ends its queued jobs;
 * enabling does not queue a job: the next change of a member or the next sweep compares the group in full. Other
 * accepted identities queue one: the removals that they allow are due then.
 * @throws Refusal `LinkNotFound`, `PreconditionFailed`, `IdentityUnknown` for each newly accepted identity that does not
 * exist.
 */
export async function updateLink(
  { tenantId, linkId, ifMatch, actorId }: LinkTarget,
  { state, acceptedWithoutAccount, requestedBy = null }: LinkChange,
  deps: LinkDependencies,
): Promise<GroupLink> {
  const accepted = acceptedWithoutAccount && [...new Set(acceptedWithoutAccount)].sort()
  const unknown = await unknownIdentities(tenantId, acceptedWithoutAccount ?? [], deps)
  let isAcceptedChanged = false
  const change = (link: GroupLink): GroupLink => {
    requireIfMatch(revisionETag(link), ifMatch)
    // Those that were accepted before can have been deleted since.
    throwIfRefused(unknown.filter(({ id }) => !link.acceptedWithoutAccount.includes(id)).map(({ entry }) => entry))
    isAcceptedChanged = accepted !== undefined && accepted.join() !== link.acceptedWithoutAccount.join()
    const isEnabling = state === 'Enabled' && link.state === 'Disabled'
    return {
      ...link,
      state: state ?? link.state,
      ...(isEnabling && { enabledBy: requestedBy }),
      acceptedWithoutAccount: accepted ?? link.acceptedWithoutAccount,
      // Without the job below, the next sweep queues one.
      isBehind: link.isBehind || isAcceptedChanged,
      // Accounts that change while a link is disabled are not recorded with it.
      accountsChangedAtMs: isEnabling ? deps.nowMs() : link.accountsChangedAtMs,
      revision: link.revision + 1,
    }
  }
  const auditOf = (before: GroupLink, after: GroupLink) => auditOfLinkChange(before, after, { actorId }, deps)
  const updated = await changeLink(tenantId, linkId, change, deps, auditOf)
  const { value } = updated
  deps.log.info('link.updated', {
    tenantId,
    linkId,
    state: value.state,
    acceptedCount: value.acceptedWithoutAccount.length,
  })
  const isChanged =
    value.state === 'Enabled'
      ? isAcceptedChanged && (await queueManualSync(updated, requestedBy, deps)) !== undefined
      : (await endQueuedJobs(value, LINK_DISABLED, deps)) > 0
  return isChanged ? (await getLink(tenantId, linkId, deps.links)).value : value
}

async function unknownIdentities(
  tenantId: string,
  ids: readonly string[],
  { accountHolders }: Pick<LinkDependencies, 'accountHolders'>,
): Promise<{ readonly id: string; readonly entry: RefusalEntry }[]> {
  const live = await accountHolders.namesOf(tenantId, ids)
  return ids.flatMap((id, index) => {
    const target = `/acceptedWithoutAccount/${index}`
    return live.has(id) ? [] : [{ id, entry: refusalEntry('IdentityUnknown', `There is no identity ${id}`, target) }]
  })
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
    requireIfMatch(revisionETag(value), ifMatch)
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
