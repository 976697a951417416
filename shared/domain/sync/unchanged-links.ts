import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { EvaluatedUntil } from '../evaluation/evaluation-lease.ts'
import { DirectoryFault, type GroupMemberChange } from '../group-links/directory.ts'
import { type GroupLink, lastSyncedAt } from '../group-links/group-link.ts'
import type { BegunSweep } from '../group-links/job-store.ts'
import { changeLink } from '../group-links/link-lease.ts'
import type { LinkSettings } from '../group-links/link-settings.ts'
import type { SweptLink } from '../group-links/swept-jobs.ts'
import { compareLinks } from './compare-links.ts'
import { isComparisonDue, isSettled } from './comparison-decision.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { type ExplainChanges, readTrackedChanges, type TrackedGroup } from './tracked-groups.ts'

/** A sweep of a tenant. */
type Sweep = {
  readonly tenantId: string
  readonly startMs: number
  readonly settings: LinkSettings
  /** All links of the tenant. */
  readonly links: readonly Versioned<GroupLink>[]
  /** Links for which a job would be queued. */
  readonly linksToQueue: readonly GroupLink[]
  readonly begun: BegunSweep
  /** What evaluations have covered, when none is due. */
  readonly evaluated: EvaluatedUntil | undefined
  /** When it looked for ends of memberships; absent when it did not. */
  readonly deadlinesReadAtMs?: number
}

/**
 * The links that are known to be unchanged, and need no job of their own. Links that are not known to be unchanged any
 * more are written before the tenant's sweep is recorded, so that `lastSyncedAt` never tells of a job that does not
 * exist.
 */
export async function findUnchangedLinks(sweep: Sweep, deps: SyncDependencies): Promise<readonly GroupLink[]> {
  const { tenantId, startMs, links, begun } = sweep
  const known = await knownUnchangedLinks(sweep, deps)
  const due = new Set(known.filter((link) => isComparisonDue(link, links.length, startMs)).map(({ id }) => id))
  const compared = await compareLinks(
    tenantId,
    links.filter(({ value }) => due.has(value.id)),
    startMs,
    deps,
  )
  const unchanged = known.filter(({ id }) => !due.has(id) || compared.has(id))
  const knownIds = new Set(known.map(({ id }) => id))
  const ended = links
    .map(({ value }) => value)
    .filter(({ id, isSweptUnchanged }) => isSweptUnchanged && !knownIds.has(id))
  await endSweptLinks(ended, begun.lastSweepMs, deps)
  return unchanged
}

/**
 * Records the sweep and the links that it has found unchanged. Their jobs are served from that record. The
 * links are written after it, as `findUnchangedLinks` writes others before.
 */
export async function recordSweep(
  { tenantId, startMs, begun, evaluated, deadlinesReadAtMs }: Sweep,
  unchanged: readonly GroupLink[],
  deps: Pick<SyncDependencies, 'links' | 'metrics' | 'nowMs'>,
): Promise<void> {
  const looked = deadlinesReadAtMs === undefined ? {} : { deadlinesReadAtMs }
  await begun.record({ tenantId, startMs, endMs: deps.nowMs(), evaluated, ...looked, links: unchanged.map(sweptLink) })
  if (unchanged.length > 0) recordMetrics(unchanged, deps)
  const begunLinks = unchanged.filter(({ isSweptUnchanged }) => !isSweptUnchanged)
  await changeEach(begunLinks, (link) => ({ ...link, isSweptUnchanged: true }), deps)
}

async function knownUnchangedLinks(
  { tenantId, settings, links, linksToQueue, begun }: Sweep,
  deps: SyncDependencies,
): Promise<readonly GroupLink[]> {
  const enabled = links.filter(({ value }) => value.state === 'Enabled')
  const groupIds = new Set(enabled.map(({ value }) => value.directoryGroupId))
  const linkOf = new Map(linksToQueue.map((link) => [link.directoryGroupId, link]))
  const explain: ExplainChanges = async (group, members) => {
    const link = linkOf.get(group.groupId)
    const wasSettled = link !== undefined && isSettled({ ...link, unseenAdditions: [] }, group.changedAtMs)
    if (!wasSettled) return undefined
    if (!areOwnAdditions(link, members) && !(await requires(link, members, deps))) return undefined
    return { ...group, seenAdditions: seenAdditions(link, group, members) }
  }
  const tracked = await readTrackedChanges(tenantId, groupIds, explain, deps)
  await forgetSeenAdditions(linksToQueue, tracked, deps)
  const settled = linksToQueue.filter((link) => {
    const group = tracked.get(link.directoryGroupId)
    return isSettled(withoutSeenAdditions(link, group), group?.changedAtMs)
  })
  const known = await linksUpToDate(tenantId, settled, begun.readUntilS, deps)
  return settings.linkableGroups === 'Any' ? known : ownedAmong(tenantId, known, deps)
}

/**
 * The links whose group has the last version of the membership. For those that the last sweep has found up to date,
 * versions are read that were written since then.
 */
async function linksUpToDate(
  tenantId: string,
  links: readonly GroupLink[],
  readUntilS: number | undefined,
  { collections }: Pick<SyncDependencies, 'collections'>,
): Promise<readonly GroupLink[]> {
  // A deleted collection is not among them. It cannot be deleted while it has a link, and the regular comparison finds
  // it.
  const isFollowed = (link: GroupLink) =>
    link.isSweptUnchanged && link.collectionKind !== null && readUntilS !== undefined
  const [followed, others] = [links.filter(isFollowed), links.filter((link) => !isFollowed(link))]
  const kinds = new Map(
    followed.flatMap(({ collectionId, collectionKind: kind }) => (kind ? [[collectionId, kind]] : [])),
  )
  const written = await collections.versionsWrittenSince(tenantId, kinds, readUntilS ?? 0)
  const versions = await collections.versions(tenantId, [...new Set(others.map(({ collectionId }) => collectionId))])
  return links.filter((link) => {
    const { collectionId, appliedMembershipVersion: applied } = link
    return isFollowed(link)
      ? (written.get(collectionId) ?? applied) === applied
      : versions.get(collectionId) === applied
  })
}

/**
 * Whether the link has added all of these members, as users. What its collection requires need not be read then: the
 * link forgets an addition with the removal.
 */
function areOwnAdditions({ unseenAdditions }: GroupLink, members: readonly GroupMemberChange[]): boolean {
  const own = new Set(unseenAdditions)
  return members.every(({ id, isUser, isMember }) => isUser && isMember && own.has(id))
}

/**
 * Whether the collection requires all of these changes of the members of its group, as those that the service has made.
 * Each change counts, also one that a later one reverts: changes can be reported out of order.
 */
async function requires(
  { tenantId, collectionId, appliedMembershipVersion, skippedCount, acceptedWithoutAccount }: GroupLink,
  members: readonly GroupMemberChange[],
  { collections }: Pick<SyncDependencies, 'collections'>,
): Promise<boolean> {
  const found = await collections.findAccounts(tenantId, collectionId, acceptedWithoutAccount)
  if (found === undefined) return false
  const { accounts, withoutAccountCount, membershipVersion } = found
  return (
    membershipVersion === appliedMembershipVersion &&
    withoutAccountCount === skippedCount &&
    members.every(({ id, isUser, isMember }) => accounts.has(id) === (isUser && isMember))
  )
}

/** The additions that the link waits for and that the directory has reported by now, as of users. */
function seenAdditions(
  { unseenAdditions }: GroupLink,
  group: TrackedGroup,
  members: readonly GroupMemberChange[],
): readonly string[] {
  const reported = members.flatMap(({ id, isUser, isMember }) => (isUser && isMember ? [id] : []))
  const seen = new Set([...group.seenAdditions, ...reported])
  return unseenAdditions.filter((account) => seen.has(account))
}

function withoutSeenAdditions(link: GroupLink, group: TrackedGroup | undefined): GroupLink {
  const seen = new Set(group?.seenAdditions)
  return { ...link, unseenAdditions: link.unseenAdditions.filter((account) => !seen.has(account)) }
}

/** Seen additions that are kept with a group. To write its link for each would cost more. */
const MAX_SEEN_ADDITIONS_COUNT = 10

/** Removes seen additions from links that wait for many. */
async function forgetSeenAdditions(
  links: readonly GroupLink[],
  tracked: ReadonlyMap<string, TrackedGroup>,
  deps: Pick<SyncDependencies, 'links'>,
): Promise<void> {
  const after = (link: GroupLink) => withoutSeenAdditions(link, tracked.get(link.directoryGroupId))
  const seenCount = (link: GroupLink) => link.unseenAdditions.length - after(link).unseenAdditions.length
  const full = links.filter((link) => seenCount(link) > MAX_SEEN_ADDITIONS_COUNT)
  await changeEach(full, after, deps)
}

/** Links whose group the service owns. None when the directory cannot be asked: jobs retry and report it. */
async function ownedAmong(
  tenantId: string,
  links: readonly GroupLink[],
  { directory, log }: Pick<SyncDependencies, 'directory' | 'log'>,
): Promise<readonly GroupLink[]> {
  const groupIds = links.map(({ directoryGroupId }) => directoryGroupId)
  try {
    const owned = await directory.ownedGroups(tenantId, groupIds)
    return links.filter(({ directoryGroupId }) => owned.has(directoryGroupId))
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    log.warn('link.group-check-failed', { tenantId, kind: error.kind, reason: error.message })
    return []
  }
}

/** These links are synced by stored jobs again. Until the next one ends, the last sweep is their last sync. */
async function endSweptLinks(
  links: readonly GroupLink[],
  sweptAtMs: number | undefined,
  deps: Pick<SyncDependencies, 'links'>,
): Promise<void> {
  const change = (link: GroupLink): GroupLink => {
    return { ...link, isSweptUnchanged: false, lastSyncedAt: lastSyncedAt(link, sweptAtMs) }
  }
  await changeEach(links, change, deps)
}

/** Links that are changed concurrently. */
const CONCURRENT_COUNT = 20

/** Changes the links that still exist. */
async function changeEach(
  links: readonly GroupLink[],
  change: (link: GroupLink) => GroupLink,
  deps: Pick<SyncDependencies, 'links'>,
): Promise<void> {
  await forEachConcurrent(links, CONCURRENT_COUNT, async ({ tenantId, id }) => {
    await changeLink(tenantId, id, change, deps).catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
    })
  })
}

function sweptLink({ id, collectionId, directoryGroupId, skippedCount }: GroupLink): SweptLink {
  return { linkId: id, collectionId, directoryGroupId, skippedCount: skippedCount ?? 0 }
}

function recordMetrics(unchanged: readonly GroupLink[], { metrics }: Pick<SyncDependencies, 'metrics'>): void {
  metrics.record('sync.jobs', unchanged.length, { type: 'ScheduledSweep', outcome: 'Succeeded' })
  const skipped = unchanged.reduce((sum, { skippedCount }) => sum + (skippedCount ?? 0), 0)
  if (skipped > 0) metrics.record('members.skipped', skipped, {})
}
