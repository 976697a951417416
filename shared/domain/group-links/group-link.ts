import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { RecentWrite } from '../sync/recent-writes.ts'
import type { Lease } from './lease.ts'

export const LinkState = OneOf(['Enabled', 'Disabled'])
const SyncOutcome = OneOf(['Succeeded', 'Failed'])

/** A group link as clients see it: statement, "Group link". */
export const GroupLink = Closed({
  id: Guid,
  collectionId: Guid,
  directoryGroupId: Guid,
  directoryTenantId: Guid,
  createdAt: Timestamp,
  state: Described(
    LinkState,
    'A disabled link is left out by the sweep and by single changes; its group stays as it is.',
  ),
  lastSyncedAt: Described(Nullable(Timestamp), 'When a job last ended, either way; null until the first one has.'),
  lastSyncOutcome: Described(Nullable(SyncOutcome), 'How it ended; null until the first job has.'),
  directoryGroupDisplayName: Described(
    Nullable(Type.String()),
    "The group's name as last read; `directoryGroupId` serves for display when it is null.",
  ),
})
export type GroupLink = Static<typeof GroupLink>

/** Unknown members of a body are dropped before it gets here. */
export const NewGroupLink = Type.Object({ collectionId: Guid, directoryGroupId: Guid })
export type NewGroupLink = Static<typeof NewGroupLink>

/** A link with what only the service needs to know of it. */
export type LinkRecord = GroupLink & {
  readonly tenantId: string
  /** Rises with every change that a caller makes. Syncs leave it alone, so that they never fail an `If-Match`. */
  readonly revision: number
  /** Whoever writes to the group at the moment. */
  readonly lease: Lease | null
  /** The highest fencing token ever given out. */
  readonly lastToken: number
  /** Membership version of the collection that the group is known to hold; null until the first sync has succeeded. */
  readonly appliedMembershipVersion: number | null
  /** Removals were held back while members had no account: only a whole comparison can tell which. */
  readonly removalsDeferred: boolean
  /** When members who stayed last got other accounts, until a whole comparison that began later has ended. */
  readonly accountsChangedAtMs: number | null
  /** When the last whole comparison that ended well began; null until one has. */
  readonly comparedAtMs: number | null
  readonly recentWrites: readonly RecentWrite[]
  /** A single change has found the link held: a job that has been at it for a while lets it go first. */
  readonly changesWait: boolean
  /** The ManualSync queued last, which answers further ones for as long as it is queued. */
  readonly manualJobId: string | null
}

/** A link as it is created: enabled, and never synced. */
export function newLink(
  input: NewGroupLink & { id: string; tenantId: string; directoryGroupDisplayName: string | null },
  nowMs: number,
): LinkRecord {
  return {
    id: input.id,
    tenantId: input.tenantId,
    collectionId: input.collectionId,
    directoryGroupId: input.directoryGroupId,
    directoryTenantId: input.tenantId,
    createdAt: toTimestamp(nowMs),
    state: 'Enabled',
    lastSyncedAt: null,
    lastSyncOutcome: null,
    directoryGroupDisplayName: input.directoryGroupDisplayName,
    revision: 1,
    lease: null,
    lastToken: 0,
    appliedMembershipVersion: null,
    removalsDeferred: false,
    accountsChangedAtMs: null,
    comparedAtMs: null,
    recentWrites: [],
    changesWait: false,
    manualJobId: null,
  }
}

/** The part of a link that clients see. */
export function toGroupLink(link: LinkRecord): GroupLink {
  return {
    id: link.id,
    collectionId: link.collectionId,
    directoryGroupId: link.directoryGroupId,
    directoryTenantId: link.directoryTenantId,
    createdAt: link.createdAt,
    state: link.state,
    lastSyncedAt: link.lastSyncedAt,
    lastSyncOutcome: link.lastSyncOutcome,
    directoryGroupDisplayName: link.directoryGroupDisplayName,
  }
}

/** The link's entity tag, quoted as RFC 9110, section 8.8.3, has it. */
export function linkTag(link: LinkRecord): string {
  return `"${link.revision}"`
}
