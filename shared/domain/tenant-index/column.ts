import type { ObjectType } from '../core/core-object.ts'
import { schemaName } from '../criteria/schema.ts'
import type { ColumnValues } from './column-values.ts'
import { ForkableInt32 } from './forkable-int32.ts'

/** One attribute of all objects of a type: a code by slot, 0 where the object has no value. */
export class Column {
  readonly objectType: ObjectType
  readonly attribute: string
  /** The name under which conditions know it. */
  readonly name: string
  readonly values: ColumnValues
  /** How many objects have a value. An attribute nobody has takes no memory. */
  valueCount = 0
  #codes = new ForkableInt32(0)

  constructor(objectType: ObjectType, attribute: string, values: ColumnValues) {
    this.objectType = objectType
    this.attribute = attribute
    this.name = schemaName(objectType, attribute)
    this.values = values
  }

  codeAt(slot: number): number {
    return this.#codes.values[slot] ?? 0
  }

  /** All codes, at least `slotCount` of them. Only good until the next change. */
  codes(slotCount: number): Int32Array {
    return this.#codes.withRoom(slotCount)
  }

  /** Whether that changed anything. */
  setCode(slot: number, code: number): boolean {
    const before = this.codeAt(slot)
    if (before === code) return false
    this.#codes.writable(slot + 1)[slot] = code
    this.valueCount += (code === 0 ? 0 : 1) - (before === 0 ? 0 : 1)
    return true
  }

  /** Another column over the same values, to be changed on its own. */
  forked(): Column {
    const fork = new Column(this.objectType, this.attribute, this.values)
    fork.valueCount = this.valueCount
    fork.#codes = this.#codes.forked()
    return fork
  }
}
