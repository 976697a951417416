import { enqueueAudit } from '../../kernel/enqueue-messages.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { FIRST_ID } from './audit-core-objects.ts'
import { WRITES_ENDED_AFTER_MS } from './pending-join-keys.ts'

/**
 * Writes a change of a connector. When it can join, split or change core objects, all of the tenant are merged under its
 * rules, in batches: at once, and when no write goes on that has read former rules. The latter is enqueued first, so that
 * a crash after the write, which a repeated request would not notice, loses nothing.
 */
export async function mergingAgain<T>(
  isChange: boolean,
  tenantId: string,
  write: () => Promise<T>,
  { messageQueue, newId, nowMs }: { readonly messageQueue: MessageQueue; newId(): string; nowMs(): number },
): Promise<T> {
  const enqueue = (delayMs: number) => {
    const message = { tenantId, after: FIRST_ID, stage: 'keys' as const, beganAtMs: nowMs() + delayMs }
    return enqueueAudit(message, newId(), { messageQueue }, delayMs)
  }
  if (isChange) await enqueue(WRITES_ENDED_AFTER_MS)
  const written = await write()
  if (isChange) await enqueue(0)
  return written
}
