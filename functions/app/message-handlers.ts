import type { Static, TSchema } from 'typebox'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { type DerivedState, sweepRestoredTenant } from '../../shared/domain/sync/restored-tenant.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { conforms } from '../../shared/http/validation.ts'
import { MembershipChangeMessage, SweepMessage, SyncJobMessage } from '../../shared/messaging/message-schemas.ts'

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
  'membership-changes': messageHandler(MembershipChangeMessage, (message, sinceMs) =>
    syncIncrementally(message, links, sinceMs),
  ),
  sweeps: messageHandler(SweepMessage, async ({ tenantId, afterRestore = false }) => {
    if (afterRestore) return sweepRestoredTenant(tenantId, { ...links, derivedState })
    try {
      await sweepTenant(tenantId, links)
    } finally {
      await tellHealth(tenantId)
    }
  }),
  'sync-jobs': messageHandler(SyncJobMessage, (message) => runSyncJob(message, links)),
})

/** The handler of the messages with this schema. */
export function messageHandler<Schema extends TSchema>(
  schema: Schema,
  handle: (message: Static<Schema>, sinceMs?: number) => Promise<void>,
): MessageHandler {
  return {
    accepts: (message) => conforms(schema, message),
    handle: (message, sinceMs) => handle(message as Static<Schema>, sinceMs),
  }
}
