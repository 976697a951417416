/** The right to write to a link's group. It ends by itself, so that nobody has to clean up after a dead worker. */
export type Lease = {
  /** A sync job's id, or another name that its holder alone uses. */
  readonly owner: string
  readonly untilMs: number
  /** One higher than any before. Whoever finds another one on the link has lost the lease. */
  readonly token: number
}

/** A worker that died holds up its link for this long at most. */
export const LEASE_MS = 60_000

/** A lease with less left than this is prolonged before the next step. */
const RENEWED_BELOW_MS = 40_000

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
  { owner, resumes = false }: { owner: string; resumes?: boolean },
  nowMs: number,
): LeaseDecision {
  const isLive = lease !== null && lease.untilMs > nowMs
  if (isLive && !(resumes && lease.owner === owner)) return { outcome: 'held', untilMs: lease.untilMs }
  return { outcome: 'take', lease: { owner, untilMs: nowMs + LEASE_MS, token: lastToken + 1 } }
}

/** The lease with its full time again, or undefined when enough of it is left. */
export function renewedLease(lease: Lease, nowMs: number): Lease | undefined {
  return lease.untilMs - nowMs < RENEWED_BELOW_MS ? { ...lease, untilMs: nowMs + LEASE_MS } : undefined
}
