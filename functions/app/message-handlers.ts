import type { TenantEvaluator } from '../../shared/domain/evaluation/tenant-evaluator.ts'
import type { TenantStore } from '../../shared/domain/group-links/tenant-store.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { type DerivedState, sweepRestoredTenant } from '../../shared/domain/sync/restored-tenant.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { conforms } from '../../shared/http/validation.ts'
import { MESSAGE_SCHEMAS, type MessageOf } from '../../shared/kernel/messages.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'

export type MessageHandler = {
  /** Whether the message has the schema of its queue. One that does not can never be handled. */
  accepts(message: unknown): boolean
  /** @param sinceMs when the request or timer run began that the message comes from. */
  handle(message: unknown, sinceMs?: number): Promise<void>
}

/** The handlers of the messages that concern group links. @param tellHealth of connectors, with each sweep. */
export const linkMessages = (
  links: SyncDependencies,
  derivedState: DerivedState,
  tellHealth: (tenantId: string) => Promise<void>,
) => ({
  ...messageHandler('membership-changes', (message, sinceMs) => syncIncrementally(message, links, sinceMs)),
  ...messageHandler('sweeps', async ({ tenantId, afterRestore = false }) => {
    if (afterRestore) return sweepRestoredTenant(tenantId, { ...links, derivedState })
    try {
      await sweepTenant(tenantId, links)
    } finally {
      await tellHealth(tenantId)
    }
  }),
  ...messageHandler('sync-jobs', (message) => runSyncJob(message, links)),
})

/** The handler of evaluations. A version before this one registered no tenant for its connectors. */
export const evaluationMessages = (
  evaluator: Pick<TenantEvaluator, 'evaluate'>,
  tenants: Pick<TenantStore, 'register'>,
) =>
  messageHandler('evaluations', async ({ tenantId }) => {
    await tenants.register(tenantId)
    await evaluator.evaluate(tenantId)
  })

/** The handler of the messages of a queue, under its name. */
export function messageHandler<Name extends QueueName>(
  queue: Name,
  handle: (message: MessageOf<Name>, sinceMs?: number) => Promise<void>,
): Record<Name, MessageHandler> {
  const handler: MessageHandler = {
    accepts: (message) => conforms(MESSAGE_SCHEMAS[queue], message),
    handle: (message, sinceMs) => handle(message as MessageOf<Name>, sinceMs),
  }
  return { [queue]: handler } as Record<Name, MessageHandler>
}
