import { enqueueMembersChanged, enqueueSyncJob } from '../../kernel/enqueue-messages.ts'
import { retryDelayMs } from '../../kernel/lease.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { AccountChanges } from '../group-links/collection-accounts.ts'
import { type ChangeToCheck, DirectoryFault } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { changeLink, LeaseLost, linkLeaseDecision } from '../group-links/link-lease.ts'
import type { LinkSettings } from '../group-links/link-settings.ts'
import { queueJob } from '../group-links/queue-job.ts'
import { toChangeCause } from '../group-links/removal-plan.ts'
import { withOpenRemovals } from '../group-links/removal-window.ts'
import { SERVICE_ORIGIN } from '../group-links/sync-job.ts'
import { type ChangesDecision, changesDecision, guardedChanges } from './changes-decision.ts'
import { stepsOf } from './plan-sync.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { type AcquiredLease, writeChanges } from './write-changes.ts'

/** Delay after which changes are enqueued again while another worker holds the lease. */
const LEASE_RETRY_MS = 3_000

/**
 * Writes the changes of a collection to the groups of its enabled links. Each change is one write, and the members of
 * no group are read. Changes that cannot be written this way are left to a ScheduledSweep job, queued at once, which
 * compares, retries and reports. A link that was never synced is left to its first job.
 * @param changedAtMs when the change was made, for the latency metric; undefined when unknown.
 */
export async function syncIncrementally(
  { tenantId, collectionId }: { tenantId: string; collectionId: string },
  deps: SyncDependencies,
  changedAtMs?: number,
): Promise<void> {
  const { value: settings } = await deps.settings.find(tenantId)
  const links = await deps.links.ofCollection(tenantId, collectionId)
  const due = links.filter(({ value }) => value.state === 'Enabled' && value.appliedMembershipVersion !== null)
  const waitsMs = await Promise.all(due.map((link) => syncLink(link, { settings, changedAtMs }, deps)))
  const delayMs = Math.max(...waitsMs, 0)
  if (delayMs === 0) return
  await enqueueMembersChanged({ tenantId, collectionId }, `held:${deps.nowMs()}`, deps, delayMs)
}

/** @returns Milliseconds after which the link must be synced again; 0 when nothing is left to do. */
async function syncLink(
  link: Versioned<GroupLink>,
  { settings, changedAtMs }: { readonly settings: LinkSettings; readonly changedAtMs: number | undefined },
  deps: SyncDependencies,
): Promise<number> {
  const { tenantId, appliedMembershipVersion } = link.value
  if (appliedMembershipVersion === null) return 0
  const changes = await deps.collections.changesSince(link.value, appliedMembershipVersion)
  const unguarded = changesDecision(link.value, changes)
  if (unguarded.outcome === 'nothing') return clearChangesPending(link, deps)
  const decision = await allowedChanges(link.value, { decision: unguarded, changes, settings }, deps)
  if (decision.outcome === 'nothing') return 0
  if (decision.outcome === 'compare' || changes === undefined) {
    await leaveToJob(link.value, deps)
    return 0
  }
  const writeCount = stepsOf(decision, deps.directory.limits).reduce((sum, step) => sum + step.writeCount, 0)
  const waitMs = deps.budget.reserve(tenantId, writeCount, 'change')
  if (waitMs > 0) return waitMs
  const acquired = await acquireLease(link, decision.remove, deps)
  if ('retryMs' in acquired) return acquired.retryMs
  try {
    const isJobDue = await writeChanges(link.value, { ...acquired, decision, changes, changedAtMs }, deps)
    if (isJobDue) await leaveToJob(link.value, deps)
  } catch (error) {
    if (!(error instanceof LeaseLost) && !(error instanceof Refusal)) throw error
    deps.log.info('link.changes-conflict', { tenantId, linkId: link.value.id })
    // The worker that holds the lease now may crash. The retry then writes the changes, or finds nothing to do.
    return LEASE_RETRY_MS
  }
  return 0
}

/** The decision under the tenant's settings. */
async function allowedChanges(
  link: GroupLink,
  {
    decision,
    changes,
    settings: { linkableGroups, removalGuard: guard },
  }: {
    readonly decision: ChangesDecision
    readonly changes: AccountChanges | undefined
    readonly settings: LinkSettings
  },
  deps: Pick<SyncDependencies, 'directory' | 'log' | 'nowMs'>,
): Promise<ChangesDecision> {
  if (decision.outcome !== 'write' || changes === undefined) return decision
  const guarded = guardedChanges(link, decision, changes, { guard, nowMs: deps.nowMs() })
  if (guarded.outcome !== 'write') return guarded
  const accounts = [...guarded.add, ...guarded.remove]
  const change = { accounts, requiresOwnership: linkableGroups === 'Owned' }
  return (await isWritable(link, change, deps)) ? guarded : { outcome: 'compare' }
}

/**
 * Whether the accounts are known to be users, and the group can be written where that is known. An account that leaves
 * can be a nested group, which stays: a job reads the group and finds out. False also when the directory cannot be
 * asked: a job retries and reports it.
 */
async function isWritable(
  { tenantId, directoryGroupId: groupId }: GroupLink,
  change: ChangeToCheck,
  { directory, log }: Pick<SyncDependencies, 'directory' | 'log'>,
): Promise<boolean> {
  try {
    const { users, refusal } = await directory.checkChange(tenantId, groupId, change)
    return refusal === undefined && change.accounts.every((account) => users.has(account))
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    log.warn('link.change-check-failed', { tenantId, groupId, kind: error.kind, reason: error.message })
    return false
  }
}

/** The removals are counted in the same write, before they are sent. */
async function acquireLease(
  link: Versioned<GroupLink>,
  remove: readonly string[],
  deps: SyncDependencies,
): Promise<AcquiredLease | { readonly retryMs: number }> {
  const { leaseMs, clockDifferenceMs } = deps
  const owner = `changes:${deps.newId()}`
  const decision = linkLeaseDecision(link.value, { owner, leaseMs, clockDifferenceMs }, deps.nowMs())
  if (decision.outcome === 'held') {
    await markChangesPending(link.value, deps)
    return { retryMs: retryDelayMs(decision.forMs, clockDifferenceMs, LEASE_RETRY_MS) }
  }
  const { lease } = decision
  try {
    const { removalWindow, userCount } = link.value
    const counted = withOpenRemovals(removalWindow, remove, userCount ?? 0)
    const leased = { ...link.value, lease, lastToken: lease.token, removalWindow: counted }
    return { lease, leasedLink: await deps.links.replace(leased, link.version) }
  } catch (error) {
    if (error instanceof Refusal) return { retryMs: LEASE_RETRY_MS }
    throw error
  }
}

async function markChangesPending(
  { tenantId, id, changesPending }: GroupLink,
  deps: Pick<SyncDependencies, 'links'>,
): Promise<void> {
  if (changesPending) return
  await changeLink(tenantId, id, (link) => ({ ...link, changesPending: true }), deps).catch((error: unknown) => {
    // Deleted, or repeated conflicts. The changes are retried anyway.
    if (!(error instanceof Refusal)) throw error
  })
}

/** The link has applied all changes. @returns As `syncLink`: after a conflict, other changes can be pending. */
async function clearChangesPending(
  { value, version }: Versioned<GroupLink>,
  { links }: Pick<SyncDependencies, 'links'>,
): Promise<number> {
  if (!value.changesPending) return 0
  try {
    await links.replace({ ...value, changesPending: false }, version)
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return LEASE_RETRY_MS
  }
}

/** Queues a job unless one is queued already: one comparison covers any number of changes. */
async function leaveToJob(link: GroupLink, deps: SyncDependencies): Promise<void> {
  const unfinished = await deps.jobs.unfinishedOf(link.tenantId, link.id)
  const queued = unfinished.find(({ value }) => value.status === 'Queued')
  if (queued === undefined) {
    const cause = toChangeCause(await deps.collections.newestChange(link), link.collectionId)
    await queueJob(link, 'ScheduledSweep', deps, { origin: { ...SERVICE_ORIGIN, cause } })
  }
  // Its worker may have crashed between storing the job and enqueuing it. A second message does no harm.
  else if (queued.value.attempts === 0) await enqueueSyncJob(queued.value, 'queued', deps)
}
