import type { Versioned } from '../../kernel/versioned.ts'

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
