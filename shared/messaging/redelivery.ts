import type { Message, MessageQueue } from '../kernel/messages.ts'

/** A received message, and the number of times that its handling has failed before. */
export type Delivery = { readonly message: Message; readonly id: string; readonly failureCount: number }

const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = 300_000
/** Delays vary by this share, so that messages that failed together are not delivered together again. */
const JITTER_SHARE = 0.2

/**
 * After this number of failures, the message is left to the queue, which delivers it a few more times at once and then
 * makes it a dead letter. The delays add up to an hour and a half, enough for an outage of the database.
 */
const MAX_FAILURES_COUNT = 22

/**
 * Milliseconds after which a failed message is delivered again. Undefined after too many failures.
 * @param jitter 0 to 1, evenly distributed.
 */
export function redeliveryDelayMs(failureCount: number, jitter: number): number | undefined {
  if (failureCount > MAX_FAILURES_COUNT) return undefined
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (failureCount - 1), LONGEST_DELAY_MS)
  return Math.round(delayMs * (1 - JITTER_SHARE + 2 * JITTER_SHARE * jitter))
}

/**
 * Handles a message. When that fails, enqueues the message again with a growing delay: the queue itself would deliver
 * it again at once, and an outage of a minute would use up all of its deliveries.
 * @returns The fault and the delay when the message was enqueued again; undefined when it was handled.
 * @throws The fault, after too many failures or when the message cannot be enqueued.
 */
export async function handleWithRedelivery(
  { message, id, failureCount }: Delivery,
  handle: () => Promise<void>,
  { messageQueue, random }: { readonly messageQueue: MessageQueue; random(): number },
): Promise<{ readonly fault: unknown; readonly delayMs: number } | undefined> {
  try {
    await handle()
    return undefined
  } catch (fault) {
    const failures = failureCount + 1
    const delayMs = redeliveryDelayMs(failures, random())
    if (delayMs === undefined) throw fault
    try {
      await messageQueue.enqueue(message, { id: `${id}:again:${failures}`, delayMs, failureCount: failures })
    } catch {
      throw fault
    }
    return { fault, delayMs }
  }
}

/** The number of failures in the properties of a received message. */
export function failureCountOf(properties: unknown): number {
  const { failures } = (properties ?? {}) as { readonly failures?: unknown }
  return typeof failures === 'number' && Number.isInteger(failures) ? failures : 0
}

/** The id of a message without the suffix of its redelivery. Ids have at most 128 characters. */
export function originalId(messageId: string): string {
  return messageId.split(':again:', 1)[0] ?? messageId
}
