import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Directory, WriteOutcome } from '../group-links/directory.ts'
import type { SyncStep } from './plan-sync.ts'

/** Writes that all instances have reserved in one time window. */
export const WindowUse = Type.Object({ windowStartMs: Type.Number(), usedCount: Type.Number() })
export type WindowUse = Readonly<Static<typeof WindowUse>>

/** Stored windows: one for each scope. A scope is a tenant, or the application. */
export interface WindowStore {
  find(scope: string): Promise<Versioned<WindowUse> | undefined>
  /** `version` is undefined for the first one. @throws Refusal `StaleVersion` after a conflict. */
  save(scope: string, use: WindowUse, version: string | undefined): Promise<void>
}

/** `change`: writes of an incremental sync. `bulk`: writes of a job. */
export type WritePurpose = 'change' | 'bulk'

/** The service's own limits for writes to directories, below the directory's throttling limits. */
export interface WriteBudget {
  /** 0 when the writes are reserved; they count, sent or not. Otherwise milliseconds after which to ask again. */
  reserve(tenantId: string, writeCount: number, purpose: WritePurpose): Promise<number>
  /** Counts writes that were sent beyond a reservation. They reduce what is left of the window. */
  recordOverspend(tenantId: string, writeCount: number, purpose: WritePurpose): void
}

export type WriteBudgetOptions = {
  readonly windows: WindowStore
  /** Per tenant and 150 seconds. */
  readonly writesPerTenant: number
  /** Of all tenants together, per 300 seconds. */
  readonly writesInAll: number
  nowMs(): number
}

/** The time windows in which the directory counts writes. https://learn.microsoft.com/graph/throttling-limits */
const TENANT_WINDOW_MS = 150_000
const APPLICATION_WINDOW_MS = 300_000
const APPLICATION_SCOPE = 'application'

/** Share of every budget that only incremental syncs may use, so that they do not wait for jobs. */
const CHANGE_SHARE = 0.2

/**
 * Share of a budget that an instance reserves at a time. A budget is used up in about twenty writes of its document.
 */
const RESERVATION_SHARE = 0.05

/**
 * Share of a budget that each instance may use in a window without a reservation, for each purpose: four writes of a
 * tenant by default. A single change then costs no request to the database. Each of the two purposes has a function of
 * its own with at most 40 instances, so that all of them together exceed a budget by 16 %. The limits of the directory
 * are 25 % above the budgets, and it delays writes beyond them.
 */
const UNRESERVED_SHARE = 0.002

/** Wait after repeated conflicts with other instances. */
const CONFLICT_DELAY_MS = 250
const ATTEMPTS_AT_MOST = 5

type Scope = { readonly name: string; readonly limitCount: number; readonly windowMs: number }
type Reservation = { readonly windowStartMs: number; leftCount: number }

/**
 * Budgets that all instances share: one for each tenant, and one for all tenants together. In each window and for each
 * purpose, an instance may use `UNRESERVED_SHARE` of a budget without a reservation. All other writes are reserved in a
 * stored document: an instance reserves a part of the window and spends it without further reads. The reserved writes
 * of a window never exceed the budget, even if other tenants leave theirs unused. The only exception is one request of
 * more writes than the whole budget: it gets a window in which nothing is reserved yet. Writes that were sent beyond a
 * reservation are reserved together with the instance's next request in the same window for the same purpose.
 */
export function sharedWriteBudget({ windows, writesPerTenant, writesInAll, nowMs }: WriteBudgetOptions): WriteBudget {
  const reservations = new Map<string, Reservation>()
  const application: Scope = { name: APPLICATION_SCOPE, limitCount: writesInAll, windowMs: APPLICATION_WINDOW_MS }
  const tenantScope = (name: string): Scope => ({ name, limitCount: writesPerTenant, windowMs: TENANT_WINDOW_MS })
  const windowStartOf = ({ windowMs }: Scope): number => Math.floor(nowMs() / windowMs) * windowMs

  /** 0, or milliseconds to wait. */
  async function reserve(scope: Scope, writeCount: number, purpose: WritePurpose): Promise<number> {
    const windowStartMs = windowStartOf(scope)
    const own = ownOf(scope, purpose, windowStartMs)
    for (let attempts = 1; own.leftCount < writeCount; attempts += 1) {
      const found = await windows.find(scope.name)
      const usedCount = found?.value.windowStartMs === windowStartMs ? found.value.usedCount : 0
      const moreCount = reservable(scope, purpose, { usedCount, neededCount: writeCount - own.leftCount })
      if (moreCount === 0) return windowStartMs + scope.windowMs - nowMs()
      try {
        await windows.save(scope.name, { windowStartMs, usedCount: usedCount + moreCount }, found?.version)
        own.leftCount += moreCount
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        if (attempts === ATTEMPTS_AT_MOST) return CONFLICT_DELAY_MS
      }
    }
    own.leftCount -= writeCount
    return 0
  }

  function ownOf(scope: Scope, purpose: WritePurpose, windowStartMs: number): Reservation {
    const key = `${scope.name} ${purpose}`
    const known = reservations.get(key)
    if (known?.windowStartMs === windowStartMs) return known
    // Reservations of earlier windows are void, also those of tenants that have no more writes.
    for (const [name, { windowStartMs: startMs }] of reservations) {
      if (startMs + APPLICATION_WINDOW_MS <= windowStartMs) reservations.delete(name)
    }
    const own = { windowStartMs, leftCount: Math.floor(scope.limitCount * UNRESERVED_SHARE) }
    reservations.set(key, own)
    return own
  }

  return {
    async reserve(tenantId, writeCount, purpose) {
      const tenantWaitMs = await reserve(tenantScope(tenantId), writeCount, purpose)
      if (tenantWaitMs > 0) return tenantWaitMs
      const waitMs = await reserve(application, writeCount, purpose)
      const own = reservations.get(`${tenantId} ${purpose}`)
      if (waitMs > 0 && own !== undefined) own.leftCount += writeCount
      return waitMs
    },
    recordOverspend(tenantId, writeCount, purpose) {
      for (const scope of [tenantScope(tenantId), application]) {
        ownOf(scope, purpose, windowStartOf(scope)).leftCount -= writeCount
      }
    },
  }
}

/**
 * How many writes to reserve; 0 when too few are left. A request that exceeds the whole budget gets an unused window.
 */
function reservable(
  { limitCount }: Scope,
  purpose: WritePurpose,
  { usedCount, neededCount }: { usedCount: number; neededCount: number },
): number {
  const boundCount = purpose === 'bulk' ? Math.floor(limitCount * (1 - CHANGE_SHARE)) : limitCount
  const leftCount = Math.max(boundCount, usedCount === 0 ? neededCount : 0) - usedCount
  if (leftCount < neededCount) return 0
  return Math.min(leftCount, Math.max(neededCount, Math.ceil(limitCount * RESERVATION_SHARE)))
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
    const waitMs = await budget.reserve(tenantId, writeCount, 'bulk')
    if (waitMs === 0 || waitMs > WAIT_IN_PLACE_MS) return waitMs
    await sleep(waitMs)
    await afterWait()
  }
}

export type StepWrite = {
  readonly tenantId: string
  readonly groupId: string
  readonly step: SyncStep
  readonly purpose: WritePurpose
  /** When the lease for the step expires. */
  readonly deadlineMs: number
}

/**
 * Writes a step whose writes are reserved. Retries and accounts that are written one by one exceed the reservation; the
 * excess is charged to the next step.
 */
export async function writeStep(
  { tenantId, groupId, step, purpose, deadlineMs }: StepWrite,
  { directory, budget }: { readonly directory: Directory; readonly budget: WriteBudget },
): Promise<WriteOutcome> {
  const outcome =
    step.kind === 'add'
      ? await directory.addMembers(tenantId, groupId, step.accounts, deadlineMs)
      : await directory.removeMembers(tenantId, groupId, step.accounts, deadlineMs)
  const excessCount = outcome.sentCount - step.writeCount
  if (excessCount > 0) budget.recordOverspend(tenantId, excessCount, purpose)
  return outcome
}
