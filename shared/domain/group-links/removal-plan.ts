import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, membersNamedIn, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { Page } from '../../kernel/versioned.ts'
import { MEMBER_CHANGE_CAUSES, type MemberChangeCause } from '../history/member-history.ts'

const Count = Type.Integer({ minimum: 0 })

const HoldReason = Described(
  OneOf(['TooMany', 'EmptyCollection']),
  '`TooMany`: the removals exceed `limit`, or a person has rejected some of them. `EmptyCollection`: the collection is empty, and the link has not added ' +
    'anybody yet.',
)
export type HoldReason = Static<typeof HoldReason>

/** The change of members behind something that a link does or holds. */
export const ChangeCause = Closed({
  kind: Described(OneOf(MEMBER_CHANGE_CAUSES), 'As `cause` in the history of members.'),
  actorId: Described(Type.String(), 'As in the history of members.'),
  collectionId: Described(Guid, 'The linked collection.'),
  at: Timestamp,
})

export type ChangeCause = Static<typeof ChangeCause>

/** A change of the history as the cause of something. */
export function toChangeCause(
  change: { readonly kind: MemberChangeCause; readonly actorId: string; readonly atMs: number } | null,
  collectionId: string,
): ChangeCause | null {
  if (change === null) return null
  const { kind, actorId, atMs } = change
  return { kind, actorId, collectionId, at: toTimestamp(atMs) }
}

const holdProperties = {
  planId: Described(
    Guid,
    'Identifies the link and the exact set of accounts: the same set has the same id, another set has another.',
  ),
  reason: HoldReason,
  count: Described(Count, 'Number of accounts that were not removed.'),
  limit: Described(Count, 'Number of accounts that may be removed within 24 hours.'),
  removedInWindow: Described(
    Count,
    'Number of accounts that the service has removed within the last 24 hours, approved removals included.',
  ),
  groupSize: Described(Count, 'Number of users in the group when the earliest of these removals was decided.'),
  createdAt: Described(Timestamp, 'When the removals of this plan were first held.'),
  cause: Described(
    Nullable(ChangeCause),
    'The newest entry of the history of members that is behind these removals; null when unknown.',
  ),
  rejectedBy: Described(
    Nullable(Guid),
    'Object id (`oid`) of the user who rejected the plan; null unless it was rejected. It may still be approved.',
  ),
  rejectedAt: Described(Nullable(Timestamp), 'When the plan was rejected.'),
}

/** Removals that the removal guard holds, as shown with the link. */
export const HeldRemovalsDto = Closed(holdProperties)
export type HeldRemovalsDto = Static<typeof HeldRemovalsDto>

/** As stored with the link. */
export const HeldRemovals = Type.Object({
  ...holdProperties,
  /** When the accounts of the plan were last stored. They expire. */
  storedAtMs: Type.Number(),
  // A plan that was held by the version before has none of these until it is held again.
  cause: Type.Optional(holdProperties.cause),
  rejectedBy: Type.Optional(holdProperties.rejectedBy),
  rejectedAt: Type.Optional(holdProperties.rejectedAt),
  /** Another plan that a person has rejected, which has some of these accounts. */
  rejection: Type.Optional(
    Type.Object({
      planId: Guid,
      rejectedBy: holdProperties.rejectedBy,
      rejectedAt: Timestamp,
    }),
  ),
  /** Who caused the removals: they do not approve them where the settings require a second person. */
  actorIds: Type.Optional(Type.Array(Type.String())),
  /** `heldSinceMs` of the plan before. Absent where there was none, and in plans of the version before. */
  heldSince: Type.Optional(Timestamp),
})
export type HeldRemovals = Readonly<Static<typeof HeldRemovals>>

/**
 * When the link began to hold removals, or the change behind them was made, over all plans without a break: one more
 * account makes another plan.
 */
export function heldSinceMs({ heldSince, cause, createdAt }: HeldRemovals): number {
  return Math.min(...[heldSince, cause?.at, createdAt].flatMap((at) => (at === undefined ? [] : Date.parse(at))))
}

export const RemovalPlanDto = Closed({
  ...holdProperties,
  accounts: Type.Array(
    Closed({
      directoryObjectId: Guid,
      identityId: Described(Nullable(Guid), 'The identity with this account; null without one.'),
      displayName: Described(Nullable(Type.String()), "The identity's display name; null when unknown."),
    }),
  ),
})
export type RemovalPlanDto = Static<typeof RemovalPlanDto>

const Notes = (description: string) =>
  Type.Object({ notes: Type.Optional(Nullable(Type.String({ maxLength: 2048, description }))) })

/** Body of an approval. */
export const RemovalApproval = Notes('Stored in the audit, with the id of the sync job.')
export type RemovalApproval = Static<typeof RemovalApproval>

/** Body of a rejection. */
export const RemovalRejection = Notes('Stored in the audit.')
export type RemovalRejection = Static<typeof RemovalRejection>

export const ApprovedRemovals = Closed({
  jobId: Described(Guid, 'The sync job that removes the approved accounts.'),
})

/** Identifies a plan. Its accounts never change. */
export type PlanKey = { readonly tenantId: string; readonly planId: string }

/** Seconds for which a stored plan is kept. A plan that is still held is stored again well before. */
export const PLAN_KEPT_S = 60 * 24 * 60 * 60
export const PLAN_STORED_AGAIN_AFTER_MS = 30 * 24 * 60 * 60 * 1000

/** Stored accounts of held plans. Reads include all earlier writes of all instances. */
export interface RemovalPlanStore {
  /** Safe to repeat. @param accounts in ascending order. */
  save(plan: PlanKey, accounts: readonly string[]): Promise<void>
  /** Accounts in ascending order, after the given one. Empty when the plan has expired. */
  page(plan: PlanKey, after: string | undefined, size: number): Promise<Page<string>>
  /** False when the plan has expired. */
  includes(plan: PlanKey, account: string): Promise<boolean>
  /** Empty when the plan has expired. */
  accountsOf(plan: PlanKey): Promise<ReadonlySet<string>>
}

export type AccountHolder = { readonly identityId: string; readonly displayName: string | null }

/** Live identities by directory account. */
export interface AccountHolders {
  /** The holder of each account that has one; of several, the one with the lowest id. */
  ofAccounts(tenantId: string, accounts: readonly string[]): Promise<ReadonlyMap<string, AccountHolder>>
  /** The display names of live identities by id; null for one without a name. */
  namesOf(tenantId: string, identityIds: readonly string[]): Promise<ReadonlyMap<string, string | null>>
}

/** The members of held removals that clients see. */
export function toHeldRemovalsDto(held: HeldRemovals): HeldRemovalsDto {
  const { cause = null, rejectedBy = null, rejectedAt = null } = held
  return { ...membersNamedIn(HeldRemovalsDto, held), cause, rejectedBy, rejectedAt }
}
