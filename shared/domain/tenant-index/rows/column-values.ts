import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { instantIn, type TimeZone } from '../../../kernel/time-zone.ts'
import type { AttributeKind } from '../../core/core-object.ts'
import type { RowSettings } from '../row-settings.ts'
import { grownFloat64 } from './growable-array.ts'
import type { IdTable } from './id-table.ts'
import { ListValues, referredId } from './list-values.ts'
import { TextDictionary } from './text-dictionary.ts'

/** The distinct values of a column and their codes. Code 0 means no value, or a value of another kind. */
export type ColumnValues = TextValues | InstantValues | ReferenceValues | ListValues

/** Strings; booleans as `true` and `false`; GUIDs in lower case. */
export class TextValues {
  readonly kind = 'text'
  readonly dictionary = new TextDictionary()
  readonly #attributeKind: 'string' | 'boolean' | 'guid'

  constructor(attributeKind: 'string' | 'boolean' | 'guid') {
    this.#attributeKind = attributeKind
  }

  get size(): number {
    return this.dictionary.size
  }

  get sizeBytes(): number {
    return this.dictionary.entries.sizeBytes
  }

  /** Bytes of all values with lower codes. */
  bytesBefore(code: number): number {
    return this.dictionary.entries.offsets[code] as number
  }

  reserve(addedCount: number): Task<void> {
    return this.dictionary.entries.reserve(addedCount)
  }

  encode(value: unknown): number {
    if (this.#attributeKind === 'boolean') return typeof value === 'boolean' ? this.dictionary.intern(String(value)) : 0
    if (typeof value !== 'string') return 0
    return this.dictionary.intern(this.#attributeKind === 'guid' ? value.toLowerCase() : value)
  }

  codeOf(text: string): number {
    return this.dictionary.codeOf(text)
  }
}

/** Dates, which begin in a time zone, and instants. Each distinct text is parsed once. */
export class InstantValues {
  readonly kind = 'instant'
  readonly zone: TimeZone
  readonly #dictionary = new TextDictionary()
  /** Milliseconds since 1970 by code. */
  instantsMs: Float64Array<ArrayBuffer> = new Float64Array(32)

  constructor(zone: TimeZone) {
    this.zone = zone
  }

  get size(): number {
    return this.#dictionary.size
  }

  get sizeBytes(): number {
    return this.#dictionary.entries.sizeBytes + this.instantsMs.byteLength
  }

  bytesBefore(code: number): number {
    return code * Float64Array.BYTES_PER_ELEMENT
  }

  reserve(addedCount: number): Task<void> {
    return this.#dictionary.entries.reserve(addedCount)
  }

  /** The text of a value as it was given. */
  textOf(code: number): string {
    return this.#dictionary.textOf(code)
  }

  encode(value: unknown): number {
    if (typeof value !== 'string') return 0
    const sizeBefore = this.size
    const code = this.#dictionary.intern(value)
    if (code === sizeBefore) {
      this.instantsMs = grownFloat64(this.instantsMs, code + 1)
      this.instantsMs[code] = instantIn(this.zone, value) ?? Number.NaN
    }
    return Number.isNaN(this.instantsMs[code]) ? 0 : code
  }
}

/** References to objects of one type. The code is the slot of the object. */
export class ReferenceValues {
  readonly kind = 'reference'
  readonly target: IdTable

  constructor(target: IdTable) {
    this.target = target
  }

  get size(): number {
    return this.target.size
  }

  /** The ids belong to the table of their objects. */
  get sizeBytes(): number {
    return 0
  }

  bytesBefore(code: number): number {
    return code * Int32Array.BYTES_PER_ELEMENT
  }

  *reserve(): Task<void> {}

  encode(value: unknown): number {
    const id = referredId(value)
    return id === undefined ? 0 : this.target.intern(id)
  }

  codeOf(id: string): number {
    return this.target.codeOf(id)
  }
}

/** An empty set of values for attributes of a kind; references point into `target`. */
export function valuesOfKind(kind: AttributeKind, target: IdTable | undefined, { zone }: RowSettings): ColumnValues {
  switch (kind) {
    case 'date':
      return new InstantValues(zone)
    case 'guids':
      return new ListValues(new TextDictionary())
    case 'reference':
    case 'references': {
      if (target === undefined) throw new Error(`An attribute of kind ${kind} needs a type to refer to`)
      return kind === 'reference' ? new ReferenceValues(target) : new ListValues(target)
    }
    default:
      return new TextValues(kind)
  }
}
