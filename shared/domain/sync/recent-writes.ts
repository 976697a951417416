/** A change that the directory has accepted and that its reads may not show yet. */
export type RecentWrite = { readonly account: string; readonly kind: 'added' | 'removed'; readonly atMs: number }

/** How long reads of the directory may lag behind its writes. */
const REMEMBERED_MS = 10 * 60 * 1000

/** Keeps the link's document small. Forgetting one only means that a stale read is believed. */
const REMEMBERED_COUNT = 500

/** The memory with what has just been written, the newest kept: one entry for an account, none that is too old. */
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
  for (const write of [...stillRecent(writes, nowMs), ...fresh]) {
    byAccount.delete(write.account)
    byAccount.set(write.account, write)
  }
  return [...byAccount.values()].slice(-REMEMBERED_COUNT)
}

/** Those that a read of the directory may not show yet. */
export function stillRecent(writes: readonly RecentWrite[], nowMs: number): RecentWrite[] {
  return writes.filter(({ atMs }) => nowMs - atMs < REMEMBERED_MS)
}
