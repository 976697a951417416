import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { JoinedMembership } from '../criteria/collection-members.ts'
import type { AttributedChange } from '../history/member-history.ts'

/** The version and summary of a criteria collection's members. */
export type MembershipHead = {
  readonly count: number
  /** Rises by one with each change of the members. */
  readonly membershipVersion: number
  /** The definition that the members satisfy: see `definitionKeyOf`. */
  readonly definitionKey: string
  readonly evaluatedAtMs: number
  /** That of the lease under which it was written. */
  readonly epoch: number
}

export type MembershipChange = { readonly added: readonly string[]; readonly removed: readonly string[] }

/** The accounts that a change has given to a collection and taken from it, as of its evaluation. */
export type AccountsOfChange = MembershipChange & {
  /** Members without an account after the change. */
  readonly withoutAccountCount: number
  /** The identities of the first of them; null for a position that no identity holds. Undefined when not stored. */
  readonly withoutAccountIds?: readonly (string | null)[] | undefined
  /** Accounts of all members after the change. */
  readonly accountCount: number
  /** The accounts are those of this time or later, by the clock of the evaluator. */
  readonly readAtMs: number
}

/** The changes that a link applies one by one. */
export type ChangesOfAccounts = {
  /** In order. Empty when there is no change after the version. */
  readonly changes: readonly AccountsOfChange[]
  /** The last change, which may be that of the version itself. */
  readonly last: AccountsOfChange
  /** The definition that the members satisfy now. */
  readonly definitionKey: string
}

export type EvaluatedMembers = {
  /** Member ids in ascending order, each once. */
  readonly ids: readonly string[]
  readonly definitionKey: string
  readonly evaluatedAtMs: number
  /** That of the evaluator's lease. */
  readonly epoch: number
  /** A head of this epoch or a former one is written even when it stays the same: see `EvaluationLease`. */
  readonly unfencedEpoch: number
  /** The causes of the difference to the stored members. Each id of the difference is in one of them. */
  attribute(change: MembershipChange): Promise<readonly AttributedChange[]>
  /**
   * The accounts of the difference, to be stored with it. Undefined for a collection without links, or when unknown.
   */
  accountsOf?(change: MembershipChange): Promise<AccountsOfChange | undefined>
}

/** The materialised members of criteria collections. */
export interface MembershipStore {
  /** Undefined for a collection that was never evaluated. */
  head(tenantId: string, collectionId: string): Promise<Versioned<MembershipHead> | undefined>
  /** The heads of those collections that were evaluated. One query for many of them. */
  heads(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, Versioned<MembershipHead>>>
  /** The membership versions of those collections that were evaluated. One query for all of them. */
  versions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * The membership versions of all collections of the tenant whose head was written since a time of the database's
   * clock, in seconds.
   */
  versionsWrittenSince(tenantId: string, sinceS: number): Promise<ReadonlyMap<string, number>>
  /** Ids in ascending order. Undefined for a collection that was never evaluated. */
  members(tenantId: string, collectionId: string): Promise<{ head: MembershipHead; ids: readonly string[] } | undefined>
  /** The candidates that are members. Reads only the chunks that may contain them. */
  membersAmong(tenantId: string, collectionId: string, candidates: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Stores an evaluation as the collection's members. Writes only the difference to `previous` (undefined for the first
   * evaluation), and nothing when members and definition are unchanged and the head is of a later epoch than
   * `unfencedEpoch`.
   * @param beforeWrite Awaited before the first write; not called when nothing is written.
   * @throws Refusal `StaleVersion` when the members were written by others since `previous` was read.
   */
  replace(
    tenantId: string,
    collectionId: string,
    previous: Versioned<MembershipHead> | undefined,
    evaluation: EvaluatedMembers,
    beforeWrite?: () => Promise<void>,
  ): Promise<{ head: Versioned<MembershipHead>; change: MembershipChange }>
  /** The changes after a version, in order; undefined when the history does not reach back to it. */
  changesAfter(
    tenantId: string,
    collectionId: string,
    membershipVersion: number,
  ): Promise<MembershipChange[] | undefined>
  /**
   * The accounts of the changes after a version. Undefined when the history does not reach back to the version, and
   * when a change was stored without its accounts.
   */
  accountsAfter(
    tenantId: string,
    collectionId: string,
    membershipVersion: number,
  ): Promise<ChangesOfAccounts | undefined>
  /** Removes all members of a deleted collection, and their history. */
  remove(tenantId: string, collectionId: string): Promise<void>
}

export type JoinedCollection = {
  /** By identity, then relationship. */
  readonly memberships: readonly JoinedMembership[]
  /** Rises by one with each write that joins or leaves; 0 before the first. Never newer than the memberships. */
  readonly membershipVersion: number
  /** Another one after each write that changes a membership, its position included. Never newer than the memberships. */
  readonly revision: string
}

/** The members of joinable collections: the subjects of requests in status `Joined`. */
export interface JoinedMembers {
  /** Contains every collection asked for. One query for all of them. */
  versions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** The `revision` of every collection asked for. One query for all of them. */
  revisions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Contains every collection asked for. */
  of(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, JoinedCollection>>
  /** The memberships of one identity, by collection. */
  ofIdentity(tenantId: string, identityId: string): Promise<ReadonlyMap<string, readonly JoinedMembership[]>>
  /**
   * The identities that joined and left after a version, in order; undefined when the history does not reach back to
   * it.
   */
  changesAfter(
    tenantId: string,
    collectionId: string,
    membershipVersion: number,
  ): Promise<MembershipChange[] | undefined>
}

/** The members of one joinable collection. */
export async function joinedMembersOf(
  tenantId: string,
  collectionId: string,
  joined: JoinedMembers,
): Promise<JoinedCollection> {
  const found = (await joined.of(tenantId, [collectionId])).get(collectionId)
  if (found === undefined) throw new Error(`The store returned no members of collection ${collectionId}`)
  return found
}

/** Ids compared in one step of the task. */
const IDS_PER_STEP_COUNT = 16_384

/** The difference between two ascending lists of ids, ascending as well. */
export function* differenceTask(before: readonly string[], after: readonly string[]): Task<MembershipChange> {
  const added: string[] = []
  const removed: string[] = []
  let left = 0
  let right = 0
  while (left < before.length || right < after.length) {
    if ((left + right) % IDS_PER_STEP_COUNT === 0) yield
    const old = before[left]
    const young = after[right]
    if (old === young) {
      left += 1
      right += 1
    } else if (young === undefined || (old !== undefined && old < young)) {
      removed.push(old as string)
      left += 1
    } else {
      added.push(young)
      right += 1
    }
  }
  return { added, removed }
}
