import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { SyncStep } from './plan-sync.ts'

/** Writes that all instances together have set aside for themselves in one window of time. */
export type WindowUse = { readonly windowStartMs: number; readonly usedCount: number }

/** Where windows are kept: one for each tenant, and one for the application under a name that no tenant has. */
export interface WindowStore {
  find(scope: string): Promise<Versioned<WindowUse> | undefined>
  /** `version` is undefined for the first one. @throws Refusal `StaleVersion` when another instance was faster. */
  keep(scope: string, use: WindowUse, version: string | undefined): Promise<void>
}

/** `change`: what follows a single change of a collection. `bulk`: what a job writes. */
export type WritePurpose = 'change' | 'bulk'

/** The service's own bounds on what it writes to directories, below those at which the directory refuses. */
export interface WriteBudget {
  /** Milliseconds after which to ask again; 0 when the writes may be sent now. They count then, sent or not. */
  ask(tenantId: string, writeCount: number, purpose: WritePurpose): Promise<number>
  /** Counts writes that have been sent beyond what was asked for: those who ask next in this window wait for them. */
  overspent(tenantId: string, writeCount: number, purpose: WritePurpose): void
}

export type WriteBudgetOptions = {
  readonly windows: WindowStore
  /** Per tenant and 150 seconds. */
  readonly writesPerTenant: number
  /** Of all tenants together, per 300 seconds. */
  readonly writesInAll: number
  nowMs(): number
}

/** The windows in which Graph counts. https://learn.microsoft.com/graph/throttling-limits */
const TENANT_WINDOW_MS = 150_000
const APPLICATION_WINDOW_MS = 300_000
const APPLICATION_SCOPE = 'application'

/** The part of every budget that jobs leave to single changes, so that these never wait behind them. */
const RESERVED_SHARE = 0.2

/** An instance sets aside this part of a budget at a time: twenty writes of a document for a budget used up. */
const SLICE_SHARE = 0.05

/** Several instances asked at the same moment. */
const CONTENDED_MS = 250
const TRIES_COUNT = 5

type Scope = { readonly name: string; readonly limitCount: number; readonly windowMs: number }
type Aside = { readonly windowStartMs: number; leftCount: number }

/** What a step costs: a PATCH adds twenty members for the price of one write, a removal is one. */
export function writesOf({ kind, accounts }: SyncStep): number {
  return kind === 'add' ? Math.ceil(accounts.length / 20) : accounts.length
}

/**
 * Budgets that instances share: each sets aside a slice of the present window in a document, and spends it without
 * asking anyone. One tenant gets no more than its own budget, whatever the others leave.
 */
export function sharedWriteBudget({ windows, writesPerTenant, writesInAll, nowMs }: WriteBudgetOptions): WriteBudget {
  const aside = new Map<string, Aside>()
  const application: Scope = { name: APPLICATION_SCOPE, limitCount: writesInAll, windowMs: APPLICATION_WINDOW_MS }
  const tenantScope = (name: string): Scope => ({ name, limitCount: writesPerTenant, windowMs: TENANT_WINDOW_MS })
  const windowStartOf = ({ windowMs }: Scope): number => Math.floor(nowMs() / windowMs) * windowMs

  /** 0, or milliseconds to wait. */
  async function take(scope: Scope, writeCount: number, purpose: WritePurpose): Promise<number> {
    const windowStartMs = windowStartOf(scope)
    const own = ownOf(scope, purpose, windowStartMs)
    for (let tries = 1; own.leftCount < writeCount; tries += 1) {
      const found = await windows.find(scope.name)
      const usedCount = found?.value.windowStartMs === windowStartMs ? found.value.usedCount : 0
      const moreCount = slice(scope, purpose, { usedCount, neededCount: writeCount - own.leftCount })
      if (moreCount === 0) return windowStartMs + scope.windowMs - nowMs()
      try {
        await windows.keep(scope.name, { windowStartMs, usedCount: usedCount + moreCount }, found?.version)
        own.leftCount += moreCount
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        if (tries === TRIES_COUNT) return CONTENDED_MS
      }
    }
    own.leftCount -= writeCount
    return 0
  }

  function ownOf(scope: Scope, purpose: WritePurpose, windowStartMs: number): Aside {
    const key = `${scope.name} ${purpose}`
    const known = aside.get(key)
    if (known?.windowStartMs === windowStartMs) return known
    // What was set aside in an earlier window is void, also that of tenants which nobody asks for any more.
    for (const [name, { windowStartMs: startMs }] of aside) {
      if (startMs + APPLICATION_WINDOW_MS <= windowStartMs) aside.delete(name)
    }
    const own = { windowStartMs, leftCount: 0 }
    aside.set(key, own)
    return own
  }

  return {
    async ask(tenantId, writeCount, purpose) {
      const tenantWaitMs = await take(tenantScope(tenantId), writeCount, purpose)
      if (tenantWaitMs > 0) return tenantWaitMs
      const waitMs = await take(application, writeCount, purpose)
      const own = aside.get(`${tenantId} ${purpose}`)
      if (waitMs > 0 && own !== undefined) own.leftCount += writeCount
      return waitMs
    },
    overspent(tenantId, writeCount, purpose) {
      for (const scope of [tenantScope(tenantId), application]) {
        ownOf(scope, purpose, windowStartOf(scope)).leftCount -= writeCount
      }
    },
  }
}

/** How many writes to set aside; 0 when the window has too few left. What is more than a whole budget gets a window of its own. */
function slice(
  { limitCount }: Scope,
  purpose: WritePurpose,
  { usedCount, neededCount }: { usedCount: number; neededCount: number },
): number {
  const boundCount = purpose === 'bulk' ? Math.floor(limitCount * (1 - RESERVED_SHARE)) : limitCount
  const leftCount = Math.max(boundCount, usedCount === 0 ? neededCount : 0) - usedCount
  if (leftCount < neededCount) return 0
  return Math.min(leftCount, Math.max(neededCount, Math.ceil(limitCount * SLICE_SHARE)))
}
