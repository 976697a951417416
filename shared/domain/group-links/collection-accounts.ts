import { Refusal } from '../../kernel/refusals.ts'
import type { CollectionKind } from '../collections/collection.ts'
import type { MemberChangeCause } from '../history/member-history.ts'
import type { DefinitionSearch } from './defined-since.ts'
import type { GroupLink } from './group-link.ts'

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
  /** Whether positions are left out that changed hands since the evaluation: see `handedOver`. */
  readonly leavesOut?: boolean
}

/** Refuses a link to a collection that does not exist. */
export function collectionUnknown(collectionId: string): Refusal {
  return new Refusal('CollectionUnknown', `The collection ${collectionId} does not exist.`, '/collectionId')
}

/** Refuses to say who the members are of a collection that could not be evaluated, or not since its condition changed. */
export function collectionNotEvaluated(collectionId: string): Refusal {
  const message = `The collection ${collectionId} is not evaluated yet: retry later.`
  return new Refusal('CollectionNotVerified', message, '/collectionId')
}

export function isNotEvaluated(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'CollectionNotVerified'
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

type LinkedCollection = { readonly kind: CollectionKind; readonly objectType: string }

/** Why members whose accounts are to be removed have left their collection. */
export type RemovalCauses = {
  /** The newest entry of the history that removed one of them; null when unknown. */
  readonly newest: { readonly kind: MemberChangeCause; readonly actorId: string; readonly atMs: number } | null
  /** Who removed them directly, or changed the definition that did, and who has changed that last. */
  readonly actorIds: readonly string[]
  /** Whether the history explains each of the accounts. */
  readonly explainsAll: boolean
  /** Who has changed the definition last; null without a collection. */
  readonly definedBy: string | null
}

/** Which version of their members collections have. */
interface MembershipVersions {
  /**
   * The current membership versions of these collections. One that does not exist, or was never evaluated, is left out.
   */
  versions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * The membership version of a collection whose members are current. Undefined while its condition has changed and is
   * not evaluated, when it was never evaluated, and when it does not exist. Evaluates nothing.
   */
  currentVersion(tenantId: string, collectionId: string): Promise<number | undefined>
  /**
   * The membership versions of collections whose members were written since a time of the database's clock, in seconds, and possibly
   * for others. One that was deleted is left out.
   */
  versionsWrittenSince(
    tenantId: string,
    collections: ReadonlyMap<string, CollectionKind>,
    sinceS: number,
  ): Promise<ReadonlyMap<string, number>>
}

/** What group links read of collections. */
export interface LinkedCollections extends MembershipVersions {
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
   * @throws Refusal `CollectionNotVerified` when a collection could not be evaluated that never was; `CollectionUnknown`.
   */
  accountsOf(tenantId: string, collectionId: string, accepted?: readonly string[]): Promise<CollectionAccounts>
  /**
   * The accounts of a collection; undefined when the collection does not exist.
   * @throws Refusal `CollectionNotVerified` as `accountsOf`.
   */
  findAccounts(
    tenantId: string,
    collectionId: string,
    accepted?: readonly string[],
  ): Promise<CollectionAccounts | undefined>
  /** Why the members with these accounts have left a link's collection, as far as its history is kept. */
  removalCauses(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'comparedAtMs'>,
    accounts: readonly string[],
  ): Promise<RemovalCauses>
  /** Whether one of these actors made the last change, since a time, of a definition that decides the members. */
  hasDefinedSince(search: DefinitionSearch): Promise<boolean>
  /** The newest change of the members of a link's collection that the link has not applied; null without one. */
  newestChange(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'appliedMembershipVersion'>,
  ): Promise<RemovalCauses['newest']>
  /**
   * The changes of a link's collection after a version. Undefined when the history does not reach back to it, and while
   * the condition has changed and its members could not be evaluated yet: a full comparison is needed then.
   */
  changesSince(
    link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'comparedAtMs' | 'acceptedWithoutAccount'>,
    membershipVersion: number,
  ): Promise<AccountChanges | undefined>
}
