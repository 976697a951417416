import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { CodeSet } from '../tenant-index/rows/bitmap.ts'
import type { ColumnValues } from '../tenant-index/rows/column-values.ts'
import type { LeafTest } from './leaf-test.ts'

/**
 * Values tested in one step of the task. A step takes about a tenth of a millisecond, for long values as for short ones.
 */
const VALUES_PER_STEP_COUNT = 1024
const BYTES_PER_STEP_COUNT = 32_768
const COMPARISONS_PER_STEP_COUNT = 16_384
/** A step tests at least this many values. */
const FEWEST_VALUES_COUNT = 32

/** The values tested so far, for one day. */
type Progress = { readonly todayMs: number; readonly holding: CodeSet; decidedCount: number }

/**
 * The cached results of a leaf for the distinct values of a column. Each value is tested once. Tests that depend on
 * `Today()` start over each day.
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

  get sizeBytes(): number {
    return this.#progress.holding.sizeBytes
  }

  /** Whether the test is true for an object without a value. */
  get holdsWithoutValue(): boolean {
    return this.#test.kind === 'null'
  }

  /** The part of the values for which the test is true. Undefined while it was not tested for all, and for `IsNull`. */
  shareHolding(todayMs: number): number | undefined {
    const isKnown = this.#test.kind !== 'null' && this.#progressOn(todayMs).decidedCount === this.#values.size
    return isKnown ? this.#progress.holding.size / this.#values.size : undefined
  }

  /** The values that `holding` tests before it ends. */
  untestedCount(todayMs: number): number {
    return this.#test.kind === 'scan' ? this.#values.size - this.#progressOn(todayMs).decidedCount : 0
  }

  /** Whether the test is true for the value with this code; 0 means no value. Tests only this value if necessary. */
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

  /** All codes for which the test is true; not for `IsNull`. Concurrent tasks share their progress. */
  *holding(todayMs: number): Task<CodeSet> {
    const test = this.#test
    const progress = this.#progressOn(todayMs)
    if (test.kind === 'listed' && progress.decidedCount !== this.#values.size) {
      this.#lookUp(test.codeOf, progress.holding)
      progress.decidedCount = this.#values.size
    }
    if (test.kind !== 'scan') return progress.holding
    while (progress.decidedCount < this.#values.size) {
      const end = this.#stepEnd(progress.decidedCount, test.operandCount)
      if (test.addHolding !== undefined) test.addHolding([progress.decidedCount, end], progress.holding)
      else {
        for (let code = progress.decidedCount; code < end; code += 1) {
          if (test.holds(code, todayMs)) progress.holding.add(code)
        }
      }
      progress.decidedCount = end
      if (end < this.#values.size) yield
    }
    return progress.holding
  }

  #stepEnd(start: number, operandCount: number): number {
    const values = this.#values
    const byComparisons = Math.floor(COMPARISONS_PER_STEP_COUNT / Math.max(operandCount, 1))
    let count = Math.min(VALUES_PER_STEP_COUNT, Math.max(byComparisons, FEWEST_VALUES_COUNT), values.size - start)
    const isLong = () => values.bytesBefore(start + count) - values.bytesBefore(start) > BYTES_PER_STEP_COUNT
    while (count > FEWEST_VALUES_COUNT && isLong()) count = Math.max(count >>> 1, FEWEST_VALUES_COUNT)
    return start + count
  }

  /** A task for an earlier day keeps its own progress. */
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
