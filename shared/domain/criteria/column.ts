import type { ObjectType } from '../core/core-object.ts'
import type { ColumnValues } from './column-values.ts'
import { schemaName } from './schema.ts'
import { grownInt32 } from './typed-array-growth.ts'

/** One attribute of all objects of a type: a code by slot, 0 where the object has no value. */
export class Column {
  readonly attribute: string
  /** The name under which conditions know it. */
  readonly name: string
  readonly values: ColumnValues
  /** How many objects have a value. An attribute nobody has takes no memory. */
  valueCount = 0
  #codes: Int32Array<ArrayBuffer> = new Int32Array(0)

  constructor(objectType: ObjectType, attribute: string, values: ColumnValues) {
    this.attribute = attribute
    this.name = schemaName(objectType, attribute)
    this.values = values
  }

  codeAt(slot: number): number {
    return this.#codes[slot] ?? 0
  }

  /** All codes, at least `slotCount` of them. Only good until the next change. */
  codes(slotCount: number): Int32Array {
    this.#codes = grownInt32(this.#codes, slotCount)
    return this.#codes
  }

  /** Whether that changed anything. */
  setCode(slot: number, code: number): boolean {
    const before = this.codeAt(slot)
    if (before === code) return false
    this.#codes = grownInt32(this.#codes, slot + 1)
    this.#codes[slot] = code
    this.valueCount += (code === 0 ? 0 : 1) - (before === 0 ? 0 : 1)
    return true
  }
}
