import { coalescing } from '../coalescing.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { ChangeMark, CoreObjectChanges } from '../core/core-object-changes.ts'
import { RowSnapshot } from '../criteria/row-snapshot.ts'

/** Ids of the objects that changed, by type; `everything` when that is all that is known. */
export type ChangedIds = 'everything' | ReadonlyMap<ObjectType, ReadonlySet<string>>

type Entry = {
  readonly rows: RowSnapshot
  mark: ChangeMark | undefined
  changed: 'everything' | Map<ObjectType, Set<string>>
}

/**
 * The rows of the tenants that were looked at lately, in memory. A snapshot is loaded once and from then on refreshed
 * by what was written since; those unused for longest are dropped when there are too many rows.
 */
export class TenantSnapshots {
  readonly #entries = new Map<string, Entry>()
  readonly #changes: CoreObjectChanges
  readonly #rowsAtMost: number
  readonly #refresh = coalescing((tenantId) => this.#refreshed(tenantId))

  constructor(changes: CoreObjectChanges, rowsAtMost: number) {
    this.#changes = changes
    this.#rowsAtMost = rowsAtMost
  }

  /** The tenant's rows with everything that was written before this call. */
  async fresh(tenantId: string): Promise<RowSnapshot> {
    return (await this.#refresh(tenantId)).rows
  }

  /** What has changed since the last time that this was asked for the tenant. */
  takeChanges(tenantId: string): ChangedIds {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changed } = entry
    entry.changed = new Map()
    return changed
  }

  async #refreshed(tenantId: string): Promise<Entry> {
    const entry = this.#entries.get(tenantId) ?? { rows: new RowSnapshot(), mark: undefined, changed: 'everything' }
    try {
      for await (const { objects, mark } of this.#changes.since(tenantId, entry.mark)) {
        const change = entry.rows.apply(objects)
        if (entry.changed !== 'everything') {
          for (const objectType of OBJECT_TYPES) remember(entry.changed, objectType, change[objectType])
        }
        entry.mark = mark
      }
    } catch (fault) {
      // Half a refresh has no mark that is true of it.
      this.#entries.delete(tenantId)
      throw fault
    }
    this.#entries.delete(tenantId)
    this.#entries.set(tenantId, entry)
    this.#makeRoom(tenantId)
    return entry
  }

  #makeRoom(needed: string): void {
    let rowCount = this.#entries.values().reduce((sum, { rows }) => sum + rows.rowCount, 0)
    for (const [tenantId, { rows }] of this.#entries) {
      if (rowCount <= this.#rowsAtMost || tenantId === needed) return
      this.#entries.delete(tenantId)
      rowCount -= rows.rowCount
    }
  }
}

function remember(changed: Map<ObjectType, Set<string>>, objectType: ObjectType, ids: Iterable<string>): void {
  const known = changed.get(objectType) ?? new Set()
  for (const id of ids) known.add(id)
  changed.set(objectType, known)
}
