/**
 * A lease is the right of one worker at a time to act for a while. It is stored in a document, and acquired by a write
 * that quotes the version as read: of two workers that decide the same, one fails. Leases of sync jobs, evaluations,
 * event deliveries and requests with an idempotency key are acquired by this decision.
 */
export type StoredLease = {
  /** Null once it is released. */
  readonly owner: string | null
  /** The end of the lease by its owner's clock; 0 once it is released. */
  readonly untilMs: number
  /** Grows by one with each owner. Writes under an earlier epoch are refused. */
  readonly epoch: number
}

/** Milliseconds: the duration of a lease, and the limit for differences between the clocks of workers. */
export type LeaseTimes = { readonly leaseMs: number; readonly clockDifferenceMs: number }

export type LeaseDecision =
  | { readonly outcome: 'acquire'; readonly untilMs: number; readonly epoch: number }
  /** Another worker may acquire the lease after `forMs`. */
  | { readonly outcome: 'held'; readonly forMs: number }

/** A lease is renewed before the next step once it has less than this share of its time left. */
const RENEWED_BELOW_SHARE = 2 / 3

/**
 * Whether a worker may acquire a lease now. Its holder stops at `untilMs` by its own clock, which can be behind that of
 * this worker.
 * @param resumedOwner An owner that no longer acts: its lease is acquired although it has not ended.
 */
export function leaseDecision(
  { owner, untilMs, epoch }: StoredLease,
  { leaseMs, clockDifferenceMs }: LeaseTimes,
  nowMs: number,
  resumedOwner?: string,
): LeaseDecision {
  const forMs = owner === null ? 0 : Math.max(0, untilMs + clockDifferenceMs - nowMs)
  if (forMs > 0 && owner !== resumedOwner) return { outcome: 'held', forMs }
  return { outcome: 'acquire', untilMs: nowMs + leaseMs, epoch: epoch + 1 }
}

/** Whether the holder of a lease with `leftMs` before its end renews it before the next step. */
export function isRenewalDue(leftMs: number, leaseMs: number): boolean {
  return leftMs < leaseMs * RENEWED_BELOW_SHARE
}

/**
 * Milliseconds before the next attempt to acquire a lease that is held for `forMs`. A holder usually releases its lease
 * early. One that has not renewed it in time has probably crashed, so that attempts before the end would be in vain.
 */
export function retryDelayMs(forMs: number, clockDifferenceMs: number, usualDelayMs: number): number {
  return forMs > clockDifferenceMs ? Math.min(usualDelayMs, forMs) : forMs
}
