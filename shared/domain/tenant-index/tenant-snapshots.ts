import { coalesce } from '../../kernel/concurrency.ts'
import { CooperativeScheduler, type Task } from '../../kernel/cooperative-scheduler.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { type RowLoad, RowMemory } from './row-memory.ts'
import { APPLIED_AT_ONCE_COUNT, RowSnapshot, type SnapshotObject } from './row-snapshot.ts'
import type { SnapshotChange } from './snapshot-change.ts'

/** The position of a reader of changes. Opaque to the reader; kept in memory only. */
export type ChangeMark = {
  /** The time of the latest write that was read, by the store's clock. */
  readonly seenUntilS: number
  /** The time of that read, by this process's clock. */
  readonly seenAtMs: number
  /** The latest write on the first page of a reading. Later pages can miss writes that were made after it. */
  readonly firstSeenS: number
  /** The store's clock had come this far at least when the last reading began. */
  readonly readFromS: number
  /** When the last reading began, by this process's clock. */
  readonly readAtMs: number
}

/** Core objects in the order of their last write. */
export interface CoreObjectChanges {
  /** Later reads include all earlier writes of all instances. */
  catchUp(tenantId: string): Promise<void>
  /** Whether all deletions since the mark can still be read. Deleted objects expire; an older reader must start again. */
  remembersSince(mark: ChangeMark): boolean
  /**
   * All objects written since the mark, soft-deleted ones included, in pages; without a mark, all objects. Some objects are
   * returned again, because the store's clock has whole seconds.
   */
  since(
    tenantId: string,
    mark: ChangeMark | undefined,
  ): AsyncIterable<{ objects: readonly SnapshotObject[]; mark: ChangeMark }>
  /** The number of objects of a tenant, including soft-deleted ones. */
  count(tenantId: string): Promise<number>
}

/** The changes of rows; `everything` when they are not known in detail. */
export type RowChanges = 'everything' | KnownChanges

export type KnownChanges = {
  /** The objects whose membership may have changed. */
  readonly ids: Readonly<Record<ObjectType, ReadonlySet<string>>>
  /** Schema names of the attributes whose values changed. */
  readonly attributes: ReadonlySet<string>
  /** Whether rows were added, removed or composed differently. Then any condition may be affected, whatever it reads. */
  readonly rowsMoved: boolean
}

type Entry = {
  rows: RowSnapshot
  /** `seenCount` of the rows when they were loaded. */
  readonly loadedCount: number
  mark: ChangeMark
  changes: 'everything' | CollectingChanges
}

export type SnapshotOptions = {
  /** Memory for the rows of all tenants. */
  readonly bytesAtMost: number
  /** A monotonic clock. */
  readonly elapsedMs?: () => number
  /** Shared by all long computations of the process. */
  readonly scheduler?: CooperativeScheduler
}

/**
 * A cache of the rows of recently used tenants, within a bound of memory. A snapshot is loaded once and then refreshed with
 * what was written since. A snapshot with too many unused values is loaded again, and so is one that was not refreshed for
 * so long that deletions have expired.
 *
 * Long computations on a snapshot yield to others and see the state in which they began: a refresh during a computation
 * changes a fork, which replaces the snapshot in the cache. So does a large refresh, which yields to others as well.
 */
export class TenantSnapshots {
  readonly #entries = new Map<string, Entry>()
  readonly #changes: CoreObjectChanges
  readonly #memory: RowMemory
  readonly #scheduler: CooperativeScheduler
  /** The number of running computations on a snapshot. */
  readonly #readerCounts = new Map<RowSnapshot, number>()
  readonly #evictionListeners: ((tenantId: string) => void)[] = []
  readonly #current = coalesce((tenantId) => this.#currentEntry(tenantId))

  constructor(changes: CoreObjectChanges, { bytesAtMost, elapsedMs, scheduler }: SnapshotOptions) {
    const clock = elapsedMs ?? (() => performance.now())
    this.#changes = changes
    this.#memory = new RowMemory(bytesAtMost, clock, (tenantId) => this.#onEvicted(tenantId))
    this.#scheduler = scheduler ?? new CooperativeScheduler(clock)
  }

  /**
   * The tenant's rows with everything that this instance has seen, or wrote, before this call.
   * @throws Refusal `TenantTooLarge` when they exceed the memory for the rows of all tenants.
   */
  async fresh(tenantId: string): Promise<RowSnapshot> {
    return (await this.#current(tenantId)).rows
  }

  /** The same with everything that any instance wrote before this call. Costs one more request to the database. */
  async current(tenantId: string): Promise<RowSnapshot> {
    await this.catchUp(tenantId)
    return this.fresh(tenantId)
  }

  /** Later calls of `fresh` include everything that any instance wrote before this call. */
  catchUp(tenantId: string): Promise<void> {
    return this.#changes.catchUp(tenantId)
  }

  /** Runs a task that reads a snapshot. The snapshot does not change before the task has ended. */
  async reading<T>(rows: RowSnapshot, work: Task<T>): Promise<T> {
    this.#readerCounts.set(rows, (this.#readerCounts.get(rows) ?? 0) + 1)
    try {
      return await this.#scheduler.run(work)
    } finally {
      const remainingCount = (this.#readerCounts.get(rows) as number) - 1
      if (remainingCount > 0) this.#readerCounts.set(rows, remainingCount)
      else this.#readerCounts.delete(rows)
    }
  }

  /** Whether the tenant's rows are in memory. */
  holds(tenantId: string): boolean {
    return this.#entries.has(tenantId)
  }

  /** The bound of `sizeBytes`. */
  get bytesAtMost(): number {
    return this.#memory.bytesAtMost
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
  keepComputed(tenantId: string, computedBytes: number): boolean {
    return this.#memory.keepComputed(tenantId, computedBytes)
  }

  /** The changes since the last call for the tenant. */
  takeChanges(tenantId: string): RowChanges {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changes } = entry
    entry.changes = new CollectingChanges()
    return changes
  }

  async #currentEntry(tenantId: string): Promise<Entry> {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return this.#load(tenantId)
    if (this.#changes.remembersSince(entry.mark) && (await this.#refresh(tenantId, entry))) return entry
    this.#drop(tenantId)
    return this.#load(tenantId)
  }

  /** @returns False when unused values take so much memory that the tenant must be loaded again. */
  async #refresh(tenantId: string, entry: Entry): Promise<boolean> {
    const origin = entry.rows
    let isChanged = false
    try {
      for await (const { objects, mark } of this.#changes.since(tenantId, entry.mark)) {
        const isLarge = objects.length > APPLIED_AT_ONCE_COUNT
        // A fork that this refresh has made has no readers yet.
        const isRead = entry.rows === origin && objects.length > 0 && (isLarge || this.#readerCounts.has(origin))
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

  async #applyTo(entry: Entry, objects: readonly SnapshotObject[]): Promise<void> {
    const isFew = objects.length <= APPLIED_AT_ONCE_COUNT
    const change = isFew ? entry.rows.apply(objects) : await this.#scheduler.run(entry.rows.applyTask(objects))
    if (!isFew) await this.#scheduler.run(entry.rows.sortIds())
    if (entry.changes === 'everything') return
    if (entry.changes.count + change.changedCount > CHANGES_KNOWN_COUNT) entry.changes = 'everything'
    else entry.changes.add(change)
  }

  async #load(tenantId: string): Promise<Entry> {
    const load = this.#memory.startLoad(tenantId)
    let entry: Entry | undefined
    try {
      for (;;) {
        entry = await this.#loaded(load)
        if (entry !== undefined) return entry
        await this.#memory.turnOf(load)
      }
    } finally {
      this.#memory.endLoad(load, entry !== undefined)
      if (entry !== undefined) this.#entries.set(tenantId, entry)
    }
  }

  /** Undefined when other loads need the memory first. */
  async #loaded(load: RowLoad): Promise<Entry | undefined> {
    const { tenantId } = load
    const rows = new RowSnapshot()
    let mark: ChangeMark | undefined
    let readCount = 0
    const expectedBytes = async () => (rows.sizeBytes * (await this.#changes.count(tenantId))) / readCount
    for await (const page of this.#changes.since(tenantId, undefined)) {
      await this.#scheduler.run(rows.applyTask(page.objects))
      readCount += page.objects.length
      if (!(await this.#memory.grow(load, rows.sizeBytes, expectedBytes))) return undefined
      mark = page.mark
    }
    await this.#scheduler.run(rows.sortIds())
    if (!(await this.#memory.grow(load, rows.sizeBytes, expectedBytes))) return undefined
    if (mark === undefined) throw new Error(`Reading the core objects of tenant ${tenantId} returned no mark`)
    return { rows, loadedCount: rows.seenCount, mark, changes: 'everything' }
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

/** A snapshot may grow by this number of values in any case. */
const GROWTH_ALLOWED_COUNT = 200_000

/** Whether the snapshot has more than doubled its ids and values since it was loaded. */
function isOvergrown({ rows, loadedCount }: Entry): boolean {
  return rows.seenCount - loadedCount > Math.max(loadedCount, GROWTH_ALLOWED_COUNT)
}

/** With more changed objects, all rows are evaluated. This takes less time and memory than to list the objects. */
const CHANGES_KNOWN_COUNT = 20_000

/** Changes collected between two calls of `takeChanges`. */
class CollectingChanges implements KnownChanges {
  readonly ids = { identity: new Set<string>(), orgUnit: new Set<string>(), relationship: new Set<string>() }
  readonly attributes = new Set<string>()
  rowsMoved = false

  get count(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.ids[type].size, 0)
  }

  add({ changed, attributes, rowsMoved }: SnapshotChange): void {
    for (const objectType of OBJECT_TYPES) for (const id of changed[objectType]) this.ids[objectType].add(id)
    for (const attribute of attributes) this.attributes.add(attribute)
    this.rowsMoved ||= rowsMoved
  }
}
