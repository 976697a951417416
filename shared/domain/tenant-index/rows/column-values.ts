import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { normalisedText } from '../../../kernel/normalised-text.ts'
import { instantIn, type TimeZone } from '../../../kernel/time-zone.ts'
import type { AttributeKind } from '../../core/core-object.ts'
import { type CustomType, readAs } from '../../core/custom-types.ts'
import type { RowSettings } from '../row-settings.ts'
import { grownFloat64 } from './growable-array.ts'
import type { IdTable } from './id-table.ts'
import { ListValues, referredId } from './list-values.ts'
import { TextDictionary } from './text-dictionary.ts'

/** The distinct values of a column and their codes. Code 0 means no value, or a value of another kind. */
export type ColumnValues = TextValues | InstantValues | ReferenceValues | ListValues

/**
 * Strings, normalised, since stored ones may be older than this form; booleans as `true` and `false`; GUIDs in lower
 * case; integers in their shortest form.
 */
export class TextValues {
  readonly kind = 'text'
  readonly dictionary = new TextDictionary()
  readonly #read: (value: unknown) => string | undefined

  /** @param read Returns a value as text; undefined for a value of another kind. */
  constructor(read: (value: unknown) => string | undefined) {
    this.#read = read
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
    const text = this.#read(value)
    return text === undefined ? 0 : this.dictionary.intern(text)
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
  readonly #read: (value: unknown) => string | undefined
  /** Milliseconds since 1970 by code. */
  instantsMs: Float64Array<ArrayBuffer> = new Float64Array(32)

  constructor(zone: TimeZone, read = asText) {
    this.zone = zone
    this.#read = read
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
    const text = this.#read(value)
    if (text === undefined) return 0
    const sizeBefore = this.size
    const code = this.#dictionary.intern(text)
    if (code === sizeBefore) {
      this.instantsMs = grownFloat64(this.instantsMs, code + 1)
      this.instantsMs[code] = instantIn(this.zone, text) ?? Number.NaN
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
    case 'boolean':
      return new TextValues((value) => (typeof value === 'boolean' ? String(value) : undefined))
    case 'guid':
      return new TextValues((value) => asText(value)?.toLowerCase())
    case 'string':
      return new TextValues(asNormalisedText)
  }
}

/** An empty set of values for a custom attribute of a type. A stored value that does not read as the type is none. */
export function valuesOfType(type: CustomType, { zone }: RowSettings): ColumnValues {
  switch (type) {
    case 'String':
      return new TextValues((value) => asNormalisedText(value) ?? (readAs('String', value) as string | undefined))
    case 'Integer':
    case 'Boolean':
      return new TextValues((value) => readAs(type, value)?.toString())
    case 'DateTime':
      return new InstantValues(zone, (value) => readAs('DateTime', value) as string | undefined)
    case 'StringList':
      return new ListValues(new TextDictionary(), (value) => readAs('StringList', value) as string[] | undefined)
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function asNormalisedText(value: unknown): string | undefined {
  return typeof value === 'string' ? normalisedText(value) : undefined
}
