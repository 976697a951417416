import { chunk } from '../../kernel/chunk.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import type { Log } from '../../kernel/log.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { DAY_MS } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type Directory,
  DirectoryFault,
  type GroupChange,
  type GroupMemberChange,
  TRACKED_TOGETHER_COUNT,
} from '../group-links/directory.ts'

export type TrackedGroup = {
  readonly groupId: string
  /** When the service last learned of changes of the group's members that its collection does not explain. */
  readonly changedAtMs: number
  /** Accounts that the link has added, and whose addition the directory has reported. The link may still wait for them. */
  readonly seenAdditions: readonly string[]
}

/** Groups whose changes the directory reports together. */
export type TrackedGroups = {
  readonly id: string
  readonly groups: readonly TrackedGroup[]
  /** Where the changes go on; null before the directory was asked. */
  readonly continueAfter: string | null
  /** False until the first query has ended, from which on changes are reported. */
  readonly isTracking: boolean
  readonly savedAtMs: number
}

export interface TrackedGroupsStore {
  /** @param groupCount Groups that the tenant needs: one set has them all, or there can be further ones. */
  ofTenant(tenantId: string, groupCount: number): Promise<Versioned<TrackedGroups>[]>
  /** @param version Undefined to create it. @throws Refusal `StaleVersion` when others have written it. */
  save(tenantId: string, tracked: TrackedGroups, version: string | undefined): Promise<void>
  /** @throws Refusal `StaleVersion` when others have written it. */
  remove(tenantId: string, id: string, version: string): Promise<void>
}

/** Id of a tenant's first set. It is read without a query when it has room for all groups. */
export const FIRST_SET_ID = 'tracked-groups'

/** A new set of groups has no version. */
type TrackedSet = { readonly value: TrackedGroups; readonly version: string | undefined }

type TrackingPlan = {
  readonly read: readonly TrackedSet[]
  /** Sets whose groups are no longer needed. */
  readonly remove: readonly Versioned<TrackedGroups>[]
}

/**
 * Which sets to read, so that they have all these groups. New groups join the smallest set, whose tracking begins
 * again; a set otherwise keeps its groups, because tracking depends on all of them.
 */
export function trackingPlan(
  stored: readonly Versioned<TrackedGroups>[],
  groupIds: ReadonlySet<string>,
  newId: () => string,
): TrackingPlan {
  const needed = (tracked: TrackedGroups) =>
    tracked.groups.map(({ groupId }) => groupId).filter((id) => groupIds.has(id))
  const [unused, used] = [[] as Versioned<TrackedGroups>[], [] as Versioned<TrackedGroups>[]]
  for (const tracked of stored) (needed(tracked.value).length === 0 ? unused : used).push(tracked)
  const missing = [...groupIds.difference(new Set(used.flatMap(({ value }) => needed(value))))]
  const [smallest] = used.toSorted((left, right) => needed(left.value).length - needed(right.value).length)
  const joins =
    missing.length > 0 &&
    smallest !== undefined &&
    needed(smallest.value).length + missing.length <= TRACKED_TOGETHER_COUNT
  if (joins) {
    const { value, version } = smallest
    const begun = { value: untracked(value.id, [...needed(value), ...missing]), version }
    return { read: [...used.filter((tracked) => tracked !== smallest), begun], remove: unused }
  }
  // The first set is written again rather than removed and created.
  const first = stored.find(({ value }) => value.id === FIRST_SET_ID)
  const isFirstFree = first === undefined || unused.includes(first)
  const added = chunk(missing, TRACKED_TOGETHER_COUNT).map((batch, index) =>
    index === 0 && isFirstFree
      ? { value: untracked(FIRST_SET_ID, batch), version: first?.version }
      : { value: untracked(newId(), batch), version: undefined },
  )
  return {
    read: [...used, ...added],
    remove: added.length > 0 ? unused.filter((tracked) => tracked !== first) : unused,
  }
}

function untracked(id: string, groupIds: readonly string[]): TrackedGroups {
  const groups = groupIds.map((groupId) => ({ groupId, changedAtMs: 0, seenAdditions: [] }))
  return { id, groups, continueAfter: null, isTracking: false, savedAtMs: 0 }
}

/** Pages that one sweep reads of a set. Further ones are left to the next sweep. */
const MAX_PAGES_COUNT = 50

/** Sets that are read concurrently. */
const CONCURRENT_COUNT = 4

/** The directory keeps a position for 7 days. */
const SAVED_AGAIN_AFTER_MS = DAY_MS

type TrackingDependencies = {
  readonly trackedGroups: TrackedGroupsStore
  readonly directory: Directory
  readonly log: Log
  nowMs(): number
  newId(): string
}

/**
 * The group after changes of its members that are those its collection requires; undefined for any others.
 */
export type ExplainChanges = (
  group: TrackedGroup,
  members: readonly GroupMemberChange[],
) => Promise<TrackedGroup | undefined>

/**
 * Reads the changes of groups' members since the last call. What is found is stored before it is returned.
 * @param explain For the changes of one group; not called for a group that has unknown ones.
 * @returns The groups by id. Those whose changes could not be read are left out.
 */
export async function readTrackedChanges(
  tenantId: string,
  groupIds: ReadonlySet<string>,
  explain: ExplainChanges,
  deps: TrackingDependencies,
): Promise<ReadonlyMap<string, TrackedGroup>> {
  const { trackedGroups, newId } = deps
  const plan = trackingPlan(await trackedGroups.ofTenant(tenantId, groupIds.size), groupIds, newId)
  const tracked = new Map<string, TrackedGroup>()
  await forEachConcurrent(plan.read, CONCURRENT_COUNT, async (set) => {
    const read = await readSet(tenantId, set, explain, deps)
    // A set that was not read while the tenant had fewer groups can have groups of another set.
    for (const group of read?.groups ?? []) {
      const found = tracked.get(group.groupId)
      if (found === undefined || found.changedAtMs < group.changedAtMs) tracked.set(group.groupId, group)
    }
  })
  for (const { value, version } of plan.remove) {
    await trackedGroups.remove(tenantId, value.id, version).catch(ignoreConflict)
  }
  return tracked
}

/** @returns Undefined when the changes are not known up to now. */
async function readSet(
  tenantId: string,
  { value, version }: TrackedSet,
  explain: ExplainChanges,
  deps: TrackingDependencies,
): Promise<TrackedGroups | undefined> {
  const { trackedGroups, log, nowMs } = deps
  try {
    const { tracked: read, changes, isComplete, isChanged } = await readPages(tenantId, value, deps)
    const tracked = { ...read, groups: await groupsAfter(read, changes, explain, nowMs()) }
    if (isChanged || nowMs() - value.savedAtMs >= SAVED_AGAIN_AFTER_MS) {
      await trackedGroups.save(tenantId, { ...tracked, savedAtMs: nowMs() }, version)
    }
    return isComplete ? tracked : undefined
  } catch (error) {
    if (error instanceof DirectoryFault) {
      log.warn('group-changes.not-read', { tenantId, kind: error.kind, reason: error.message })
      return undefined
    }
    return ignoreConflict(error)
  }
}

/** Another sweep of the tenant has read the same changes. */
function ignoreConflict(error: unknown): undefined {
  if (error instanceof Refusal && error.code === 'StaleVersion') return undefined
  throw error
}

type ReadChanges = {
  readonly tracked: TrackedGroups
  readonly changes: readonly GroupChange[]
  /** Whether all changes until now were read. */
  readonly isComplete: boolean
  /** Whether the position alone is not all that is new. */
  readonly isChanged: boolean
}

async function readPages(
  tenantId: string,
  stored: TrackedGroups,
  { directory, nowMs }: Pick<TrackingDependencies, 'directory' | 'nowMs'>,
): Promise<ReadChanges> {
  let tracked = stored
  let isChanged = false
  const changes: GroupChange[] = []
  for (let count = 0; count < MAX_PAGES_COUNT; count += 1) {
    const { continueAfter, groups, isTracking } = tracked
    const from = continueAfter === null ? { groupIds: groups.map(({ groupId }) => groupId) } : { continueAfter }
    const page = await directory.readMemberChanges(tenantId, from)
    if (page === undefined && continueAfter === null)
      throw new DirectoryFault('refused', 'The directory returned no changes.')
    isChanged ||= page === undefined || !isTracking || page.changes.length > 0
    if (isTracking) changes.push(...(page?.changes ?? []))
    tracked =
      page === undefined ? { ...tracked, continueAfter: null, isTracking: false } : afterPage(tracked, page, nowMs())
    if (page?.isLast === true) return { tracked, changes, isComplete: true, isChanged }
  }
  return { tracked, changes, isComplete: false, isChanged: true }
}

/** The groups after a page. When tracking begins, all of them count as changed: earlier changes are not reported. */
export function afterPage(
  tracked: TrackedGroups,
  { continueAfter, isLast }: { continueAfter: string; isLast: boolean },
  nowMs: number,
): TrackedGroups {
  const hasBegun = isLast && !tracked.isTracking
  const groups = hasBegun ? tracked.groups.map((group) => unexplained(group, nowMs)) : tracked.groups
  return { ...tracked, groups, continueAfter, isTracking: tracked.isTracking || isLast }
}

const unexplained = ({ groupId }: TrackedGroup, changedAtMs: number): TrackedGroup => {
  return { groupId, changedAtMs, seenAdditions: [] }
}

async function groupsAfter(
  { groups }: TrackedGroups,
  changes: readonly GroupChange[],
  explain: ExplainChanges,
  nowMs: number,
): Promise<readonly TrackedGroup[]> {
  const byGroup = Map.groupBy(changes, ({ groupId }) => groupId)
  const after: TrackedGroup[] = []
  for (const group of groups) {
    const members = byGroup.get(group.groupId)?.map((change) => change.members)
    if (members === undefined) after.push(group)
    else if (members.includes(undefined)) after.push(unexplained(group, nowMs))
    else {
      const reported = members.flatMap((changes) => changes ?? [])
      after.push((await explain(group, reported)) ?? unexplained(group, nowMs))
    }
  }
  return after
}
