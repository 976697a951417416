import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { CollectionAccounts } from '../group-links/collection-accounts.ts'
import {
  DirectoryFault,
  type GroupWithMembers,
  groupRefusal,
  MEMBERS_PER_PAGE_COUNT,
} from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { unexpiredWrites } from './recorded-writes.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

/** Links that one sweep compares. Jobs compare the others. */
const MAX_COMPARED_COUNT = 20

/** Links whose collections are read concurrently. */
const CONCURRENT_COUNT = 5

/**
 * Compares links that are known to be unchanged with their groups, without a job: nothing is written to a group. Each
 * link that agrees with its group is recorded as compared. The others, and those of large groups, are left to jobs.
 * @param startMs A time before the groups were read.
 * @returns Ids of the links that agree with their groups.
 */
export async function compareLinks(
  tenantId: string,
  links: readonly Versioned<GroupLink>[],
  startMs: number,
  deps: SyncDependencies,
): Promise<ReadonlySet<string>> {
  const isComparable = ({ userCount, recentWrites }: GroupLink) =>
    userCount !== null && userCount < MEMBERS_PER_PAGE_COUNT && unexpiredWrites(recentWrites, startMs).length === 0
  const compared = links.filter(({ value }) => isComparable(value)).slice(0, MAX_COMPARED_COUNT)
  const groupIds = compared.map(({ value }) => value.directoryGroupId)
  const groups = await readGroups(tenantId, groupIds, deps)
  const agreeing = new Set<string>()
  await forEachConcurrent(compared, CONCURRENT_COUNT, async ({ value, version }) => {
    const group = groups.get(value.directoryGroupId)
    const { collectionId, acceptedWithoutAccount } = value
    const desired = group && (await deps.collections.findAccounts(tenantId, collectionId, acceptedWithoutAccount))
    if (group === undefined || desired === undefined || !agrees(value, group, desired)) return
    if (await isRecorded({ value: { ...value, comparedAtMs: startMs }, version }, deps)) agreeing.add(value.id)
  })
  return agreeing
}

/** Whether a job would find nothing to write and nothing to report. */
export function agrees(
  { appliedMembershipVersion, skippedCount, userCount, directoryGroupDisplayName }: GroupLink,
  { group, members }: GroupWithMembers,
  { accounts, withoutAccountCount, membershipVersion, isCurrent, leavesOut = false }: CollectionAccounts,
): boolean {
  const users = new Set(members.users)
  return (
    isCurrent &&
    !leavesOut &&
    groupRefusal(group) === undefined &&
    group.displayName === directoryGroupDisplayName &&
    members.continueAfter === undefined &&
    users.size === userCount &&
    users.size === accounts.size &&
    users.isSubsetOf(accounts) &&
    withoutAccountCount === skippedCount &&
    membershipVersion === appliedMembershipVersion
  )
}

/** No groups when the directory cannot be asked: jobs retry and report it. */
async function readGroups(
  tenantId: string,
  groupIds: readonly string[],
  { directory, log }: Pick<SyncDependencies, 'directory' | 'log'>,
): Promise<ReadonlyMap<string, GroupWithMembers>> {
  try {
    return await directory.readGroupsWithMembers(tenantId, groupIds)
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    log.warn('link.groups-not-read', { tenantId, kind: error.kind, reason: error.message })
    return new Map()
  }
}

/** False when the link was changed or deleted since it was read. */
async function isRecorded(
  { value, version }: Versioned<GroupLink>,
  { links }: Pick<SyncDependencies, 'links'>,
): Promise<boolean> {
  try {
    await links.replace(value, version)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
