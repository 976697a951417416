import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import { enqueueDeadline } from '../../kernel/enqueue-messages.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { DAY_MS } from '../../kernel/timestamp.ts'
import { dueAtMs } from './ends.ts'
import { tellingDueMs, withEndingTold } from './reminders.ts'
import type { ReconciledRequests, RequestChange, RequestStore } from './request-dependencies.ts'

/** What ends within this time of one another shares a message. */
const PERIOD_MS = 20_000

/** A message is not delivered before the request that it is for is stored. Saving takes much less. */
const SAVED_WITHIN_MS = 20_000

/** A sweep looks so often for what ends later than a message is sent for at once. */
const LOOK_INTERVAL_MS = DAY_MS

/** Longer than the interval: a sweep can come an hour late. */
const HORIZON_MS = LOOK_INTERVAL_MS + 2 * 60 * 60 * 1000

/** Messages that this process has sent and that were not delivered yet: most requests that end together share one. */
const SENT_COUNT = 10_000

type Dependencies = { readonly messageQueue: MessageQueue; nowMs(): number }

/** Enqueues the messages that end memberships and requests, and tell of them before, for sweeps. */
export interface DeadlineSchedule {
  /** Whether the last look for ends, at this time, is so long ago that a next one is due. */
  isDue(lookedAtMs: number | undefined): boolean
  /**
   * Enqueues a message for each time at which something of the tenant ends or is told of within the next day, or was
   * missed. Repeating it does no harm.
   */
  enqueue(tenantId: string): Promise<void>
}

/**
 * A message is scheduled for each time at which something ends: by the save that sets the end if that is within a day,
 * otherwise by the daily look of a sweep. The queue keeps it while the service is down. A lost message is replaced by
 * the next look.
 */
export function deadlineSchedule(requests: Pick<ReconciledRequests, 'dueTimes'>, deps: Dependencies): DeadlineSchedule {
  return {
    isDue: (lookedAtMs) => lookedAtMs === undefined || deps.nowMs() - lookedAtMs >= LOOK_INTERVAL_MS,
    async enqueue(tenantId) {
      const times = await requests.dueTimes(tenantId, deps.nowMs() + HORIZON_MS)
      const deliveries = new Set(times.map((dueMs) => deliveryMs(dueMs, deps.nowMs())))
      for (const atMs of deliveries) await enqueueDeadline({ tenantId, dueAtMs: atMs }, '', deps)
    },
  }
}

/**
 * The store, whose saves first enqueue a message for each end that they set: a save without its message would leave the
 * membership until the next look. A message without its save has no effect. A membership that is saved with a near end
 * is told to end in the same transaction.
 */
export function withDeadlineMessages<Store extends Pick<RequestStore, 'save'>>(
  requests: Store,
  deps: Dependencies,
): Store {
  const sent = new LRUCache<string, true>(upToEntries(SENT_COUNT))
  return {
    ...requests,
    async save(saved) {
      const changes = saved.map((change) => ({ ...change, after: withEndingTold(change.after, deps.nowMs()) }))
      for (const { tenantId, dueMs } of newDeadlines(changes)) {
        const nowMs = deps.nowMs()
        if (dueMs > nowMs + HORIZON_MS) continue
        const atMs = deliveryMs(dueMs, nowMs)
        const key = `${tenantId} ${atMs}`
        if (sent.has(key)) continue
        await enqueueDeadline({ tenantId, dueAtMs: atMs }, '', deps)
        sent.set(key, true)
      }
      return requests.save(changes)
    },
  }
}

function newDeadlines(changes: readonly RequestChange[]): { readonly tenantId: string; readonly dueMs: number }[] {
  return changes.flatMap(({ before, after }) =>
    [dueAtMs, tellingDueMs].flatMap((dueOf) => {
      const dueMs = dueOf(after)
      const isKnown = before !== undefined && dueOf(before.value) === dueMs
      return dueMs === undefined || isKnown ? [] : [{ tenantId: after.tenantId, dueMs }]
    }),
  )
}

/** The end of the period in which something ends, or of the one that is next. */
function deliveryMs(dueMs: number, nowMs: number): number {
  return Math.ceil(Math.max(dueMs, nowMs + SAVED_WITHIN_MS) / PERIOD_MS) * PERIOD_MS
}
