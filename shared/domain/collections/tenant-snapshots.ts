import { coalescing } from '../coalescing.ts'
import type { ObjectType } from '../core/core-object.ts'
import type { ChangeMark, CoreObjectChanges } from '../core/core-object-changes.ts'
import { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { SnapshotChange } from '../criteria/snapshot-change.ts'

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
  readonly rows: RowSnapshot
  mark: ChangeMark | undefined
  changes: RowChanges
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

  /** Whether the tenant's rows are in memory. */
  holds(tenantId: string): boolean {
    return this.#entries.has(tenantId)
  }

  /** What has changed since the last time that this was asked for the tenant. */
  takeChanges(tenantId: string): RowChanges {
    const entry = this.#entries.get(tenantId)
    if (entry === undefined) return 'everything'
    const { changes } = entry
    entry.changes = NO_CHANGES
    return changes
  }

  async #refreshed(tenantId: string): Promise<Entry> {
    const entry: Entry = this.#entries.get(tenantId) ?? {
      rows: new RowSnapshot(),
      mark: undefined,
      changes: 'everything',
    }
    try {
      for await (const { objects, mark } of this.#changes.since(tenantId, entry.mark)) {
        const change = entry.rows.apply(objects)
        if (entry.changes !== 'everything') entry.changes = gathered(entry.changes, change)
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

const NO_CHANGES: GatheredChanges = {
  ids: { identity: new Set(), orgUnit: new Set(), relationship: new Set() },
  attributes: new Set(),
  rowsMoved: false,
}

function gathered(before: GatheredChanges, { changed, attributes, rowsMoved }: SnapshotChange): GatheredChanges {
  return {
    ids: {
      identity: before.ids.identity.union(changed.identity),
      orgUnit: before.ids.orgUnit.union(changed.orgUnit),
      relationship: before.ids.relationship.union(changed.relationship),
    },
    attributes: before.attributes.union(attributes),
    rowsMoved: before.rowsMoved || rowsMoved,
  }
}
