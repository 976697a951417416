import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import { TokenBucket } from '../../kernel/token-bucket.ts'
import type { Directory, WriteOutcome } from '../group-links/directory.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { SyncStep } from './plan-sync.ts'

/** `change`: writes of an incremental sync. `bulk`: writes of a job. */
export type WritePurpose = 'change' | 'bulk'

/** The limits of one instance for writes to directories. */
export interface WriteBudget {
  /** 0 when the writes are reserved; they count, sent or not. Otherwise milliseconds after which to ask again. */
  reserve(tenantId: string, writeCount: number, purpose: WritePurpose): number
  /** Counts writes that were sent beyond a reservation. They reduce what is left. */
  recordOverspend(tenantId: string, writeCount: number): void
}

export type WriteBudgetOptions = {
  /** Per tenant and 150 seconds, of all instances together. */
  readonly writesPerTenant: number
  /** Of all tenants together, per 300 seconds, of all instances together. */
  readonly writesTotal: number
  /** A monotonic clock. */
  elapsedMs(): number
}

/** The times in which the directory counts writes. https://learn.microsoft.com/graph/throttling-limits */
const TENANT_REFILL_MS = 150_000
const TOTAL_REFILL_MS = 300_000

/**
 * What one instance uses of a limit. A tenant's jobs rarely run in more than two instances at a time. The directory
 * refuses what is too much all the same, and says how long to wait: `Retry-After`.
 */
const TENANT_SHARE = 1 / 2
const TOTAL_SHARE = 1 / 4

/** Share of each bucket that only incremental syncs may use, so that they do not wait for jobs. */
const CHANGE_SHARE = 0.2

/** Tenants whose writes are counted. One that is evicted, the longest without a write, starts anew. */
const MAX_TENANTS_COUNT = 10_000

/** A token bucket for each tenant, and one for all of them. */
export function instanceWriteBudget({ writesPerTenant, writesTotal, elapsedMs }: WriteBudgetOptions): WriteBudget {
  const ofTenant = { capacityCount: Math.max(1, writesPerTenant * TENANT_SHARE), refillMs: TENANT_REFILL_MS }
  const ofAll = { capacityCount: Math.max(1, writesTotal * TOTAL_SHARE), refillMs: TOTAL_REFILL_MS }
  const buckets = new LRUCache<string, TokenBucket>(upToEntries(MAX_TENANTS_COUNT))
  const total = new TokenBucket(ofAll, elapsedMs())
  const bucketOf = (tenantId: string): TokenBucket => {
    const bucket = buckets.get(tenantId) ?? new TokenBucket(ofTenant, elapsedMs())
    buckets.set(tenantId, bucket)
    return bucket
  }
  return {
    reserve(tenantId, writeCount, purpose) {
      const [nowMs, share] = [elapsedMs(), purpose === 'bulk' ? CHANGE_SHARE : 0]
      const bucket = bucketOf(tenantId)
      const tenantWaitMs = bucket.take(writeCount, nowMs, ofTenant.capacityCount * share)
      if (tenantWaitMs > 0) return tenantWaitMs
      const waitMs = total.take(writeCount, nowMs, ofAll.capacityCount * share)
      if (waitMs > 0) bucket.charge(-writeCount, nowMs)
      return waitMs
    },
    recordOverspend(tenantId, writeCount) {
      for (const bucket of [bucketOf(tenantId), total]) bucket.charge(writeCount, elapsedMs())
    },
  }
}

/** A longer wait for the budget is left to the queue. */
const WAIT_IN_PLACE_MS = 10_000

/**
 * Reserves a job's writes, waiting in place for a short time.
 * @param afterWait called after each wait; what it throws ends the reservation.
 * @returns Milliseconds of a longer wait after which to ask again, or 0 when the writes are reserved.
 */
export async function reserveForJob(
  tenantId: string,
  writeCount: number,
  { budget, sleep }: { readonly budget: WriteBudget; sleep(delayMs: number): Promise<void> },
  afterWait: () => Promise<void>,
): Promise<number> {
  for (;;) {
    const waitMs = budget.reserve(tenantId, writeCount, 'bulk')
    if (waitMs === 0 || waitMs > WAIT_IN_PLACE_MS) return waitMs
    await sleep(waitMs)
    await afterWait()
  }
}

export type StepWrite = {
  readonly tenantId: string
  readonly groupId: string
  readonly step: SyncStep
  /** When the lease for the step expires. */
  readonly deadlineMs: number
  /** Accounts that the last job could not add. */
  readonly unresolved: readonly string[]
}

type WriteDependencies = Pick<LinkDependencies, 'log'> & { readonly directory: Directory; readonly budget: WriteBudget }

/**
 * Writes a step whose writes are reserved. Retries and accounts that are written one by one exceed the reservation; the
 * excess counts as well.
 */
export async function writeStep(
  { tenantId, groupId, step, deadlineMs, unresolved }: StepWrite,
  { directory, budget, log }: WriteDependencies,
): Promise<WriteOutcome> {
  const outcome =
    step.kind === 'add'
      ? await directory.addMembers(tenantId, groupId, step.accounts, deadlineMs, unresolved)
      : await directory.removeMembers(tenantId, groupId, step.accounts, deadlineMs)
  const excessCount = outcome.sentCount - step.writeCount
  if (excessCount > 0) budget.recordOverspend(tenantId, excessCount)
  const { refusal } = outcome
  if (refusal !== undefined) log.warn('link.accounts-refused', { tenantId, groupId, reason: refusal })
  return outcome
}
