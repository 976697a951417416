import type { TimeZone } from '../../kernel/time-zone.ts'
import type { CodeSet } from '../tenant-index/rows/bitmap.ts'
import type { ColumnValues, InstantValues, TextValues } from '../tenant-index/rows/column-values.ts'
import type { ListValues } from '../tenant-index/rows/list-values.ts'
import { type CheckedLeaf, type ComparedValue, isRelative, type Operator, type RelativeDay } from './condition.ts'
import type { DerivedTextCache } from './derived-texts.ts'
import { isList } from './field-expression.ts'
import { textTest } from './text-test.ts'

/**
 * The test of a leaf on the values of a column: `null` is true without a value; `listed` is true for the listed values,
 * which are looked up; `scan` tests every distinct value. Negative operators are tested as their opposites and
 * inverted, which also makes them true without a value.
 */
export type LeafTest =
  | { readonly kind: 'null' }
  | { readonly kind: 'listed'; readonly codeOf: (text: string) => number; readonly texts: readonly string[] }
  | {
      readonly kind: 'scan'
      readonly dependsOnDay: boolean
      /** Operands with which each value is compared. */
      readonly operandCount: number
      readonly holds: (code: number, todayMs: number) => boolean
      /** Adds the codes of a range that hold, where this is faster than one by one. */
      readonly addHolding?: (range: readonly [from: number, to: number], holding: CodeSet) => void
    }

/** Whether the result of the test is inverted. */
export function isNegative({ operator }: CheckedLeaf): boolean {
  return operator === 'NotEquals' || operator === 'NotContains'
}

/** The test of a leaf on the values of its column. Values of another kind than the leaf's type never match. */
export function leafTest(leaf: CheckedLeaf, values: ColumnValues, derivedTexts: DerivedTextCache): LeafTest {
  if (leaf.operator === 'IsNull') return { kind: 'null' }
  if (isList(leaf.type)) return values.kind === 'list' ? listTest(leaf, values) : NEVER
  switch (leaf.type) {
    case 'DateTime':
      return values.kind === 'instant' ? instantTest(leaf, values) : NEVER
    case 'Integer':
      if (values.kind !== 'text') return NEVER
      // Values are written in one way each.
      return isEquality(leaf) ? listed(leaf, values) : integerTest(leaf, values)
    case 'String':
      if (values.kind !== 'text') return NEVER
      return isEquality(leaf) && leaf.functions.length === 0
        ? listed(leaf, values)
        : stringTest(leaf, values, derivedTexts)
    default:
      return values.kind === 'text' || values.kind === 'reference' ? listed(leaf, values) : NEVER
  }
}

/** The result of a leaf with the field `Today()`, which is the same for every row. */
export function holdsOn(todayMs: number, leaf: CheckedLeaf, zone: TimeZone): boolean {
  return leaf.operator !== 'IsNull' && compares(todayMs, leaf, operandsOf(leaf, zone), todayMs) !== isNegative(leaf)
}

/** For a leaf on a column of another kind. */
const NEVER: LeafTest = { kind: 'scan', dependsOnDay: false, operandCount: 0, holds: () => false }

function listed(leaf: CheckedLeaf, values: { codeOf(text: string): number }): LeafTest {
  return { kind: 'listed', codeOf: (text) => values.codeOf(text), texts: [...new Set(leaf.values.map(String))] }
}

function isEquality({ operator }: CheckedLeaf): boolean {
  return operator === 'Equals' || operator === 'NotEquals' || operator === 'In'
}

function stringTest(leaf: CheckedLeaf, { dictionary }: TextValues, derivedTexts: DerivedTextCache): LeafTest {
  const test = textTest(leaf)
  if (leaf.functions.length === 0) {
    const { entries } = dictionary
    const holds = (code: number): boolean =>
      test(entries.bytes, entries.offsets[code] as number, entries.offsets[code + 1] as number)
    return { kind: 'scan', dependsOnDay: false, operandCount: 1, holds }
  }
  const derived = derivedTexts.of(leaf.name, dictionary, leaf.functions)
  const holds = (code: number): boolean => {
    derived.read(code)
    return test(derived.bytes, derived.start, derived.end)
  }
  return { kind: 'scan', dependsOnDay: false, operandCount: 1, holds }
}

function integerTest({ operator, values }: CheckedLeaf, { dictionary }: TextValues): LeafTest {
  const operand = Number(values[0])
  const holds = (code: number): boolean => compareNumbers(operator, Number(dictionary.textOf(code)), operand)
  return { kind: 'scan', dependsOnDay: false, operandCount: 1, holds }
}

function instantTest(leaf: CheckedLeaf, values: InstantValues): LeafTest {
  const { zone } = values
  const days = addedDays(leaf)
  const operands = operandsOf(leaf, zone)
  return {
    kind: 'scan',
    dependsOnDay: leaf.values.some(isRelative),
    operandCount: leaf.values.length,
    holds: (code, todayMs) => compares(zone.addDays(values.instantsMs[code] as number, days), leaf, operands, todayMs),
  }
}

function listTest(leaf: CheckedLeaf, values: ListValues): LeafTest {
  if (leaf.operator === 'ContainsAny') return anyElementTest(leaf, values)
  const wanted = String(leaf.values[0])
  let element = 0
  let elementCount = 0
  // An element without a code is in no list yet; later lists may add it.
  const elementNow = (): number => {
    if (element === 0 && elementCount !== values.elementCount) {
      element = values.codeOfElement(wanted)
      elementCount = values.elementCount
    }
    return element
  }
  return {
    kind: 'scan',
    dependsOnDay: false,
    operandCount: 1,
    holds: (code) => elementNow() !== 0 && values.contains(code, element),
    addHolding: (range, holding) => {
      if (elementNow() !== 0) values.addListsWith(element, range, holding)
    },
  }
}

function anyElementTest(leaf: CheckedLeaf, values: ListValues): LeafTest {
  const wanted = leaf.values.map(String)
  let elements: ReadonlySet<number> = new Set()
  let elementCount = 0
  const elementsNow = (): ReadonlySet<number> => {
    if (elements.size < wanted.length && elementCount !== values.elementCount) {
      elements = new Set(wanted.map((text) => values.codeOfElement(text)).filter((code) => code !== 0))
      elementCount = values.elementCount
    }
    return elements
  }
  return {
    kind: 'scan',
    dependsOnDay: false,
    operandCount: 1,
    holds: (code) => values.containsAny(code, elementsNow()),
  }
}

/** A number, or one that follows from the day of evaluation. */
type Operand = number | ((todayMs: number) => number)

function operandsOf({ values }: CheckedLeaf, zone: TimeZone): Operand[] {
  return values.map((value) =>
    isRelative(value) ? (todayMs: number) => zone.addDays(todayMs, value.daysFromToday) : comparedNumber(value, zone),
  )
}

/** Days that a field of type DateTime adds to its attribute. */
export function addedDays({ functions }: Pick<CheckedLeaf, 'functions'>): number {
  return functions.reduce((sum, call) => sum + (call.name === 'AddDays' ? call.days : 0), 0)
}

function compares(value: number, { operator }: CheckedLeaf, operands: readonly Operand[], todayMs: number): boolean {
  if (operator === 'In') return operands.some((operand) => numberOn(todayMs, operand) === value)
  return compareNumbers(operator, value, numberOn(todayMs, operands[0]))
}

function numberOn(todayMs: number, operand: Operand | undefined): number {
  return typeof operand === 'function' ? operand(todayMs) : (operand ?? Number.NaN)
}

/** The result of an operator on numbers, other than `In`. */
export function compareNumbers(operator: Operator, value: number, operand: number): boolean {
  switch (operator) {
    case 'GreaterThan':
      return value > operand
    case 'GreaterThanOrEqual':
      return value >= operand
    case 'LessThan':
      return value < operand
    case 'LessThanOrEqual':
      return value <= operand
    default:
      return value === operand
  }
}

/** A value as a number: of a date, the milliseconds of its beginning. */
export function comparedNumber(value: Exclude<ComparedValue, RelativeDay>, zone: TimeZone): number {
  return typeof value === 'object' ? (zone.startOfDate(value.date) ?? Number.NaN) : Number(value)
}
