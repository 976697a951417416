import { type Static, Type } from 'typebox'
import { Nullable } from '../../kernel/schema.ts'

/** The removal guard counts removals over this time. */
const WINDOW_MS = 24 * 60 * 60 * 1000

/** Bounds the size of the link's document. Beyond it, the two oldest entries become one. */
const MAX_ENTRIES_COUNT = 200

const Accounts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()))

const RemovalEntry = Type.Object({
  /** Not before the directory removed the accounts. */
  atMs: Type.Number(),
  count: Type.Integer(),
  /** Users in the group when the removals were decided. */
  groupSize: Type.Integer(),
})
type RemovalEntry = Readonly<Static<typeof RemovalEntry>>

/** Removals that are counted, and whose outcome is unknown: not sent yet, or the response was lost. */
const OpenRemovals = Type.Object({ groupSize: Type.Integer(), accounts: Accounts })

/**
 * The removals from a group within the last 24 hours, by all links that it had. It is stored with the current link: see
 * `FormerLink`. Only the owner of the link's lease changes it, so that no two workers count at the same time. An open
 * removal counts until its outcome is known.
 */
export const RemovalWindow = Type.Object({
  /** Oldest first. */
  entries: Type.Unsafe<readonly RemovalEntry[]>(Type.Array(RemovalEntry)),
  open: Nullable(OpenRemovals),
})
export type RemovalWindow = Readonly<Static<typeof RemovalWindow>>

export const EMPTY_WINDOW: RemovalWindow = { entries: [], open: null }

/** Outcomes of removals that may be open. */
export type RemovalOutcomes = {
  readonly removed: readonly string[]
  /** The directory has refused these removals, or they had no effect. They no longer count. */
  readonly notRemoved: readonly string[]
}

export function openAccounts({ open }: RemovalWindow): ReadonlySet<string> {
  return new Set(open?.accounts ?? [])
}

/** Removals that count now. Accounts in `retried` are left out while they are open, because they are removed again. */
export function countRemovals(window: RemovalWindow, retried: RetriedAccounts, nowMs: number): number {
  const closedCount = unexpired(window, nowMs).reduce((sum, { count }) => sum + count, 0)
  return closedCount + [...openAccounts(window)].filter((account) => !retried.has(account)).length
}

type RetriedAccounts = { has(account: string): boolean }

/** Users in the group when the earliest removal in the window was decided; without one, `currentSize`. */
export function groupSizeOf(window: RemovalWindow, currentSize: number, nowMs: number): number {
  return unexpired(window, nowMs)[0]?.groupSize ?? window.open?.groupSize ?? currentSize
}

/** The window with these removals counted, before they are sent. @param currentSize users in the group now. */
export function withOpenRemovals(
  window: RemovalWindow,
  accounts: readonly string[],
  currentSize: number,
): RemovalWindow {
  if (accounts.length === 0) return window
  const { entries, open } = window
  const all = [...new Set([...(open?.accounts ?? []), ...accounts])]
  return { entries, open: { groupSize: open?.groupSize ?? currentSize, accounts: all } }
}

/** The window after the outcomes of some open removals are known. Accounts that are not open have no effect. */
export function withOutcomes(
  window: RemovalWindow,
  { removed, notRemoved }: RemovalOutcomes,
  nowMs: number,
): RemovalWindow {
  const { open } = window
  const kept = unexpired(window, nowMs)
  if (open === null) return { entries: kept, open }
  const accounts = new Set(open.accounts)
  const count = accounts.intersection(new Set(removed)).size
  const left = [...accounts.difference(new Set([...removed, ...notRemoved]))]
  const entries = count === 0 ? kept : [...kept, { atMs: nowMs, count, groupSize: open.groupSize }]
  return { entries: bounded(entries), open: left.length === 0 ? null : { ...open, accounts: left } }
}

function unexpired({ entries }: RemovalWindow, nowMs: number): readonly RemovalEntry[] {
  return entries.filter(({ atMs }) => nowMs - atMs < WINDOW_MS)
}

/** The merged entry expires with the later one of the two, so that no removal is counted for less than 24 hours. */
function bounded(entries: readonly RemovalEntry[]): readonly RemovalEntry[] {
  if (entries.length <= MAX_ENTRIES_COUNT) return entries
  const [first, second, ...rest] = entries as readonly [RemovalEntry, RemovalEntry, ...RemovalEntry[]]
  return [{ atMs: second.atMs, count: first.count + second.count, groupSize: first.groupSize }, ...rest]
}
