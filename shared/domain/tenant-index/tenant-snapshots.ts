import { coalesce } from '../../kernel/concurrency.ts'
import { CooperativeScheduler, type Task } from '../../kernel/cooperative-scheduler.ts'
import { type CoreObject, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { RowSnapshot } from './row-snapshot.ts'
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
  /** Whether all deletions since the mark can still be read. Deleted objects expire; an older reader must start again. */
  remembersSince(mark: ChangeMark): boolean
  /**
   * All objects written since the mark, soft-deleted ones included, in pages; without a mark, all objects. Some objects are
   * returned again, because the store's clock has whole seconds.
   */
  since(
    tenantId: string,
    mark: ChangeMark | undefined,
  ): AsyncIterable<{ objects: readonly CoreObject[]; mark: ChangeMark }>
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
  /** Its share of the limit, in rows. */
  weight: number
  /** Undefined until loaded. */
  seenAtLoadCount: number | undefined
  mark: ChangeMark | undefined
  changes: 'everything' | CollectingChanges
}

/** The weight of a tenant without rows: 200 KB of columns and dictionaries. */
const ROWS_PER_EMPTY_TENANT_COUNT = 300

/**
 * A cache of the rows of recently used tenants. A snapshot is loaded once and then refreshed with what was written since.
 * The least recently used snapshots are evicted when there are too many rows. A snapshot with too many unused values is
 * loaded again, and so is one that was not refreshed for so long that deletions have expired.
 *
 * Long computations on a snapshot yield to others and see the state in which they began: a refresh during a computation
 * changes a fork, which replaces the snapshot in the cache.
 */
export class TenantSnapshots {
  readonly #entries = new Map<string, Entry>()
  readonly #changes: CoreObjectChanges
  readonly #rowsAtMost: number
  readonly #scheduler: CooperativeScheduler
  /** The number of running computations on a snapshot. */
  readonly #readerCounts = new Map<RowSnapshot, number>()
  readonly #refresh = coalesce((tenantId) => this.#refreshed(tenantId))

  /** @param scheduler Shared by all long computations of the process. */
  constructor(
    changes: CoreObjectChanges,
    rowsAtMost: number,
    scheduler = new CooperativeScheduler(() => performance.now()),
  ) {
    this.#changes = changes
    this.#rowsAtMost = rowsAtMost
    this.#scheduler = scheduler
  }

  /** The tenant's rows with everything that was written before this call. */
  async fresh(tenantId: string): Promise<RowSnapshot> {
    return (await this.#refresh(tenantId)).rows
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

  /** The changes since the last call for the tenant. */
  takeChanges(tenantId: string): RowChanges {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changes } = entry
    entry.changes = new CollectingChanges()
    return changes
  }

  async #refreshed(tenantId: string): Promise<Entry> {
    const cached = this.#entries.get(tenantId)
    const isUsable = cached?.mark !== undefined && this.#changes.remembersSince(cached.mark)
    const entry: Entry = isUsable
      ? cached
      : {
          rows: new RowSnapshot(),
          weight: ROWS_PER_EMPTY_TENANT_COUNT,
          seenAtLoadCount: undefined,
          mark: undefined,
          changes: 'everything',
        }
    let isChanged = false
    try {
      for await (const { objects, mark } of this.#changes.since(tenantId, entry.mark)) {
        if (objects.length > 0 && this.#readerCounts.has(entry.rows)) entry.rows = entry.rows.forked()
        const change = entry.rows.apply(objects)
        isChanged ||= objects.length > 0
        if (entry.changes !== 'everything') entry.changes.add(change)
        entry.mark = mark
      }
    } catch (fault) {
      // After a partial refresh no mark is valid.
      this.#entries.delete(tenantId)
      throw fault
    }
    this.#entries.delete(tenantId)
    if (isChanged) entry.weight = entry.rows.rowCount + ROWS_PER_EMPTY_TENANT_COUNT
    if (isChanged && isOvergrown(entry)) return entry
    entry.seenAtLoadCount ??= entry.rows.seenCount
    this.#entries.set(tenantId, entry)
    this.#makeRoom(tenantId)
    return entry
  }

  #makeRoom(needed: string): void {
    let weight = this.#entries.values().reduce((sum, entry) => sum + entry.weight, 0)
    for (const [tenantId, entry] of this.#entries) {
      if (weight <= this.#rowsAtMost || tenantId === needed) return
      this.#entries.delete(tenantId)
      weight -= entry.weight
    }
  }
}

/** A snapshot may grow by this number of values in any case. */
const GROWTH_ALLOWED_COUNT = 200_000

/** Whether the snapshot has more than doubled its ids and values since it was loaded. */
function isOvergrown({ rows, seenAtLoadCount }: Entry): boolean {
  if (seenAtLoadCount === undefined) return false
  return rows.seenCount - seenAtLoadCount > Math.max(seenAtLoadCount, GROWTH_ALLOWED_COUNT)
}

/** Changes collected between two calls of `takeChanges`. */
class CollectingChanges implements KnownChanges {
  readonly ids = { identity: new Set<string>(), orgUnit: new Set<string>(), relationship: new Set<string>() }
  readonly attributes = new Set<string>()
  rowsMoved = false

  add({ changed, attributes, rowsMoved }: SnapshotChange): void {
    for (const objectType of OBJECT_TYPES) for (const id of changed[objectType]) this.ids[objectType].add(id)
    for (const attribute of attributes) this.attributes.add(attribute)
    this.rowsMoved ||= rowsMoved
  }
}
