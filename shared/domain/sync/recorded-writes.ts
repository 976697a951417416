import type { GroupLink, RecentWrite } from '../group-links/group-link.ts'
import { type RemovalOutcomes, withOutcomes } from '../group-links/removal-window.ts'
import type { WriteJournal } from '../group-links/sync-job.ts'

/** How long reads of the directory may lag behind its writes. */
export const RECENT_WRITES_MS = 10 * 60 * 1000

/** Bounds the size of the link's document. For a write that was dropped, a stale read is believed. */
const MAX_RECENT_WRITES_COUNT = 500

/** What a worker has written to a group and read from it. It is recorded with the link. */
export type RecordedWrites = {
  /** Accounts that were added, and those that were removed. Recording an account again has no effect. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Outcomes of open removals that are not recorded yet. */
  readonly removalOutcomes: RemovalOutcomes
  /** Users in the group after the writes; null when unknown. */
  readonly userCount: number | null
  /** Added accounts that no read of the group has shown yet, without those that were removed since. */
  readonly unseenAdditions: readonly string[]
}

/** The link with these writes recorded. */
export function withRecordedWrites(link: GroupLink, writes: RecordedWrites, nowMs: number): GroupLink {
  const { added, removed, removalOutcomes, userCount, unseenAdditions } = writes
  return {
    ...link,
    recentWrites: withRecentWrites(link.recentWrites, added, removed, nowMs),
    removalWindow: withOutcomes(link.removalWindow, removalOutcomes, nowMs),
    userCount,
    hasAdded: link.hasAdded || added.length > 0,
    unseenAdditions,
  }
}

/** The recent writes with these added: one entry for each account, the newest kept, expired entries removed. */
export function withRecentWrites(
  writes: readonly RecentWrite[],
  added: readonly string[],
  removed: readonly string[],
  nowMs: number,
): RecentWrite[] {
  const byAccount = new Map<string, RecentWrite>()
  const fresh = [
    ...added.map((account): RecentWrite => ({ account, kind: 'added', atMs: nowMs })),
    ...removed.map((account): RecentWrite => ({ account, kind: 'removed', atMs: nowMs })),
  ]
  for (const write of [...unexpiredWrites(writes, nowMs), ...fresh]) {
    byAccount.delete(write.account)
    byAccount.set(write.account, write)
  }
  return [...byAccount.values()].slice(-MAX_RECENT_WRITES_COUNT)
}

/** Added accounts that no read of the group has shown yet, without removed ones. Bounded like the recent writes. */
export function withUnseen(
  earlier: readonly string[],
  added: readonly string[],
  removed: readonly string[] = [],
): string[] {
  const unseen = new Set([...earlier, ...added]).difference(new Set(removed))
  return [...unseen].slice(-MAX_RECENT_WRITES_COUNT)
}

/** The writes that a read of the directory may not show yet. */
export function unexpiredWrites(writes: readonly RecentWrite[], nowMs: number): RecentWrite[] {
  return writes.filter(({ atMs }) => nowMs - atMs < RECENT_WRITES_MS)
}

/** Accounts that were removed so recently that reads of the directory may still show them. */
export function removedRecently(writes: readonly RecentWrite[], nowMs: number): ReadonlySet<string> {
  const removed = unexpiredWrites(writes, nowMs).filter(({ kind }) => kind === 'removed')
  return new Set(removed.map(({ account }) => account))
}

/** An earlier worker may have written these although the group does not show it yet. */
export function asRecentWrites({ added, removed }: WriteJournal, atMs: number): RecentWrite[] {
  return [
    ...added.map((account): RecentWrite => ({ account, kind: 'added', atMs })),
    ...removed.map((account): RecentWrite => ({ account, kind: 'removed', atMs })),
  ]
}
