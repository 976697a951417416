import type { CollectionMembers, MembersBySlot, Row } from './collection-members.ts'

export type EvaluationContext = {
  /** The beginning of the day of evaluation in the tenant's time zone, in milliseconds since 1970. */
  readonly todayMs: number
  /** Undefined for a collection that does not exist, which has no members. */
  membersOf(collectionId: string): CollectionMembers | MembersBySlot | undefined
  /**
   * For members that are found one by one. Returns true when it is not known whether the row is a member: a step that
   * asks for it must end, and it is known in the next one.
   */
  asksFor?(collectionId: string, row: Row): boolean
}

/** A context whose members are named by id. */
export type NamedMembersContext = Pick<EvaluationContext, 'todayMs' | 'asksFor'> & {
  membersOf(collectionId: string): CollectionMembers | undefined
}
