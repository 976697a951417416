import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'

/** A member that a sync job has added to its group or removed from it. */
export const JobChangeDto = Closed({
  change: OneOf(['Added', 'Removed']),
  directoryObjectId: Guid,
  identityId: Described(Nullable(Guid), 'The identity with this account now; null without one.'),
  displayName: Described(Nullable(Type.String()), "The identity's display name; null when unknown."),
  at: Described(Timestamp, 'When the service knew that the directory had written the change.'),
})
export type JobChangeDto = Static<typeof JobChangeDto>

/** Accounts that a job has written, with its counts in the same transaction. */
export type JobChanges = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly atMs: number
}

/** A written account. */
export type JobChange = {
  readonly change: 'Added' | 'Removed'
  readonly account: string
  readonly atMs: number
}
