import type { CooperativeScheduler } from '../../../kernel/cooperative-scheduler.ts'
import { fingerprintOf } from '../../core/custom-types.ts'
import type { RowSaving } from '../row-loader.ts'
import type { RowSettingsSource } from '../row-settings.ts'
import type { RowSnapshot } from '../rows/row-snapshot.ts'
import { rowBlocks } from './row-blocks.ts'
import { savedOrders } from './saved-order.ts'
import { isSaveDue, type SavedState } from './saved-rows.ts'

/** The rows of a tenant in memory, and what is known of the saved ones. */
export type SavableRows = {
  readonly rows: RowSnapshot
  saved: SavedState
  /** By the monotonic clock. */
  saveNotBeforeMs: number
}

type SaverDependencies = {
  readonly scheduler: CooperativeScheduler
  /** A monotonic clock. */
  readonly elapsedMs: () => number
  readonly settings: RowSettingsSource
  /** The rows with everything that any instance wrote before this call. */
  readonly current: (tenantId: string) => Promise<SavableRows>
  /** Runs work that reads rows. The rows do not change before it has ended. */
  readonly whileUnchanged: <T>(rows: RowSnapshot, work: () => Promise<T>) => Promise<T>
}

/** Whether rows are saved is considered once in this time. */
const SAVES_CONSIDERED_EVERY_MS = 10 * 60_000

/** The clocks of the claim and of the core objects differ by less. */
const STORE_CLOCKS_DIFFER_S = 15

/** Saves the rows of tenants for the instances that load them next. */
export class RowSaver {
  readonly #saving: RowSaving
  readonly #deps: SaverDependencies

  constructor(saving: RowSaving, deps: SaverDependencies) {
    this.#saving = saving
    this.#deps = deps
  }

  /**
   * Saves the rows if enough has changed since they were saved, and if no other instance has saved them or does so now.
   */
  async saveIfDue(tenantId: string, entry: SavableRows): Promise<void> {
    const { elapsedMs } = this.#deps
    if (elapsedMs() < entry.saveNotBeforeMs || !this.#isDue(entry)) return
    entry.saveNotBeforeMs = elapsedMs() + SAVES_CONSIDERED_EVERY_MS
    const stored = await this.#saving.store.find(tenantId)
    if (stored?.version !== entry.saved.version) {
      // Another instance has saved the rows.
      entry.saved = { version: stored?.version, completeUntilS: stored?.rows?.completeUntilS, changedCount: 0 }
    }
    if (this.#isDue(entry)) await this.#save(tenantId, entry.saved.version)
  }

  #isDue({ rows, saved }: SavableRows): boolean {
    return isSaveDue(saved, rows.objectCount, this.#saving.nowMs() / 1000)
  }

  async #save(tenantId: string, version: string | undefined): Promise<void> {
    // A change of a connector after this is found when the rows are loaded.
    const { deletions } = await this.#deps.settings.of(tenantId)
    const claim = await this.#saving.store.claim(tenantId)
    if (claim === undefined) return
    // The rows then include all writes before the claim, by whichever instance.
    const entry = await this.#deps.current(tenantId)
    const { rows } = entry
    const completeUntilS = claim.claimedAtS - STORE_CLOCKS_DIFFER_S
    const types = fingerprintOf(rows.settings.types)
    const { objectCount } = rows
    const saved = { completeUntilS, objectCount, types, deletions, blocks: () => this.#blocksOf(rows) }
    const newVersion = await this.#deps.whileUnchanged(rows, () => claim.replace(saved, version))
    if (newVersion !== undefined) entry.saved = { version: newVersion, completeUntilS, changedCount: 0 }
  }

  async *#blocksOf(rows: RowSnapshot): AsyncGenerator<string> {
    const { scheduler } = this.#deps
    const orders = await scheduler.run(savedOrders(rows))
    for (const block of rowBlocks(rows, orders)) yield await scheduler.run(block)
  }
}
