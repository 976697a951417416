import { OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { ObjectTable } from './object-table.ts'

/** The effect of applied objects on a snapshot; empty when nothing changed. */
export type SnapshotChange = {
  /** Objects that were deleted, or whose row has changed: their membership may have changed. */
  readonly changed: Readonly<Record<ObjectType, ReadonlySet<string>>>
  /** Schema names of the attributes whose values changed. */
  readonly attributes: ReadonlySet<string>
  /**
   * Whether rows were added, removed or composed differently. Then any condition may be affected, whatever it reads.
   */
  readonly rowsMoved: boolean
  /**
   * Whether one of the objects had been deleted before. Other instances may have seen the deletion even if the snapshot
   * had the object all along.
   */
  readonly isAnyRestored: boolean
  /** The number of objects in `changed`. */
  readonly changedCount: number
}

/** Collects a change while it is applied. Id texts are created on demand: a first load would create millions. */
export class RecordedChange implements SnapshotChange {
  readonly attributes = new Set<string>()
  rowsMoved = false
  isAnyRestored = false
  /**
   * Deleted objects without a row, and identities that were merged into others. Other instances may have seen them come
   * back since this one has seen an earlier deletion.
   */
  readonly gone: Readonly<Record<ObjectType, Set<string>>> = {
    identity: new Set(),
    orgUnit: new Set(),
    relationship: new Set(),
  }
  #changed: Readonly<Record<ObjectType, ReadonlySet<string>>> | undefined
  readonly #tables: Readonly<Record<ObjectType, ObjectTable>>
  readonly #slots: Readonly<Record<ObjectType, Set<number>>> = {
    identity: new Set(),
    orgUnit: new Set(),
    relationship: new Set(),
  }

  constructor(tables: Readonly<Record<ObjectType, ObjectTable>>) {
    this.#tables = tables
  }

  get changed(): Readonly<Record<ObjectType, ReadonlySet<string>>> {
    this.#changed ??= this.#changedIds()
    return this.#changed
  }

  get changedCount(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.#slots[type].size + this.gone[type].size, 0)
  }

  #changedIds(): Readonly<Record<ObjectType, ReadonlySet<string>>> {
    const { identity, orgUnit, relationship } = this.gone
    const ids = { identity: new Set(identity), orgUnit: new Set(orgUnit), relationship: new Set(relationship) }
    for (const type of OBJECT_TYPES)
      for (const slot of this.#slots[type]) ids[type].add(this.#tables[type].ids.idOf(slot))
    return ids
  }

  touch(objectType: ObjectType, slot: number): void {
    this.#slots[objectType].add(slot)
  }

  /** The same, but ignores objects that do not exist. */
  touchLive(objectType: ObjectType, slot: number): void {
    if (this.#tables[objectType].isLive(slot)) this.#slots[objectType].add(slot)
  }
}
