import { CodeSet } from './code-set.ts'
import type { ColumnValues } from './column-values.ts'
import type { LeafTest } from './leaf-test.ts'

/**
 * What a leaf has decided about the distinct values of one column. Each value is decided once; when the dictionary has
 * grown, only what is new. `Today()` starts over each day.
 */
export class LeafVerdicts {
  readonly #test: LeafTest
  readonly #values: ColumnValues
  #holding = new CodeSet()
  #decidedCount = 1
  #missing: readonly string[]
  #todayMs = Number.NaN

  constructor(test: LeafTest, values: ColumnValues) {
    this.#test = test
    this.#values = values
    this.#missing = test.kind === 'listed' ? test.texts : []
  }

  /** Whether the leaf's test holds where an object has no value. */
  get holdsWithoutValue(): boolean {
    return this.#test.kind === 'null'
  }

  /** Whether the test holds for the value with this code, 0 being none. Decides this one alone if it must. */
  holds(code: number, todayMs: number): boolean {
    const test = this.#test
    if (code === 0 || test.kind === 'null') return code === 0 && test.kind === 'null'
    if (test.kind === 'listed') return this.holding(todayMs).has(code)
    const isDecided = code < this.#decidedCount && (!test.dependsOnDay || todayMs === this.#todayMs)
    return isDecided ? this.#holding.has(code) : test.holds(code, todayMs)
  }

  /** All codes for which the test holds; not for `IsNull`. */
  holding(todayMs: number): CodeSet {
    const size = this.#values.size
    const test = this.#test
    if (test.kind === 'listed' && this.#decidedCount !== size) this.#lookUp(test.codeOf)
    if (test.kind === 'scan') {
      if (test.dependsOnDay && todayMs !== this.#todayMs) {
        this.#holding = new CodeSet()
        this.#decidedCount = 1
        this.#todayMs = todayMs
      }
      for (let code = this.#decidedCount; code < size; code += 1) if (test.holds(code, todayMs)) this.#holding.add(code)
    }
    this.#decidedCount = size
    return this.#holding
  }

  #lookUp(codeOf: (text: string) => number): void {
    if (this.#missing.length === 0) return
    this.#missing = this.#missing.filter((text) => {
      const code = codeOf(text)
      if (code !== 0) this.#holding.add(code)
      return code === 0
    })
  }
}
