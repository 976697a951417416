import type { MembershipChange, MembershipHead } from '../domain/collections/membership-store.ts'

export const HEAD_ID = 'head'

/**
 * Chunks belong to a generation, and the head says which one counts. A change of few chunks rewrites these together
 * with the head; one of many writes a new generation first, unseen until the head names it.
 */
export type MembersHeadDocument = MembershipHead & {
  readonly id: typeof HEAD_ID
  readonly membersOf: string
  readonly type: 'head'
  readonly generation: string
  readonly prefixLength: number
  readonly digest: string
}
export type ChunkDocument = {
  id: string
  membersOf: string
  type: 'chunk'
  generation: string
  prefix: string
  ids: string[]
}
export type MembersChangeDocument = MembershipChange & {
  id: string
  membersOf: string
  type: 'change'
  membershipVersion: number
  ttl: number
}
