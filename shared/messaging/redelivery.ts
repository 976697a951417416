import type { Doorbell, Doorbells } from '../domain/doorbell.ts'

/** A message as it came, and how often its handling has failed before. */
export type Delivery = { readonly doorbell: Doorbell; readonly id: string; readonly failureCount: number }

const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = 300_000
/** Delays vary by this share, so that messages that failed together do not come back together. */
const JITTER_SHARE = 0.2

/**
 * Failures after which a message is left to the queue, which delivers it a few times more at once and then gives it to
 * the dead letters: the delays before make an hour and a half, which an outage of the database may take.
 */
const FAILURES_AT_MOST_COUNT = 22

/**
 * Milliseconds after which a message whose handling has failed comes again; undefined when that has been often enough.
 * @param jitter 0 to 1, evenly spread.
 */
export function redeliveryDelayMs(failureCount: number, jitter: number): number | undefined {
  if (failureCount > FAILURES_AT_MOST_COUNT) return undefined
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (failureCount - 1), LONGEST_DELAY_MS)
  return Math.round(delayMs * (1 - JITTER_SHARE + 2 * JITTER_SHARE * jitter))
}

/**
 * Handles a message. One that cannot be handled now is sent again, for later: the queue itself delivers it anew at once,
 * and an outage of a minute would use up all of its deliveries.
 * @returns What it failed with and was sent again for; undefined when it was handled.
 * @throws The fault, when the message has failed often enough or cannot be sent.
 */
export async function handledOrPostponed(
  { doorbell, id, failureCount }: Delivery,
  handle: () => Promise<void>,
  { doorbells, random }: { readonly doorbells: Doorbells; random(): number },
): Promise<{ readonly fault: unknown; readonly delayMs: number } | undefined> {
  try {
    await handle()
    return undefined
  } catch (fault) {
    const failures = failureCount + 1
    const delayMs = redeliveryDelayMs(failures, random())
    if (delayMs === undefined) throw fault
    try {
      await doorbells.ring(doorbell, { id: `${id}:again:${failures}`, delayMs, failureCount: failures })
    } catch {
      throw fault
    }
    return { fault, delayMs }
  }
}
