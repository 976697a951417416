import { OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { ObjectTable } from './object-table.ts'

type IdsByType = Readonly<Record<ObjectType, ReadonlySet<string>>>
type SlotsByType = Readonly<Record<ObjectType, Set<number>>>

const noSlots = (): SlotsByType => ({ identity: new Set(), orgUnit: new Set(), relationship: new Set() })

/** The effect of applied objects on a snapshot; empty when nothing changed. */
export type SnapshotChange = {
  /** Objects that were deleted, or whose row has changed: their membership may have changed. */
  readonly changed: IdsByType
  /** Of these, the ones with other stored values in their rows; for the rest, who leads which units may have changed. */
  readonly rewritten: IdsByType
  /** Schema names of the attributes whose values changed. */
  readonly attributes: ReadonlySet<string>
  /** Whether rows were added, removed or composed differently, which can affect any condition. */
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
  /** Units whose managers, and those of the units above, were touched since a unit has last changed. */
  readonly unitsWithTouchedLeaders = new Set<number>()
  #changed: IdsByType | undefined
  #rewritten: IdsByType | undefined
  readonly #tables: Readonly<Record<ObjectType, ObjectTable>>
  readonly #rewrittenSlots = noSlots()
  readonly #ledSlots = noSlots()

  constructor(tables: Readonly<Record<ObjectType, ObjectTable>>) {
    this.#tables = tables
  }

  get changed(): IdsByType {
    this.#changed ??= this.#idsOf(this.#rewrittenSlots, this.#ledSlots)
    return this.#changed
  }

  get rewritten(): IdsByType {
    this.#rewritten ??= this.#idsOf(this.#rewrittenSlots)
    return this.#rewritten
  }

  get changedCount(): number {
    const countOf = (type: ObjectType) => this.#rewrittenSlots[type].union(this.#ledSlots[type]).size
    return OBJECT_TYPES.reduce((sum, type) => sum + countOf(type) + this.gone[type].size, 0)
  }

  #idsOf(...all: SlotsByType[]): IdsByType {
    const { identity, orgUnit, relationship } = this.gone
    const ids = { identity: new Set(identity), orgUnit: new Set(orgUnit), relationship: new Set(relationship) }
    for (const slots of all) {
      for (const type of OBJECT_TYPES) for (const slot of slots[type]) ids[type].add(this.#tables[type].ids.idOf(slot))
    }
    return ids
  }

  touch(objectType: ObjectType, slot: number): void {
    this.#rewrittenSlots[objectType].add(slot)
  }

  /** Ignores objects that do not exist. */
  touchLive(objectType: ObjectType, slot: number): void {
    if (this.#tables[objectType].isLive(slot)) this.touch(objectType, slot)
  }

  /** Of an object whose row has the values that it had, but whose person may lead other units. Ignores missing ones. */
  touchLed(objectType: ObjectType, slot: number): void {
    if (this.#tables[objectType].isLive(slot)) this.#ledSlots[objectType].add(slot)
  }
}
