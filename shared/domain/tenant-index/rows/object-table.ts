import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import type { Attributes, ObjectType } from '../../core/core-object.ts'
import { ATTRIBUTES, type AttributeDefinition } from '../../core/core-object.ts'
import { customTypeOf, isCustomAttribute } from '../../core/custom-types.ts'
import type { RowSettings } from '../row-settings.ts'
import { type Bitmap, clearBit, emptyBitmap, hasBit, setBit } from './bitmap.ts'
import { Column } from './column.ts'
import { ReferenceValues, valuesOfKind, valuesOfType } from './column-values.ts'
import { ForkableInt32 } from './growable-array.ts'
import type { IdTable } from './id-table.ts'

export type IdTables = Readonly<Record<ObjectType, IdTable>>

/** An empty column with its dictionary. */
const BYTES_PER_COLUMN = 1500

/** All objects of one type, with a column per attribute. */
export class ObjectTable {
  readonly objectType: ObjectType
  readonly ids: IdTable
  readonly #settings: RowSettings
  liveCount = 0
  readonly #columns: Map<string, Column>
  readonly #idColumn: Column
  readonly #externalIdColumn: Column
  #live = new ForkableInt32(1)
  /** The number of values of each object, by slot. */
  #valueCounts = new ForkableInt32(0)
  /** Set once the table has a fork: slots that are added later belong to the fork. */
  #finalSlotCount: number | undefined

  private constructor(objectType: ObjectType, ids: IdTable, columns: readonly Column[], settings: RowSettings) {
    this.objectType = objectType
    this.ids = ids
    this.#settings = settings
    this.#columns = new Map(columns.map((column) => [column.attribute, column]))
    this.#idColumn = this.column('id')
    this.#externalIdColumn = this.column('externalId')
  }

  static empty(objectType: ObjectType, idTables: IdTables, settings: RowSettings): ObjectTable {
    const ids = idTables[objectType]
    const definitions: Readonly<Record<string, AttributeDefinition>> = ATTRIBUTES[objectType]
    const columns = [
      new Column(objectType, 'id', new ReferenceValues(ids)),
      new Column(objectType, 'externalId', valuesOfKind('string', undefined, settings)),
      ...Object.entries(definitions).map(
        ([name, { kind, to }]) => new Column(objectType, name, valuesOfKind(kind, to && idTables[to], settings)),
      ),
    ]
    return new ObjectTable(objectType, ids, columns, settings)
  }

  /** A copy to be changed instead of this table. */
  forked(): ObjectTable {
    const columns = [...this.#columns.values()].map((column) => column.forked())
    const fork = new ObjectTable(this.objectType, this.ids, columns, this.#settings)
    fork.liveCount = this.liveCount
    fork.#live = this.#live.forked()
    fork.#valueCounts = this.#valueCounts.forked()
    this.#finalSlotCount = this.ids.size
    return fork
  }

  /** One more than the highest slot in this table. */
  get slotCount(): number {
    return this.#finalSlotCount ?? this.ids.size
  }

  /** The number of ids and distinct values, those of deleted objects included: they are never freed. */
  get seenCount(): number {
    return this.#columns.values().reduce((sum, { values }) => sum + values.size, this.ids.size)
  }

  get sizeBytes(): number {
    const own = this.ids.sizeBytes + this.#live.sizeBytes + this.#valueCounts.sizeBytes
    return this.#columns.values().reduce((sum, column) => sum + BYTES_PER_COLUMN + column.sizeBytes, own)
  }

  /** Makes room for objects to be written, so that writing one takes little time, with any attributes. */
  *reserve(addedCount: number): Task<void> {
    yield* this.ids.reserve(addedCount)
    for (const column of this.#columns.values()) {
      yield
      yield* column.reserve(this.slotCount + addedCount, addedCount)
    }
  }

  isLive(slot: number): boolean {
    const live = this.#live.values
    return slot >>> 5 < live.length && hasBit(live, slot)
  }

  /** The slots of live objects, as a new set. */
  liveSlots(): Bitmap {
    const live = emptyBitmap(this.slotCount)
    live.set(this.#live.values.subarray(0, live.length))
    return live
  }

  /** The column of an attribute; a new, empty one for a custom attribute without values. */
  column(attribute: string): Column {
    const known = this.#columns.get(attribute)
    if (known !== undefined) return known
    const type = customTypeOf(this.#settings.types, this.objectType, attribute)
    const column = new Column(this.objectType, attribute, valuesOfType(type, this.#settings))
    this.#columns.set(attribute, column)
    return column
  }

  /** The custom attributes of live objects, sorted. */
  customAttributes(): string[] {
    return this.presentColumns()
      .map(({ attribute }) => attribute)
      .filter(isCustomAttribute)
      .sort()
  }

  /** The columns with values. */
  presentColumns(): Column[] {
    return [...this.#columns.values()].filter(({ valueCount }) => valueCount > 0)
  }

  /**
   * Writes all values of an object and adds the schema names of changed attributes to `changed`. Takes time in
   * proportion to the object's attributes, however many columns there are, unless the object has lost one.
   * @returns Whether any value changed.
   */
  write(slot: number, externalId: string, attributes: Attributes, changed: Set<string>): boolean {
    const countBefore = this.#valueCounts.values[slot] ?? 0
    const idColumn = this.#idColumn
    const externalIdColumn = this.#externalIdColumn
    let isChanged = setValue(idColumn, slot, slot, changed)
    if (isChanged) this.#setLive(slot, true)
    isChanged = setValue(externalIdColumn, slot, externalIdColumn.values.encode(externalId), changed) || isChanged
    let count = 0
    let keptCount = 0
    for (const name in attributes) {
      const column = this.#columnOf(name)
      if (column === undefined) continue
      const code = column.values.encode(attributes[name])
      if (column.codeAt(slot) !== 0) keptCount += 1
      if (code !== 0) count += 1
      isChanged = setValue(column, slot, code, changed) || isChanged
    }
    if (keptCount < countBefore) {
      this.#clearOthers(slot, attributes, changed)
      isChanged = true
    }
    if (count !== countBefore) this.#valueCounts.writable(slot + 1)[slot] = count
    return isChanged
  }

  /** Removes an object. It keeps its slot, without values. */
  clear(slot: number, changed: Set<string>): void {
    this.#setLive(slot, false)
    this.#valueCounts.writable(slot + 1)[slot] = 0
    for (const column of this.#columns.values()) setValue(column, slot, 0, changed)
  }

  /** The column of an attribute that an object can have; undefined for an unknown one. */
  #columnOf(attribute: string): Column | undefined {
    const known = this.#columns.get(attribute)
    if (known !== undefined) return known === this.#idColumn || known === this.#externalIdColumn ? undefined : known
    return isCustomAttribute(attribute) ? this.column(attribute) : undefined
  }

  #clearOthers(slot: number, attributes: Attributes, changed: Set<string>): void {
    for (const column of this.#columns.values()) {
      if (column === this.#idColumn || column === this.#externalIdColumn) continue
      if (attributes[column.attribute] === undefined) setValue(column, slot, 0, changed)
    }
  }

  #setLive(slot: number, live: boolean): void {
    const slots = this.#live.writable((slot >>> 5) + 1)
    this.liveCount += live ? 1 : -1
    if (live) setBit(slots, slot)
    else clearBit(slots, slot)
  }
}

function setValue(column: Column, slot: number, code: number, changed: Set<string>): boolean {
  const isChanged = column.setCode(slot, code)
  if (isChanged) changed.add(column.name)
  return isChanged
}
