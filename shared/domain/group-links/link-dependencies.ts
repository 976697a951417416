import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import type { Page, Versioned } from '../../kernel/versioned.ts'
import type { CollectionKind } from '../collections/collection.ts'
import type { EvaluationSchedule } from '../evaluation/evaluation-due.ts'
import type { EvaluatedUntil } from '../evaluation/evaluation-lease.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { MemberChangeCause } from '../history/member-history.ts'
import type { DirectoryGroups, DirectoryMembers } from './directory.ts'
import type { GroupLink, SyncOutcome } from './group-link.ts'
import type { JobChange, JobChanges } from './job-changes.ts'
import type { LinkSettings, LinkSettingsStore } from './link-settings.ts'
import type { AccountHolders, RemovalPlanStore } from './removal-plan.ts'
import type { SweepRecord } from './swept-jobs.ts'
import type { SyncJob } from './sync-job.ts'
import type { SyncState } from './sync-state.ts'

/** What links must have. Undefined: any value. */
export type LinkFilter = Partial<
  Pick<GroupLink, 'collectionId' | 'directoryGroupId' | 'state'> & {
    readonly lastSyncOutcome: SyncOutcome
    /** Whether the removal guard holds removals of the link. */
    readonly held: boolean
    readonly syncState: SyncState
    readonly needsAttention: boolean
  }
>

/** What jobs must have. Undefined: any value. */
export type JobFilter = Partial<Pick<SyncJob, 'collectionId' | 'linkId' | 'status'>>

/** A link with the settings of its tenant. */
type LinkWithSettings = Versioned<GroupLink> & { readonly settings: LinkSettings }

/** Stored group links. */
export interface LinkStore {
  find(tenantId: string, linkId: string): Promise<Versioned<GroupLink> | undefined>
  /** As `find`. The tenant's settings are read in the same request. */
  findWithSettings(tenantId: string, linkId: string): Promise<LinkWithSettings | undefined>
  /** The links of a collection, oldest first. */
  ofCollection(tenantId: string, collectionId: string): Promise<Versioned<GroupLink>[]>
  ofGroup(tenantId: string, directoryGroupId: string): Promise<Versioned<GroupLink> | undefined>
  ofTenant(tenantId: string): Promise<Versioned<GroupLink>[]>
  /**
   * Adds a link, which takes over what the group's former link has left: see `FormerLink`.
   * @param audit Written in the same transaction.
   * @returns The link as added.
   * @throws Refusal `GroupAlreadyLinked` when the group has a link, also when two creates race.
   */
  add(link: GroupLink, audit?: AuditRecord): Promise<Versioned<GroupLink>>
  /**
   * @param audit Written in the same transaction.
   * @param before The link as read with `version`, if the change may be one that events tell of.
   * @throws Refusal `StaleVersion` when `version` is no longer current, `LinkNotFound` when the link was deleted.
   */
  replace(link: GroupLink, version: string, audit?: AuditRecord, before?: GroupLink): Promise<Versioned<GroupLink>>
  /**
   * Removes a link as read with `version`, and leaves its `FormerLink` to the group's next link in the same transaction.
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion`, `LinkNotFound`, as `replace`.
   */
  remove(link: GroupLink, version: string, audit?: AuditRecord): Promise<void>
}

/** The group links of a tenant, read together. */
export interface LinkLists {
  /** A page of the links that match the filter, oldest first. */
  page(tenantId: string, filter: LinkFilter, after: string | undefined, size: number): Promise<Page<GroupLink>>
  /** The enabled links that need attention, and links whose removals are held. */
  attention(tenantId: string): Promise<readonly { readonly syncState: SyncState; readonly isHeld: boolean }[]>
  /** The links of these collections, oldest first. */
  ofCollections(tenantId: string, collectionIds: readonly string[]): Promise<GroupLink[]>
  /** The links of these groups, in any order. */
  ofGroups(tenantId: string, directoryGroupIds: readonly string[]): Promise<GroupLink[]>
  /** The collection of each link: of those of one collection, or of all of the tenant. In any order. */
  linkedCollectionIds(tenantId: string, collectionId?: string): Promise<readonly string[]>
  /** The number of links of a tenant. */
  count(tenantId: string): Promise<number>
}

/** A sweep of a tenant that has begun. */
export type BegunSweep = {
  /** When the last sweep ended; undefined before the first. */
  readonly lastSweepMs: number | undefined
  /**
   * The last sweep has read what was written before this time of the database's clock, in seconds; undefined before the
   * first sweep.
   */
  readonly readUntilS: number | undefined
  /** What evaluations had covered by the last sweep, if it found none due. */
  readonly evaluated: EvaluatedUntil | undefined
  /** When a sweep last looked for ends of memberships; undefined before the first time. */
  readonly deadlinesReadAtMs?: number | undefined
  /**
   * Records the end of the sweep. Each of its links has a job from then on, which is found and listed like a stored
   * one. Two sweeps that begin in the same minute are one.
   */
  record(record: SweepRecord): Promise<void>
}

/** Stored sync jobs. Each expires after the time that `retentionS` defines for its type. */
export interface JobStore {
  beginSweep(tenantId: string): Promise<BegunSweep>
  find(tenantId: string, jobId: string): Promise<Versioned<SyncJob> | undefined>
  /** Leaves an existing job of this id unchanged. @param audit Written in the same transaction. */
  add(job: SyncJob, audit?: AuditRecord): Promise<void>
  /**
   * @param changes Accounts that the job has written since it was last saved. They are stored in the same transaction,
   * as record number `changeRecordCount` of the job.
   * @throws Refusal `StaleVersion` when `version` is no longer current, `SyncJobNotFound` when the job has expired.
   */
  replace(job: SyncJob, version: string, changes?: JobChanges): Promise<Versioned<SyncJob>>
  /** A page of what a job has written, in the order of the writes. Empty for a job that is not stored. */
  changes(tenantId: string, jobId: string, after: string | undefined, size: number): Promise<Page<JobChange>>
  /** A page of the jobs that match the filter, newest first. */
  page(tenantId: string, filter: JobFilter, after: string | undefined, size: number): Promise<Page<SyncJob>>
  /** Queued and running jobs of a link, oldest first. */
  unfinishedOf(tenantId: string, linkId: string): Promise<Versioned<SyncJob>[]>
  /** Queued and running jobs of a tenant, oldest first. */
  unfinished(tenantId: string): Promise<Versioned<SyncJob>[]>
}

/** A tenant and its last sweep; before the first sweep, the time of its registration. */
export type KnownTenant = { readonly tenantId: string; readonly sweptAtMs: number }

/** Stored tenants, for the sweep. */
export interface TenantStore {
  /** Registers the tenant unless it is registered. Calls for a registered tenant cost little. */
  register(tenantId: string): Promise<void>
  /** Tenants whose `minuteOfTenant` is this minute, or all tenants; in pages, unordered. */
  list(minute: number | undefined): AsyncIterable<readonly KnownTenant[]>
  /** When the tenant was last swept; undefined before the first sweep. */
  lastSweepMs(tenantId: string): Promise<number | undefined>
}

const MINUTES_PER_HOUR = 60

/** The minute of every hour in which a tenant is swept. It never changes; tenants are distributed evenly. */
export function minuteOfTenant(tenantId: string): number {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5
  for (const character of tenantId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % MINUTES_PER_HOUR
}

/** Members without a directory account. */
type MembersWithoutAccount = {
  /** Members that the link does not accept. While it is above zero, no member is removed from a group. */
  readonly withoutAccountCount: number
  /** The identities of the first of them; null for a position that no identity holds. Undefined when unknown. */
  readonly withoutAccountIds?: readonly (string | null)[] | undefined
  /** The members among those that the link accepts without an account, with the accounts that they have. */
  readonly accepted?: AcceptedMembers | undefined
}

/** Accounts by identity; null for an identity without one. */
export type AcceptedMembers = ReadonlyMap<string, string | null>

/** The directory accounts of a collection's members. Each account once, in lower case. */
export type CollectionAccounts = MembersWithoutAccount & {
  readonly accounts: ReadonlySet<string>
  /** Increases with every change of the membership. */
  readonly membershipVersion: number
  /** False while the condition has changed and its members could not be evaluated yet. */
  readonly isCurrent: boolean
}

/**
 * The net change since an earlier version: no account is in both lists. A member that left and came back is in `added`,
 * because a write that was not recorded may have removed it in between.
 */
export type AccountChanges = MembersWithoutAccount & {
  readonly added: readonly string[]
  /** Accounts that no remaining member has. */
  readonly removed: readonly string[]
  /** Accounts of all members now. */
  readonly accountCount: number
  /** The version after these changes. Later changes are not included, even if they were made during the read. */
  readonly membershipVersion: number
}

type LinkedCollection = { readonly kind: CollectionKind; readonly objectType: string; readonly name: string }

/** Why members whose accounts are to be removed have left their collection. */
export type RemovalCauses = {
  /** The newest entry of the history that removed one of them; null when unknown. */
  readonly newest: { readonly kind: MemberChangeCause; readonly actorId: string; readonly atMs: number } | null
  /** Who removed them directly, or changed the definition or policy that did. */
  readonly actorIds: readonly string[]
}

/** What group links read of collections. */
export interface LinkedCollections {
  /** Undefined when the collection does not exist. */
  find(tenantId: string, collectionId: string): Promise<LinkedCollection | undefined>
  /**
   * Called after a link is written. A concurrent deletion that has not seen the link gets a conflict.
   * @returns Whether the collection still exists.
   */
  confirmReference(tenantId: string, collectionId: string): Promise<boolean>
  /**
   * The circle of collections that this link would close, because a condition that its collection depends on reads the
   * group. Undefined when there is none.
   */
  findCircle(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'directoryGroupId'>,
  ): Promise<readonly string[] | undefined>
  /**
   * The current accounts. Evaluates a collection that was never evaluated, or not since its condition changed.
   * @param accepted Identities that the link accepts without an account; none by default.
   */
  accountsOf(tenantId: string, collectionId: string, accepted?: readonly string[]): Promise<CollectionAccounts>
  /** The accounts of a collection; undefined when the collection does not exist. */
  findAccounts(
    tenantId: string,
    collectionId: string,
    accepted?: readonly string[],
  ): Promise<CollectionAccounts | undefined>
  /**
   * The current membership versions of these collections. One that does not exist, or was never evaluated, is left out.
   */
  versions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * The membership versions of collections whose members were written since a time of the database's clock, in seconds, and possibly
   * for others. One that was deleted is left out.
   */
  versionsWrittenSince(
    tenantId: string,
    collections: ReadonlyMap<string, CollectionKind>,
    sinceS: number,
  ): Promise<ReadonlyMap<string, number>>
  /** Why the members with these accounts have left a link's collection, as far as its history is kept. */
  removalCauses(link: Pick<GroupLink, 'tenantId' | 'collectionId'>, accounts: readonly string[]): Promise<RemovalCauses>
  /** The newest change of the members of a link's collection that the link has not applied; null without one. */
  newestChange(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'appliedMembershipVersion'>,
  ): Promise<RemovalCauses['newest']>
  /**
   * The changes of a link's collection after a version. Undefined when the history does not reach back to it: a full
   * comparison is needed then.
   */
  changesSince(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'comparedAtMs' | 'acceptedWithoutAccount'>,
    membershipVersion: number,
  ): Promise<AccountChanges | undefined>
}

/** Ports and settings of the group link use cases. */
export type LinkDependencies = {
  readonly links: LinkStore
  readonly linkQuota: TenantQuota
  readonly jobs: JobStore
  readonly settings: LinkSettingsStore
  readonly removalPlans: RemovalPlanStore
  readonly accountHolders: AccountHolders
  readonly tenants: TenantStore
  readonly collections: LinkedCollections
  readonly evaluations: EvaluationSchedule
  readonly directory: DirectoryGroups & Pick<DirectoryMembers, 'listMembers'>
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  nowMs(): number
  newId(): string
  /** A GUID made of texts: the same for the same texts. */
  deriveId(...parts: string[]): string
}
