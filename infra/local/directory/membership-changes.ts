import type { DatabaseSync } from 'node:sqlite'
import type { DirectoryObject, DirectoryType } from './objects.ts'

/** A member of a group whose membership has changed, and its last change. */
export type ChangedMember = {
  readonly key: number
  readonly id: string
  readonly type: DirectoryType
  /** `deleted`: the group itself was deleted. The member is the group. */
  readonly kind: 'added' | 'removed' | 'deleted'
}

/** A change of the members of a group by a Graph request. */
export type MembershipChange = {
  /** Ascending in order of the changes. */
  readonly sequence: number
  readonly groupId: string
  readonly memberId: string
  readonly kind: 'added' | 'removed'
  /** Client ID of the application that sent the request. */
  readonly clientId: string
  readonly atMs: number
}

/** A range of recorded changes: those after `from`, up to and including `until`. */
export type ChangeRange = { readonly from: number; readonly until: number }

type List = (afterKey: number, count: number) => readonly DirectoryObject[]
type Row = { key: number; id: string; type: DirectoryType; kind: ChangedMember['kind'] }

/** Older changes are deleted. */
const KEPT_COUNT = 200_000

export type MembershipChanges = ReturnType<typeof membershipChanges>

/** Record changes in their transaction. They exist as long as the connection. */
const TRIGGERS = `
  CREATE TEMP TRIGGER member_added AFTER INSERT ON main.members BEGIN
    INSERT INTO membership_changes (group_key, member_key, member_id, member_type, kind, client_id, at_ms)
    SELECT NEW.group_key, key, id, type, 'added', client_id(), now_ms() FROM objects WHERE key = NEW.member_key;
  END;
  CREATE TEMP TRIGGER member_removed AFTER DELETE ON main.members BEGIN
    INSERT INTO membership_changes (group_key, member_key, member_id, member_type, kind, client_id, at_ms)
    SELECT OLD.group_key, key, id, type, 'removed', client_id(), now_ms() FROM objects WHERE key = OLD.member_key;
  END;
  CREATE TEMP TRIGGER group_deleted AFTER DELETE ON main.objects WHEN OLD.type = 'group' BEGIN
    INSERT INTO membership_changes (group_key, member_key, member_id, member_type, kind, client_id, at_ms)
    VALUES (OLD.key, OLD.key, OLD.id, OLD.type, 'deleted', client_id(), now_ms());
  END;
`

/**
 * The recorded changes of memberships, for delta queries and stale reads. Changes are recorded from the call on: the
 * seed is the initial state of its groups.
 */
export function membershipChanges(database: DatabaseSync, nowMs: () => number) {
  let sender = ''
  database.function('client_id', () => sender)
  database.function('now_ms', () => Math.floor(nowMs()))
  database.exec(TRIGGERS)
  const columns = 'member_key AS key, member_id AS id, member_type AS type, kind'
  const statements = {
    last: database.prepare('SELECT sequence FROM membership_changes WHERE at_ms <= ? ORDER BY sequence DESC LIMIT 1'),
    after: database.prepare(`SELECT sequence, groups.id AS groupId, member_id AS memberId, kind,
      client_id AS clientId, at_ms AS atMs
      FROM membership_changes JOIN objects groups ON groups.key = group_key
      WHERE sequence > ? ORDER BY sequence`),
    prune: database.prepare('DELETE FROM membership_changes WHERE sequence <= ?'),
    // SQLite takes the other columns from the row with the maximum. https://www.sqlite.org/lang_select.html#bareagg
    changed: database.prepare(`SELECT ${columns}, max(sequence) FROM membership_changes
      WHERE group_key = ? AND sequence > ? AND sequence <= ? AND member_key > ? AND member_type <> 'servicePrincipal'
      GROUP BY member_key ORDER BY member_key LIMIT ?`),
    // The first change after a time shows the state before it.
    firstAfter: database.prepare(`SELECT ${columns}, min(sequence) FROM membership_changes
      WHERE group_key = ? AND at_ms > ? AND kind <> 'deleted' GROUP BY member_key`),
  }
  return {
    /** Runs a request of an application. The changes that it makes are recorded as those of the application. */
    sentBy<T>(clientId: string, request: () => T): T {
      sender = clientId
      return request()
    },

    /**
     * The changes of existing groups after the one with this sequence number. The oldest of very many can be missing.
     */
    after: (sequence: number) => statements.after.all(sequence) as unknown as MembershipChange[],

    /** Sequence number of the last change at a time; 0 without one. */
    lastSequence: (atMs: number) => (statements.last.get(atMs) as { sequence: number } | undefined)?.sequence ?? 0,

    /** Whether all changes after a sequence number are kept. Deletes those that are kept no longer. */
    areKeptAfter(sequence: number): boolean {
      const oldest = (statements.last.get(Number.MAX_SAFE_INTEGER) as { sequence: number } | undefined)?.sequence ?? 0
      statements.prune.run(oldest - KEPT_COUNT)
      return sequence >= oldest - KEPT_COUNT
    },

    /** Members of a group that have changed, after a key, in order of their keys. Excludes service principals. */
    changedMembers(groupKey: number, { from, until }: ChangeRange, afterKey: number, count: number): ChangedMember[] {
      const rows = statements.changed.all(groupKey, from, until, afterKey, count) as Row[]
      return rows.map(({ key, id, type, kind }) => ({ key, id, type, kind }))
    },

    /** The members of a group at `atMs`, computed from the current members. Former members have no properties. */
    asOf(group: DirectoryObject, atMs: number, listNow: List): List {
      const first = statements.firstAfter.all(group.key, atMs) as Row[]
      const before = new Map(first.map((row) => [row.key, row]))
      if (before.size === 0) return listNow
      const were = first
        .filter(({ kind }) => kind === 'removed')
        .map(({ key, id, type }): DirectoryObject => ({ key, id, type, properties: {} }))
      return (afterKey, count) =>
        listNow(afterKey, count + before.size)
          .filter(({ key }) => !before.has(key))
          .concat(were.filter(({ key }) => key > afterKey))
          .sort((first, second) => first.key - second.key)
          .slice(0, count)
    },
  }
}
