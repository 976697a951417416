import type { DirectoryObject } from './objects.ts'

type Change = {
  readonly groupKey: number
  readonly member: DirectoryObject
  readonly kind: 'added' | 'removed'
  readonly atMs: number
}

/** Older changes are visible to all reads. */
const KEPT_COUNT = 100_000

type List = (afterKey: number, count: number) => readonly DirectoryObject[]

/** History of memberships since the start, for stale reads. */
export function membershipHistory() {
  let changes: Change[] = []
  return {
    note(group: DirectoryObject, member: DirectoryObject, kind: Change['kind'], atMs: number): void {
      changes.push({ groupKey: group.key, member, kind, atMs })
      if (changes.length > 2 * KEPT_COUNT) changes = changes.slice(-KEPT_COUNT)
    },

    /** The members of a group at `atMs`, computed from the current members. */
    asOf(group: DirectoryObject, atMs: number, listNow: List): List {
      const before = new Map<number, Change>()
      for (const change of changes) {
        // The first change after `atMs` shows the previous state.
        if (change.groupKey === group.key && change.atMs > atMs && !before.has(change.member.key)) {
          before.set(change.member.key, change)
        }
      }
      if (before.size === 0) return listNow
      const were = [...before.values()].filter(({ kind }) => kind === 'removed').map(({ member }) => member)
      return (afterKey, count) =>
        listNow(afterKey, count + before.size)
          .filter(({ key }) => !before.has(key))
          .concat(were.filter(({ key }) => key > afterKey))
          .sort((one, other) => one.key - other.key)
          .slice(0, count)
    },
  }
}

export type MembershipHistory = ReturnType<typeof membershipHistory>
