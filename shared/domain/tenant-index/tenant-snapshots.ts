import { coalesce } from '../../kernel/concurrency.ts'
import { CooperativeScheduler, type Task } from '../../kernel/cooperative-scheduler.ts'
import type { CoreObjectChanges, IncludedWrites } from './core-object-changes.ts'
import { RowLoader, type RowSaving } from './row-loader.ts'
import { RowMemory } from './row-memory.ts'
import { DEFAULT_ROW_SETTINGS, isSameSettings, type RowSettings, type RowSettingsSource } from './row-settings.ts'
import { APPLIED_AT_ONCE_COUNT, type SnapshotObject } from './rows/apply-objects.ts'
import { CollectingChanges, type RowChanges } from './rows/row-changes.ts'
import type { RowSnapshot } from './rows/row-snapshot.ts'
import { RowSaver } from './saved/row-saver.ts'
import { isOvergrown, newEntry, type SnapshotEntry } from './snapshot-entry.ts'
import { SnapshotReaders } from './snapshot-readers.ts'

export type SnapshotOptions = {
  /** Memory for the rows of all tenants. */
  readonly maxBytes: number
  /** A monotonic clock. */
  readonly elapsedMs?: () => number
  /** Shared by all long computations of the process. */
  readonly scheduler?: CooperativeScheduler
  /** Default: those of tenants without settings. */
  readonly settings?: RowSettingsSource
  /** Default: rows are neither saved nor read from saved ones. */
  readonly saving?: RowSaving
}

/**
 * A cache of the rows of recently used tenants, within a bound of memory. A snapshot is loaded once and then refreshed
 * with what was written since. A snapshot with too many unused values is loaded again, and so is one that was not
 * refreshed for so long that deletions have expired, or whose tenant has changed its settings.
 *
 * Long computations on a snapshot yield to others and see the state in which they began: a refresh during a computation
 * changes a fork, which replaces the snapshot in the cache. So does a large refresh, which yields to others as well.
 */
export class TenantSnapshots {
  readonly #entries = new Map<string, SnapshotEntry>()
  readonly #changes: CoreObjectChanges
  readonly #settings: RowSettingsSource
  readonly #memory: RowMemory
  readonly #loader: RowLoader
  readonly #saver: RowSaver | undefined
  readonly #scheduler: CooperativeScheduler
  readonly #readers = new SnapshotReaders()
  readonly #evictionListeners: ((tenantId: string) => void)[] = []
  readonly #current = coalesce((tenantId) => this.#currentEntry(tenantId))

  constructor(changes: CoreObjectChanges, { maxBytes, elapsedMs, scheduler, settings, saving }: SnapshotOptions) {
    const clock = elapsedMs ?? (() => performance.now())
    this.#changes = changes
    this.#settings = settings ?? { of: async () => DEFAULT_ROW_SETTINGS }
    this.#memory = new RowMemory(maxBytes, clock, (tenantId) => this.#onEvicted(tenantId))
    this.#scheduler = scheduler ?? new CooperativeScheduler(clock)
    this.#loader = new RowLoader({
      changes,
      memory: this.#memory,
      scheduler: this.#scheduler,
      elapsedMs: clock,
      saving,
    })
    this.#saver =
      saving &&
      new RowSaver(saving, {
        scheduler: this.#scheduler,
        elapsedMs: clock,
        settings: this.#settings,
        current: (tenantId) => this.#current(tenantId),
        whileUnchanged: (rows, work) => this.whileUnchanged(rows, work),
      })
  }

  /**
   * The tenant's rows with everything that was written before this call.
   * @throws Refusal `TenantTooLarge` when they exceed the memory for the rows of all tenants.
   */
  async fresh(tenantId: string): Promise<RowSnapshot> {
    return (await this.#current(tenantId)).rows
  }

  /** The next rows are read by settings that include all earlier writes of all instances. */
  forgetSettings(tenantId: string): void {
    this.#settings.forget?.(tenantId)
  }

  /** Runs a task that reads a snapshot. The snapshot does not change before the task has ended. */
  reading<T>(rows: RowSnapshot, work: Task<T>): Promise<T> {
    return this.whileUnchanged(rows, () => this.#scheduler.run(work))
  }

  /** Runs several tasks that must read one state. The snapshot does not change before `work` has ended. */
  whileUnchanged<T>(rows: RowSnapshot, work: () => Promise<T>): Promise<T> {
    return this.#readers.run(rows, work)
  }

  /** The settings by which the tenant's rows are read, with everything that was written before this call. */
  settingsOf(tenantId: string): Promise<RowSettings> {
    return this.#settings.of(tenantId)
  }

  /** Whether the tenant's rows are in memory. */
  holds(tenantId: string): boolean {
    return this.#entries.has(tenantId)
  }

  /** The bound of `sizeBytes`. */
  get maxBytes(): number {
    return this.#memory.maxBytes
  }

  /** The memory of the rows of all tenants, and of what was computed from them. */
  get sizeBytes(): number {
    return this.#memory.sizeBytes
  }

  /** Calls the listener whenever a tenant's rows have been evicted. */
  onEvicted(listener: (tenantId: string) => void): void {
    this.#evictionListeners.push(listener)
  }

  /** Counts what the caller keeps for a tenant with its rows. @returns False when the caller must not keep it. */
  cacheComputed(tenantId: string, computedBytes: number): boolean {
    return this.#memory.cacheComputed(tenantId, computedBytes)
  }

  /** Whether a refresh or a load has replaced these rows: they may lack changes that `takeChanges` returns. */
  hasReplaced(tenantId: string, rows: RowSnapshot): boolean {
    const entry = this.#entries.get(tenantId)
    return entry !== undefined && entry.rows !== rows
  }

  /** The changes since the last call for the tenant. */
  takeChanges(tenantId: string): RowChanges {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changes } = entry
    entry.changes = new CollectingChanges()
    return changes
  }

  /** What the rows in memory include, by the versions of the latest writes. Undefined for too many, or without rows. */
  includedWrites(tenantId: string): IncludedWrites | undefined {
    const entry = this.#entries.get(tenantId)
    return entry && this.#changes.includedWrites(entry.mark)
  }

  /**
   * Saves the rows of a tenant in memory for the instances that load them next, if that is due. Not for callers who
   * wait for an answer.
   */
  async saveIfDue(tenantId: string): Promise<void> {
    const entry = this.#entries.get(tenantId)
    if (entry !== undefined) await this.#saver?.saveIfDue(tenantId, entry)
  }

  async #currentEntry(tenantId: string): Promise<SnapshotEntry> {
    const entry = this.#entries.get(tenantId)
    const settings = this.#settings.of(tenantId)
    if (entry === undefined) return this.#load(tenantId, await settings)
    const isKnown = this.#changes.remembersSince(entry.mark)
    // A refresh that has begun must end before the next one, also when the settings cannot be read.
    const [read, refreshed] = await Promise.allSettled([settings, isKnown && this.#refresh(tenantId, entry)])
    if (refreshed.status === 'rejected') throw refreshed.reason
    if (read.status === 'rejected') throw read.reason
    if (refreshed.value && isSameSettings(read.value, entry.rows.settings)) return entry
    this.#drop(tenantId)
    return this.#load(tenantId, read.value)
  }

  /** @returns False when unused values take so much memory that the tenant must be loaded again. */
  async #refresh(tenantId: string, entry: SnapshotEntry): Promise<boolean> {
    const origin = entry.rows
    let isChanged = false
    try {
      const pages = this.#changes.since(tenantId, entry.mark)
      for await (const { objects: read, mark } of pages) {
        const objects = entry.applied.newAmong(read)
        const isLarge = objects.length > APPLIED_AT_ONCE_COUNT
        // A fork that this refresh has made has no readers yet.
        const isRead = entry.rows === origin && objects.length > 0 && (isLarge || this.#readers.isRead(origin))
        if (isRead) entry.rows = origin.forked()
        if (objects.length > 0) await this.#applyTo(entry, objects)
        isChanged ||= objects.length > 0
        entry.mark = mark
      }
    } catch (fault) {
      // After a partial refresh no mark is valid.
      this.#drop(tenantId)
      throw fault
    }
    if (isChanged && isOvergrown(entry)) return false
    this.#memory.use(tenantId, entry.rows.sizeBytes)
    return true
  }

  async #applyTo(entry: SnapshotEntry, objects: readonly SnapshotObject[]): Promise<void> {
    const isFew = objects.length <= APPLIED_AT_ONCE_COUNT
    const change = isFew ? entry.rows.apply(objects) : await this.#scheduler.run(entry.rows.applyTask(objects))
    if (!isFew) await this.#scheduler.run(entry.rows.sortIds())
    entry.applied.add(objects)
    const changedCount = entry.saved.changedCount + Math.min(objects.length, change.changedCount)
    entry.saved = { ...entry.saved, changedCount }
    if (entry.changes === 'everything') return
    if (entry.changes.count + change.changedCount > CHANGES_KNOWN_COUNT) entry.changes = 'everything'
    else entry.changes.add(change)
  }

  async #load(tenantId: string, settings: RowSettings): Promise<SnapshotEntry> {
    const load = this.#memory.startLoad(tenantId)
    let entry: SnapshotEntry | undefined
    try {
      for (;;) {
        const loaded = await this.#loader.load(load, settings)
        if (loaded !== undefined) {
          entry = newEntry(loaded)
          return entry
        }
        await this.#memory.turnOf(load)
      }
    } finally {
      this.#memory.endLoad(load, entry !== undefined)
      if (entry !== undefined) this.#entries.set(tenantId, entry)
    }
  }

  #onEvicted(tenantId: string): void {
    this.#entries.delete(tenantId)
    for (const listener of this.#evictionListeners) listener(tenantId)
  }

  #drop(tenantId: string): void {
    this.#entries.delete(tenantId)
    this.#memory.remove(tenantId)
  }
}

/** With more changed objects, all rows are evaluated. This takes less time and memory than to list the objects. */
const CHANGES_KNOWN_COUNT = 20_000
