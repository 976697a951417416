import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { CodeSet } from '../tenant-index/code-set.ts'
import type { ColumnValues } from '../tenant-index/column-values.ts'
import type { LeafTest } from './leaf-test.ts'

/** Values decided between two pauses: they may be long, and so may be what is sought in them. */
const VALUES_PER_STEP_COUNT = 32

/** How far the values have been decided, as of one day. */
type Progress = { readonly todayMs: number; readonly holding: CodeSet; decidedCount: number }

/**
 * What a leaf has decided about the distinct values of one column. Each value is decided once; when the dictionary has
 * grown, only what is new. `Today()` starts over each day.
 */
export class LeafVerdicts {
  readonly #test: LeafTest
  readonly #values: ColumnValues
  #progress: Progress = { todayMs: Number.NaN, holding: new CodeSet(), decidedCount: 1 }
  #missing: readonly string[]

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
    if (test.kind === 'listed') {
      if (this.#progress.decidedCount !== this.#values.size) runToCompletion(this.holding(todayMs))
      return this.#progress.holding.has(code)
    }
    const { decidedCount, holding, todayMs: decidedOnMs } = this.#progress
    const isDecided = code < decidedCount && (!test.dependsOnDay || todayMs === decidedOnMs)
    return isDecided ? holding.has(code) : test.holds(code, todayMs)
  }

  /** All codes for which the test holds; not for `IsNull`. Several may be at it at once: each goes on where it stands. */
  *holding(todayMs: number): Task<CodeSet> {
    const test = this.#test
    const progress = this.#progressOn(todayMs)
    if (test.kind === 'listed' && progress.decidedCount !== this.#values.size) {
      this.#lookUp(test.codeOf, progress.holding)
      progress.decidedCount = this.#values.size
    }
    if (test.kind !== 'scan') return progress.holding
    while (progress.decidedCount < this.#values.size) {
      const end = Math.min(progress.decidedCount + VALUES_PER_STEP_COUNT, this.#values.size)
      for (let code = progress.decidedCount; code < end; code += 1) {
        if (test.holds(code, todayMs)) progress.holding.add(code)
      }
      progress.decidedCount = end
      if (end < this.#values.size) yield
    }
    return progress.holding
  }

  /** Whoever decides for another day keeps to its own progress, which the later one no longer is. */
  #progressOn(todayMs: number): Progress {
    const dependsOnDay = this.#test.kind === 'scan' && this.#test.dependsOnDay
    if (dependsOnDay && this.#progress.todayMs !== todayMs) {
      this.#progress = { todayMs, holding: new CodeSet(), decidedCount: 1 }
    }
    return this.#progress
  }

  #lookUp(codeOf: (text: string) => number, holding: CodeSet): void {
    if (this.#missing.length === 0) return
    this.#missing = this.#missing.filter((text) => {
      const code = codeOf(text)
      if (code !== 0) holding.add(code)
      return code === 0
    })
  }
}
