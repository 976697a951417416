import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ComputedName } from './computed-attributes.ts'
import { type ComputedValues, computedValues } from './computed-values.ts'
import type { RowValue } from './row-value.ts'

/** Entries of a list that an explanation shows. */
const MAX_SHOWN_ENTRIES = 100
/**
 * Characters of a text that an explanation shows. With 500 leaves that show two values each, a row stays below the 2 MB
 * of a response.
 */
const MAX_SHOWN_CHARACTERS = 500

/** A value as an explanation shows it: the first entries of a long list, the first characters of a long text. */
export function shownPart(value: RowValue): RowValue {
  if (typeof value === 'string') {
    return value.length > MAX_SHOWN_CHARACTERS ? `${value.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…` : value
  }
  return Array.isArray(value) && value.length > MAX_SHOWN_ENTRIES ? value.slice(0, MAX_SHOWN_ENTRIES) : value
}

/**
 * The shown values of computed attributes. Leaves on the same attribute of the same object share one: some are found by
 * looking at all units of the tenant.
 */
export class ShownComputedValues {
  readonly #snapshot: RowSnapshot
  readonly #todayMs: number
  readonly #values = new Map<ComputedName, ComputedValues>()
  readonly #shown = new Map<string, RowValue>()

  constructor(snapshot: RowSnapshot, todayMs: number) {
    this.#snapshot = snapshot
    this.#todayMs = todayMs
  }

  /** A boolean or ids, ascending; null where the attribute is missing. */
  valueOf(name: ComputedName, slot: number): RowValue {
    const key = `${name} ${slot}`
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const shown = shownPart(this.#read(name, slot))
    this.#shown.set(key, shown)
    return shown
  }

  #read(name: ComputedName, slot: number): RowValue {
    const values = this.#values.get(name) ?? computedValues(name, this.#snapshot)
    this.#values.set(name, values)
    const value = values.valueAt(slot, this.#todayMs)
    if (value === undefined) return null
    if (typeof value === 'boolean') return value
    return value.map((unit) => this.#snapshot.tables.orgUnit.ids.idOf(unit)).sort()
  }
}
