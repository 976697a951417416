import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { JoinedMembership } from '../criteria/collection-members.ts'

/** What stands above the members of a criteria collection. */
export type MembershipHead = {
  readonly count: number
  /** Rises by one with each change of the members. */
  readonly membershipVersion: number
  /** Which definition the members satisfy: `definitionKey` of the collection as it was evaluated. */
  readonly definitionKey: string
  readonly evaluatedAtMs: number
}

export type MembershipChange = { readonly added: readonly string[]; readonly removed: readonly string[] }

export type EvaluatedMembers = {
  /** Member ids in ascending order, each once. */
  readonly ids: readonly string[]
  readonly definitionKey: string
  readonly evaluatedAtMs: number
}

/** The materialised members of criteria collections. */
export interface MembershipStore {
  /** Undefined for a collection that was never evaluated. */
  head(tenantId: string, collectionId: string): Promise<Versioned<MembershipHead> | undefined>
  /** Ids in ascending order. Undefined for a collection that was never evaluated. */
  members(tenantId: string, collectionId: string): Promise<{ head: MembershipHead; ids: string[] } | undefined>
  /** Those of the candidates that are members, reading only where they could stand. */
  membersAmong(tenantId: string, collectionId: string, candidates: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Makes the evaluation the collection's membership, rewriting only what differs from `previous` (undefined: the
   * first evaluation); nothing at all when members and definition are as before.
   * @param beforeWrite waited for before anything is written, and not called when nothing has to be.
   * @throws Refusal `StaleVersion` when someone else has written since `previous` was read.
   */
  replace(
    tenantId: string,
    collectionId: string,
    previous: Versioned<MembershipHead> | undefined,
    evaluation: EvaluatedMembers,
    beforeWrite?: () => Promise<void>,
  ): Promise<{ head: Versioned<MembershipHead>; change: MembershipChange }>
  /** The changes after a version in their order; undefined when the history does not reach back to it. */
  changesAfter(
    tenantId: string,
    collectionId: string,
    membershipVersion: number,
  ): Promise<MembershipChange[] | undefined>
  /** Forgets the members of a collection that is no more. */
  remove(tenantId: string, collectionId: string): Promise<void>
}

export type JoinedCollection = {
  /** By identity, then position. */
  readonly memberships: readonly JoinedMembership[]
  /** Rises by one with each write that joins or leaves; 0 when nobody ever joined. Never newer than the memberships. */
  readonly membershipVersion: number
}

/** Who is in joinable collections: those whose request stands at `Joined`. */
export interface JoinedMembers {
  /** Every collection asked for has an answer. One look, however many there are. */
  versions(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Every collection asked for has an answer. */
  of(tenantId: string, collectionIds: readonly string[]): Promise<ReadonlyMap<string, JoinedCollection>>
  /** The memberships of one identity, by collection. */
  ofIdentity(tenantId: string, identityId: string): Promise<ReadonlyMap<string, readonly JoinedMembership[]>>
  /** Identities that joined and left after a version, in order; undefined when the history does not reach back to it. */
  changesAfter(
    tenantId: string,
    collectionId: string,
    membershipVersion: number,
  ): Promise<MembershipChange[] | undefined>
}

/** Who is in one joinable collection. */
export async function joinedMembersOf(
  tenantId: string,
  collectionId: string,
  joined: JoinedMembers,
): Promise<JoinedCollection> {
  const found = (await joined.of(tenantId, [collectionId])).get(collectionId)
  if (found === undefined) throw new Error(`The members of collection ${collectionId} were not answered`)
  return found
}

/** Ids compared between two pauses. */
const IDS_PER_STEP_COUNT = 16_384

/** What to add to and remove from one ascending list to get the other, in steps. Both results are ascending too. */
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
