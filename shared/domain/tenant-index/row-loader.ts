import type { CooperativeScheduler } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import { fingerprintOf } from '../core/custom-types.ts'
import { type ChangeMark, type CoreObjectChanges, markAt } from './core-object-changes.ts'
import type { RowLoad, RowMemory } from './row-memory.ts'
import type { RowSettings } from './row-settings.ts'
import type { SnapshotObject } from './rows/apply-objects.ts'
import { RowSnapshot } from './rows/row-snapshot.ts'
import { RowBlockReader } from './saved/row-blocks.ts'
import { type SavedRows, type SavedRowsStore, type SavedState, UnusableRows } from './saved/saved-rows.ts'

/** The rows of a tenant, and the changes that they contain. */
export type LoadedRows = {
  readonly rows: RowSnapshot
  readonly mark: ChangeMark
  readonly saved: SavedState
}

export type RowSaving = {
  readonly store: SavedRowsStore
  readonly log: Log
  nowMs(): number
}

type LoaderDependencies = {
  readonly changes: CoreObjectChanges
  readonly memory: RowMemory
  readonly scheduler: CooperativeScheduler
  /** A monotonic clock. */
  readonly elapsedMs: () => number
  /** Without it, rows are neither saved nor read from saved ones. */
  readonly saving: RowSaving | undefined
}

/**
 * Saved rows expire two hours before a deletion that they do not contain. A load that was interrupted so long uses
 * none.
 */
const READ_WITHIN_MS = 30 * 60_000

/** Loads the rows of tenants from saved rows and what was written since, or else from all core objects. */
export class RowLoader {
  readonly #deps: LoaderDependencies

  constructor(deps: LoaderDependencies) {
    this.#deps = deps
  }

  /**
   * The rows with everything that any instance wrote before this call. Undefined when other loads need the memory first.
   */
  async load(load: RowLoad, settings: RowSettings): Promise<LoadedRows | undefined> {
    const { saving } = this.#deps
    const stored = await saving?.store.find(load.tenantId)
    const version = stored?.version
    // Other rows are read from the objects, and saved again.
    if (stored?.rows !== undefined && isUsable(stored.rows, settings)) {
      try {
        return await this.#fromSaved(load, stored.rows, version, settings)
      } catch (error) {
        if (!(error instanceof UnusableRows)) throw error
        saving?.log.warn('core-objects.saved-rows-unusable', { tenantId: load.tenantId, reason: String(error) })
      }
    }
    return this.#read(load, {
      rows: new RowSnapshot(undefined, settings),
      since: undefined,
      version,
      completeUntilS: undefined,
    })
  }

  async #fromSaved(
    load: RowLoad,
    saved: SavedRows,
    version: string | undefined,
    settings: RowSettings,
  ): Promise<LoadedRows | undefined> {
    const { scheduler, elapsedMs } = this.#deps
    const { completeUntilS, objectCount } = saved
    const startMs = elapsedMs()
    const rows = new RowSnapshot(undefined, settings)
    const reader = new RowBlockReader()
    let readCount = 0
    const expectedBytes = async () => (rows.sizeBytes * objectCount) / readCount
    for await (const block of saved.blocks()) {
      const objects = await scheduler.run(reader.objectsIn(block))
      readCount += objects.length
      if (!(await this.#add(load, rows, objects, expectedBytes))) return undefined
    }
    if (readCount !== objectCount) throw new UnusableRows(`${readCount} of ${objectCount} saved objects were read`)
    if (elapsedMs() - startMs > READ_WITHIN_MS) throw new UnusableRows('Reading the saved rows took too long')
    return this.#read(load, { rows, since: markAt(completeUntilS, elapsedMs()), version, completeUntilS })
  }

  async #read(
    load: RowLoad,
    {
      rows,
      since,
      version,
      completeUntilS,
    }: {
      readonly rows: RowSnapshot
      readonly since: ChangeMark | undefined
    } & Omit<SavedState, 'changedCount'>,
  ): Promise<LoadedRows | undefined> {
    const { changes, memory, scheduler } = this.#deps
    const { tenantId } = load
    let mark = since
    let readCount = 0
    const savedCount = rows.objectCount
    const expectedBytes = async () => (rows.sizeBytes * (await changes.count(tenantId))) / (savedCount + readCount)
    for await (const page of changes.since(tenantId, since)) {
      readCount += page.objects.length
      if (!(await this.#add(load, rows, page.objects, expectedBytes))) return undefined
      mark = page.mark
    }
    await scheduler.run(rows.sortIds())
    if (!(await memory.grow(load, rows.sizeBytes, expectedBytes))) return undefined
    if (mark === undefined) throw new Error(`Reading the core objects of tenant ${tenantId} returned no mark`)
    return {
      rows,
      mark,
      saved: { version, completeUntilS, changedCount: since === undefined ? 0 : readCount },
    }
  }

  /** @returns False when other loads need the memory first. */
  async #add(
    load: RowLoad,
    rows: RowSnapshot,
    objects: readonly SnapshotObject[],
    expectedBytes: () => Promise<number>,
  ): Promise<boolean> {
    if (objects.length === 0) return true
    const { memory, scheduler } = this.#deps
    await scheduler.run(rows.applyTask(objects))
    return memory.grow(load, rows.sizeBytes, expectedBytes)
  }
}

/**
 * Whether the rows were saved by the same types, and the connectors are what they were: otherwise deletions that the rows
 * miss have possibly expired.
 */
function isUsable({ types, connectors }: SavedRows, settings: RowSettings): boolean {
  const isSameConnectors = connectors === undefined || connectors === settings.deletions.connectors
  return isSameConnectors && types === fingerprintOf(settings.types)
}
