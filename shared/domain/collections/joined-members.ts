import type { JoinedMembership } from '../criteria/collection-members.ts'
import type { MembershipChange } from './membership-store.ts'

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
