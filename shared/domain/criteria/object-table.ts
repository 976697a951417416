import { ATTRIBUTES, type AttributeDefinition, CUSTOM_ATTRIBUTE_PREFIX } from '../core/attributes.ts'
import type { Attributes, ObjectType } from '../core/core-object.ts'
import { type Bitmap, clearBit, emptyBitmap, hasBit, setBit } from './bitmap.ts'
import { Column } from './column.ts'
import { ReferenceValues, TextValues, valuesOfKind } from './column-values.ts'
import type { IdTable } from './id-table.ts'
import { grownInt32 } from './typed-array-growth.ts'

export type IdTables = Readonly<Record<ObjectType, IdTable>>

/** All objects of one type, a column for each attribute. */
export class ObjectTable {
  readonly objectType: ObjectType
  readonly ids: IdTable
  liveCount = 0
  readonly #columns = new Map<string, Column>()
  readonly #idColumn: Column
  readonly #externalIdColumn: Column
  #live: Bitmap = emptyBitmap(32)

  constructor(objectType: ObjectType, idTables: IdTables) {
    this.objectType = objectType
    this.ids = idTables[objectType]
    this.#idColumn = this.#addColumn('id', new ReferenceValues(this.ids))
    this.#externalIdColumn = this.#addColumn('externalId', new TextValues('string'))
    const definitions: Readonly<Record<string, AttributeDefinition>> = ATTRIBUTES[objectType]
    for (const [attribute, { kind, to }] of Object.entries(definitions)) {
      this.#addColumn(attribute, valuesOfKind(kind, to && idTables[to]))
    }
  }

  isLive(slot: number): boolean {
    return slot >>> 5 < this.#live.length && hasBit(this.#live, slot)
  }

  /** The slots of objects that exist, as a set of its own. */
  liveSlots(): Bitmap {
    const live = emptyBitmap(this.ids.size)
    live.set(this.#live.subarray(0, live.length))
    return live
  }

  /** The column of an attribute; a custom one that no object ever had begins empty. */
  column(attribute: string): Column {
    return this.#columns.get(attribute) ?? this.#addColumn(attribute, new TextValues('string'))
  }

  /** Custom attributes that live objects have, sorted. */
  customAttributes(): string[] {
    const present = [...this.#columns.values()].filter(({ valueCount }) => valueCount > 0)
    return present
      .map(({ attribute }) => attribute)
      .filter(isCustom)
      .sort()
  }

  /** Writes all values of an object. Whether that changed any; the names of those attributes are added to `changed`. */
  write(slot: number, externalId: string, attributes: Attributes, changed: Set<string>): boolean {
    const idColumn = this.#idColumn
    const externalIdColumn = this.#externalIdColumn
    let isChanged = setValue(idColumn, slot, slot, changed)
    if (isChanged) this.#setLive(slot, true)
    isChanged = setValue(externalIdColumn, slot, externalIdColumn.values.encode(externalId), changed) || isChanged
    for (const name in attributes) if (isCustom(name) && !this.#columns.has(name)) this.column(name)
    for (const column of this.#columns.values()) {
      if (column === idColumn || column === externalIdColumn) continue
      const value = attributes[column.attribute]
      const code = value === undefined ? 0 : column.values.encode(value)
      isChanged = setValue(column, slot, code, changed) || isChanged
    }
    return isChanged
  }

  /** Takes an object out: its slot stays its own, without values. */
  clear(slot: number, changed: Set<string>): void {
    this.#setLive(slot, false)
    for (const column of this.#columns.values()) setValue(column, slot, 0, changed)
  }

  #setLive(slot: number, live: boolean): void {
    this.#live = grownInt32(this.#live as Int32Array<ArrayBuffer>, (slot >>> 5) + 1)
    this.liveCount += live ? 1 : -1
    if (live) setBit(this.#live, slot)
    else clearBit(this.#live, slot)
  }

  #addColumn(attribute: string, values: Column['values']): Column {
    const column = new Column(this.objectType, attribute, values)
    this.#columns.set(attribute, column)
    return column
  }
}

function setValue(column: Column, slot: number, code: number, changed: Set<string>): boolean {
  const isChanged = column.setCode(slot, code)
  if (isChanged) changed.add(column.name)
  return isChanged
}

function isCustom(attribute: string): boolean {
  return attribute.startsWith(CUSTOM_ATTRIBUTE_PREFIX) && attribute.length > CUSTOM_ATTRIBUTE_PREFIX.length
}
