import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, membersNamedIn, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { MAX_ACCEPTED_COUNT, PausedByDto, type PausingNames, pausedBy, WithoutAccount } from './removal-pause.ts'
import { HeldRemovals, HeldRemovalsDto, toHeldRemovalsDto } from './removal-plan.ts'
import { EMPTY_WINDOW, RemovalWindow } from './removal-window.ts'
import { SyncState, syncStateOf } from './sync-state.ts'

export const LinkState = OneOf(['Enabled', 'Disabled'])
export const SyncOutcome = OneOf(['Succeeded', 'Failed'])
export type SyncOutcome = Static<typeof SyncOutcome>

/** Identities of members that need no directory account. */
export const AcceptedWithoutAccount = Described(
  Type.Unsafe<readonly string[]>(Type.Array(Guid, { maxItems: MAX_ACCEPTED_COUNT })),
  'Ids of identities that are accepted as members without a directory account, or with one that the directory does ' +
    'not know or refuses: they count neither in `skipped` nor in `pausedBy`, and members are removed in spite of them. A sync ' +
    'takes out an id when the identity has an account in the group, or is no member any more.',
)

/** What a link on the wire and a stored one have in common. */
const linkProperties = {
  id: Guid,
  collectionId: Guid,
  directoryGroupId: Guid,
  directoryTenantId: Guid,
  createdAt: Timestamp,
  createdBy: Described(
    Nullable(Guid),
    'Object id (`oid`) of the user or application that created the link; null for links that are older than this member.',
  ),
  state: Described(
    LinkState,
    'The sweep and incremental syncs skip a disabled link. Its group keeps its current members.',
  ),
  lastSyncedAt: Described(
    Nullable(Timestamp),
    'When the last sync job ended, with either outcome; null until the first job has ended.',
  ),
  lastSyncOutcome: Described(
    Nullable(SyncOutcome),
    'Outcome of the last sync job; null until the first job has ended.',
  ),
  directoryGroupDisplayName: Described(
    Nullable(Type.String()),
    "The group's display name when it was last read; null when the group has none. Display `directoryGroupId` then.",
  ),
  heldRemovals: Described(
    Nullable(HeldRemovalsDto),
    'Removals that the removal guard held in the last sync; null when it held none.',
  ),
  acceptedWithoutAccount: AcceptedWithoutAccount,
}

/** A group link as the API returns it. */
export const GroupLinkDto = Closed({
  ...linkProperties,
  syncState: SyncState,
  pausedBy: Described(
    Nullable(PausedByDto),
    'Why no member is removed from the group, also while none is due; null when members are removed.',
  ),
})
export type GroupLinkDto = Static<typeof GroupLinkDto>

/** Body of a create request. Validation drops unknown members. */
export const NewGroupLink = Type.Object({ collectionId: Guid, directoryGroupId: Guid })
export type NewGroupLink = Static<typeof NewGroupLink>

/**
 * The exclusive right to write to a link's group. It expires, so that a crashed worker blocks the link for a limited
 * time.
 */
const Lease = Type.Object({
  /** A sync job's id, or another name that only the owner uses. */
  owner: Type.String(),
  expiresAtMs: Type.Number(),
  /**
   * Fencing token, one higher than every earlier one. A worker that finds another token on the link has lost the lease.
   */
  token: Type.Integer(),
})
export type Lease = Readonly<Static<typeof Lease>>

/** A change that the directory has accepted and that its reads may not show yet. */
const RecentWrite = Type.Object({ account: Type.String(), kind: OneOf(['added', 'removed']), atMs: Type.Number() })
export type RecentWrite = Readonly<Static<typeof RecentWrite>>

/** A group link as stored. */
export const GroupLink = Type.Object({
  ...linkProperties,
  tenantId: Type.String(),
  /** Increases with every change that a caller makes. Syncs leave it unchanged, so they never fail an `If-Match`. */
  revision: Type.Integer(),
  lease: Nullable(Lease),
  /** The highest fencing token issued so far. */
  lastToken: Type.Integer(),
  /**
   * Membership version of the collection that was last written to the group; null until the first sync has succeeded.
   */
  appliedMembershipVersion: Nullable(Type.Integer()),
  /** Removals were deferred because a member had no account. Only a full comparison finds them. */
  removalsDeferred: Type.Boolean(),
  /** When accounts of existing members last changed; null once a full comparison that began later has succeeded. */
  accountsChangedAtMs: Nullable(Type.Number()),
  /** When the last successful full comparison began; null until one has succeeded. */
  comparedAtMs: Nullable(Type.Number()),
  recentWrites: Type.Unsafe<readonly RecentWrite[]>(Type.Array(RecentWrite)),
  /** An incremental sync is waiting for the lease. A long-running job yields to it. */
  changesPending: Type.Boolean(),
  /** The last ManualSync job. Further requests return it while it is queued. */
  manualJobId: Nullable(Type.String()),
  heldRemovals: Nullable(HeldRemovals),
  removalWindow: RemovalWindow,
  /** A sync of this link has added an account to the group. */
  hasAdded: Type.Boolean(),
  /** Users in the group: as last read, plus later writes. Null until the first comparison. */
  userCount: Nullable(Type.Integer()),
  /**
   * Added accounts that no read of the group has shown yet, the last ones only. A read shows which are not users. Some
   * may be `seenAdditions` of the tracked group.
   */
  unseenAdditions: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
  /** Accounts that the last job could not add: unknown to the directory, or not users. */
  unresolved: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
  /** Members without an account, or with an unknown one, that were found last and are not accepted; null when unknown. */
  skippedCount: Nullable(Type.Integer()),
  /** Never changes. Null for links that are older than this member. */
  collectionKind: Nullable(OneOf(['criteria', 'joinable'])),
  /** The sweeps find the link unchanged and store no job: its last sync is the tenant's last sweep, or a later job. */
  isSweptUnchanged: Type.Boolean(),
  /** Object id of the caller that has enabled the link since its last run that deferred no removals. Null without one. */
  enabledBy: Type.Optional(Nullable(Type.String())),
  /** Why the last sync failed. Absent where it did not, and in links of earlier versions of the service. */
  lastSyncError: Type.Optional(Nullable(Type.String())),
  /** Whether events have told last that removals are paused. Absent until they first are. */
  isPauseTold: Type.Optional(Type.Boolean()),
  /** Members without an account that were found last, without those in `acceptedWithoutAccount`; null when unknown. */
  withoutAccount: Nullable(WithoutAccount),
  /** A job has still to write something, or to repeat a failed run. False once a run has succeeded. */
  isBehind: Type.Boolean(),
})
export type GroupLink = Readonly<Static<typeof GroupLink>>

/** What a link has before its first sync. Documents of earlier versions can lack these members. */
export const NEVER_SYNCED = {
  heldRemovals: null,
  removalWindow: EMPTY_WINDOW,
  hasAdded: false,
  userCount: null,
  unseenAdditions: [],
  unresolved: [],
  skippedCount: null,
  isSweptUnchanged: false,
  acceptedWithoutAccount: [],
  withoutAccount: null,
  isBehind: false,
} as const satisfies Partial<GroupLink>

/** A new link: enabled, never synced. */
export function newLink(
  input: NewGroupLink & {
    id: string
    tenantId: string
    directoryGroupDisplayName: string | null
    createdBy?: string | null
    collectionKind?: GroupLink['collectionKind']
  },
  nowMs: number,
): GroupLink {
  return {
    id: input.id,
    tenantId: input.tenantId,
    collectionId: input.collectionId,
    directoryGroupId: input.directoryGroupId,
    directoryTenantId: input.tenantId,
    createdAt: toTimestamp(nowMs),
    createdBy: input.createdBy ?? null,
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
    changesPending: false,
    manualJobId: null,
    ...NEVER_SYNCED,
    collectionKind: input.collectionKind ?? null,
  }
}

/** When the last sync ended. @param sweptAtMs the tenant's last sweep; undefined before the first. */
export function lastSyncedAt(link: GroupLink, sweptAtMs: number | undefined): string | null {
  if (!link.isSweptUnchanged || sweptAtMs === undefined) return link.lastSyncedAt
  const sweptAt = toTimestamp(sweptAtMs)
  return link.lastSyncedAt !== null && link.lastSyncedAt > sweptAt ? link.lastSyncedAt : sweptAt
}

/** @param sweptAtMs as of `lastSyncedAt`. @param names of the members that pause its removals. */
export function toGroupLinkDto(link: GroupLink, sweptAtMs: number | undefined, names: PausingNames): GroupLinkDto {
  return {
    ...membersNamedIn(GroupLinkDto, link),
    lastSyncedAt: lastSyncedAt(link, sweptAtMs),
    heldRemovals: link.heldRemovals && toHeldRemovalsDto(link.heldRemovals),
    syncState: syncStateOf(link),
    pausedBy: link.state === 'Disabled' ? null : pausedBy(link, names),
  }
}
