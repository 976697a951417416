import { coalescing } from '../coalescing.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { ChangeMark, CoreObjectChanges } from '../core/core-object-changes.ts'
import { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { SnapshotChange } from '../criteria/snapshot-change.ts'
import { type Steps, TimeSlices } from '../time-slices.ts'

/** What rows have changed; `everything` when that is all that is known. */
export type RowChanges = 'everything' | GatheredChanges

export type GatheredChanges = {
  /** The objects whose membership may be another now. */
  readonly ids: Readonly<Record<ObjectType, ReadonlySet<string>>>
  /** Schema names of the attributes whose values changed. */
  readonly attributes: ReadonlySet<string>
  /** Whether rows came, went or were put together otherwise: then it does not matter what a condition reads. */
  readonly rowsMoved: boolean
}

type Entry = {
  rows: RowSnapshot
  /** What it counts for, in rows. */
  weight: number
  /** Undefined until loaded. */
  seenAtLoadCount: number | undefined
  mark: ChangeMark | undefined
  changes: 'everything' | GatheringChanges
}

/** What a tenant takes beyond its rows, in rows: an empty one has 200 KB of columns and dictionaries. */
const ROWS_WORTH_OF_A_TENANT = 300

/**
 * The rows of the tenants that were looked at lately, in memory. A snapshot is loaded once and from then on refreshed
 * by what was written since; those unused for longest are dropped when there are too many rows. One that has grown by
 * values that nobody has any more is loaded anew, and one that was not refreshed for so long that deletions may not be
 * told any more.
 *
 * Long computations on a snapshot pause for others, and see it as it was when they began: what arrives meanwhile goes
 * into a fork of it, which takes its place.
 */
export class TenantSnapshots {
  readonly #entries = new Map<string, Entry>()
  readonly #changes: CoreObjectChanges
  readonly #rowsAtMost: number
  readonly #slices: TimeSlices
  /** How many computations are under way on a snapshot. */
  readonly #readerCounts = new Map<RowSnapshot, number>()
  readonly #refresh = coalescing((tenantId) => this.#refreshed(tenantId))

  /** @param slices the one that all long computations of the process share. */
  constructor(changes: CoreObjectChanges, rowsAtMost: number, slices = new TimeSlices(() => performance.now())) {
    this.#changes = changes
    this.#rowsAtMost = rowsAtMost
    this.#slices = slices
  }

  /** The tenant's rows with everything that was written before this call. */
  async fresh(tenantId: string): Promise<RowSnapshot> {
    return (await this.#refresh(tenantId)).rows
  }

  /** Does work that reads a snapshot, slice by slice. The snapshot does not change before the work is done. */
  async reading<T>(rows: RowSnapshot, work: Steps<T>): Promise<T> {
    this.#readerCounts.set(rows, (this.#readerCounts.get(rows) ?? 0) + 1)
    try {
      return await this.#slices.run(work)
    } finally {
      const othersCount = (this.#readerCounts.get(rows) as number) - 1
      if (othersCount > 0) this.#readerCounts.set(rows, othersCount)
      else this.#readerCounts.delete(rows)
    }
  }

  /** Whether the tenant's rows are in memory. */
  holds(tenantId: string): boolean {
    return this.#entries.has(tenantId)
  }

  /** What has changed since the last time that this was asked for the tenant. */
  takeChanges(tenantId: string): RowChanges {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changes } = entry
    entry.changes = new GatheringChanges()
    return changes
  }

  async #refreshed(tenantId: string): Promise<Entry> {
    const known = this.#entries.get(tenantId)
    const isTold = known?.mark !== undefined && this.#changes.remembersSince(known.mark)
    const entry: Entry = isTold
      ? known
      : {
          rows: new RowSnapshot(),
          weight: ROWS_WORTH_OF_A_TENANT,
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
      // Half a refresh has no mark that is true of it.
      this.#entries.delete(tenantId)
      throw fault
    }
    this.#entries.delete(tenantId)
    if (isChanged) entry.weight = entry.rows.rowCount + ROWS_WORTH_OF_A_TENANT
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

/** Values seen since a snapshot was loaded that it may keep in any case. */
const SEEN_SINCE_AT_LEAST = 200_000

/** Whether more of what a snapshot keeps has come since it was loaded than was there then: it is loaded anew. */
function isOvergrown({ rows, seenAtLoadCount }: Entry): boolean {
  if (seenAtLoadCount === undefined) return false
  return rows.seenCount - seenAtLoadCount > Math.max(seenAtLoadCount, SEEN_SINCE_AT_LEAST)
}

/** Grows by what is added, however much there is already: it may be long until anybody takes it. */
class GatheringChanges implements GatheredChanges {
  readonly ids = { identity: new Set<string>(), orgUnit: new Set<string>(), relationship: new Set<string>() }
  readonly attributes = new Set<string>()
  rowsMoved = false

  add({ changed, attributes, rowsMoved }: SnapshotChange): void {
    for (const objectType of OBJECT_TYPES) for (const id of changed[objectType]) this.ids[objectType].add(id)
    for (const attribute of attributes) this.attributes.add(attribute)
    this.rowsMoved ||= rowsMoved
  }
}
