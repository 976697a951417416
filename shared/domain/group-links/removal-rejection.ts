import type { GroupLink } from './group-link.ts'
import type { HeldRemovals, RemovalPlanStore } from './removal-plan.ts'
import type { SyncJob } from './sync-job.ts'

/** That a person has rejected a plan. It counts for each of its accounts while one of them is due, also in other plans. */
export type Rejection = NonNullable<HeldRemovals['rejection']>

/** The last rejection: of the held plan, or of one before. */
export function rejectionOf(held: HeldRemovals | null): Rejection | undefined {
  if (held === null) return undefined
  const { planId, rejectedBy = null, rejectedAt, rejection } = held
  // First that of the held plan: the version before keeps what is known of another one when it rejects a plan.
  return rejectedAt ? { planId, rejectedBy, rejectedAt } : rejection
}

/** Held removals with what is known of a rejection: of this plan, which is marked, or of another one. */
export function underRejection(held: HeldRemovals, rejection: Rejection | undefined): HeldRemovals {
  const { rejection: _former, ...plan } = held
  const marks = { rejectedBy: null, rejectedAt: null }
  if (rejection === undefined) return { ...plan, ...marks }
  const { planId, rejectedBy, rejectedAt } = rejection
  return planId === held.planId ? { ...plan, rejectedBy, rejectedAt } : { ...plan, ...marks, rejection }
}

/**
 * Whether removals of a link were rejected after a job was approved: its approval does not count any more. Any other
 * rejection than the one that the approver read is later, even by an earlier clock.
 */
export function isRejectedSince(
  { createdAt, approvedRejectedAt }: Pick<SyncJob, 'createdAt' | 'approvedRejectedAt'>,
  held: HeldRemovals | null,
): boolean {
  const rejectedAt = rejectionOf(held)?.rejectedAt
  if (rejectedAt === undefined) return false
  // A job of the version before does not name the rejection.
  if (approvedRejectedAt === undefined) return Date.parse(rejectedAt) > Date.parse(createdAt)
  return rejectedAt !== approvedRejectedAt
}

/** The accounts whose removal from the group of a link a person has rejected: all, when those of the plan have expired. */
export async function rejectedAccounts(
  { tenantId, heldRemovals }: Pick<GroupLink, 'tenantId' | 'heldRemovals'>,
  { removalPlans }: { readonly removalPlans: Pick<RemovalPlanStore, 'accountsOf'> },
): Promise<ReadonlySet<string> | 'all'> {
  const planId = rejectionOf(heldRemovals)?.planId
  if (planId === undefined) return new Set()
  const accounts = await removalPlans.accountsOf({ tenantId, planId })
  return accounts.size > 0 ? accounts : 'all'
}
