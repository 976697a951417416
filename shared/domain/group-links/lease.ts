/** The right to write to a link's group. It ends by itself, so that nobody has to clean up after a dead worker. */
export type Lease = {
  /** A sync job's id, or another name that its holder alone uses. */
  readonly owner: string
  readonly untilMs: number
  /** One higher than any before. Whoever finds another one on the link has lost the lease. */
  readonly token: number
}

/** A lease with a smaller share of its time left is prolonged before the next step. */
const RENEWED_BELOW_SHARE = 2 / 3

export type LeaseHolder = { readonly lease: Lease | null; readonly lastToken: number }

export type LeaseDecision =
  | { readonly outcome: 'take'; readonly lease: Lease }
  | { readonly outcome: 'held'; readonly untilMs: number }

/**
 * Whether `owner` may write to the group now. A live lease is respected, the owner's own too (its worker may be alive),
 * unless the owner has put its work down on purpose: then `resumes` is true.
 */
export function leaseDecision(
  { lease, lastToken }: LeaseHolder,
  { owner, resumes = false, leaseMs }: { owner: string; resumes?: boolean; leaseMs: number },
  nowMs: number,
): LeaseDecision {
  const isLive = lease !== null && lease.untilMs > nowMs
  if (isLive && !(resumes && lease.owner === owner)) return { outcome: 'held', untilMs: lease.untilMs }
  return { outcome: 'take', lease: { owner, untilMs: nowMs + leaseMs, token: lastToken + 1 } }
}

/** The lease with its full time again, or undefined when enough of it is left. */
export function renewedLease(lease: Lease, leaseMs: number, nowMs: number): Lease | undefined {
  return lease.untilMs - nowMs < leaseMs * RENEWED_BELOW_SHARE ? { ...lease, untilMs: nowMs + leaseMs } : undefined
}
