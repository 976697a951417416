/** Before the end of a lock, its renewal is sent this much earlier: or at half of the time that is left. */
const MARGIN_MS = 10_000
/** A lock that has ended by this clock may be held by that of the broker: it is not renewed in a loop without a pause. */
const LEAST_DELAY_MS = 1000

type LockedMessage = { readonly lockedUntilUtc?: Date }

export type LockRenewal = {
  /** @returns The end of the renewed lock. */
  renew(): Promise<Date>
  /** Called when a renewal fails. The lock is lost then, or soon will be. */
  onFailure(error: unknown): void
  /** The lock is renewed for so long at most. */
  readonly renewedForMs: number
}

/**
 * Renews the lock of a message while the work on it runs. The renewal of the SDK (7.9) keeps each message forever whose
 * connection was lost while it was processed: it stops renewals by the name of the link, which a new connection changes.
 */
export async function whileLocked<Result>(
  { lockedUntilUtc }: LockedMessage,
  { renew, onFailure, renewedForMs }: LockRenewal,
  work: () => Promise<Result>,
): Promise<Result> {
  const endMs = Date.now() + renewedForMs
  let timer: NodeJS.Timeout | undefined
  let isDone = false
  const schedule = (lockedUntilMs: number) => {
    if (isDone || lockedUntilMs >= endMs) return
    const leftMs = lockedUntilMs - Date.now()
    timer = setTimeout(
      () => {
        renew().then(
          (until) => schedule(until.getTime()),
          (error: unknown) => {
            if (!isDone) onFailure(error)
          },
        )
      },
      leftMs <= 0 ? LEAST_DELAY_MS : leftMs - Math.min(MARGIN_MS, leftMs / 2),
    )
  }
  if (lockedUntilUtc !== undefined) schedule(lockedUntilUtc.getTime())
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
  }
}
