import { DAY_MS } from '../../kernel/timestamp.ts'
import type { ColumnValues, InstantValues, ListValues, TextValues } from '../tenant-index/column-values.ts'
import type { DerivedTextMemory } from '../tenant-index/derived-texts.ts'
import { isList, parseInteger } from './compared-value.ts'
import type { CheckedLeaf, ComparedValue } from './condition.ts'
import { textTest } from './text-test.ts'

/**
 * How a leaf decides on the values of a column: `null` holds where there is none; `listed` for the values it names, which
 * are looked up; `scan` looks at every distinct value. Negative operators are tested as their opposites and turned over
 * afterwards, which also makes them hold where a value is missing.
 */
export type LeafTest =
  | { readonly kind: 'null' }
  | { readonly kind: 'listed'; readonly codeOf: (text: string) => number; readonly texts: readonly string[] }
  | {
      readonly kind: 'scan'
      readonly dependsOnDay: boolean
      readonly holds: (code: number, todayMs: number) => boolean
    }

/** Whether the leaf is the opposite of its test. */
export function isNegative({ operator }: CheckedLeaf): boolean {
  return operator === 'NotEquals' || operator === 'NotContains'
}

/** How a leaf is decided on the values of its column. Of another kind than its type has, none fits. */
export function leafTest(leaf: CheckedLeaf, values: ColumnValues, derivedTexts: DerivedTextMemory): LeafTest {
  if (leaf.operator === 'IsNull') return { kind: 'null' }
  if (isList(leaf.type)) return values.kind === 'list' ? listTest(leaf, values) : NEVER
  switch (leaf.type) {
    case 'DateTime':
      return values.kind === 'instant' ? instantTest(leaf, values) : NEVER
    case 'Integer':
      return values.kind === 'text' ? integerTest(leaf, values) : NEVER
    case 'String':
      if (values.kind !== 'text') return NEVER
      return isEquality(leaf) && leaf.functions.length === 0
        ? listed(leaf, values)
        : stringTest(leaf, values, derivedTexts)
    default:
      return values.kind === 'text' || values.kind === 'reference' ? listed(leaf, values) : NEVER
  }
}

/** The outcome of `Today()` as a field: the same on every row. */
export function holdsOn(todayMs: number, leaf: CheckedLeaf): boolean {
  return leaf.operator !== 'IsNull' && compares(todayMs, leaf, todayMs) !== isNegative(leaf)
}

/** A leaf on a column of another kind finds no value it could be compared with. */
const NEVER: LeafTest = { kind: 'scan', dependsOnDay: false, holds: () => false }

function listed(leaf: CheckedLeaf, values: { codeOf(text: string): number }): LeafTest {
  return { kind: 'listed', codeOf: (text) => values.codeOf(text), texts: [...new Set(leaf.values.map(String))] }
}

function isEquality({ operator }: CheckedLeaf): boolean {
  return operator === 'Equals' || operator === 'NotEquals' || operator === 'In'
}

function stringTest(leaf: CheckedLeaf, { dictionary }: TextValues, derivedTexts: DerivedTextMemory): LeafTest {
  const test = textTest(leaf)
  if (leaf.functions.length === 0) {
    const { entries } = dictionary
    const holds = (code: number): boolean =>
      test(entries.bytes, entries.offsets[code] as number, entries.offsets[code + 1] as number)
    return { kind: 'scan', dependsOnDay: false, holds }
  }
  const derived = derivedTexts.of(leaf.name, dictionary, leaf.functions)
  const holds = (code: number): boolean => {
    derived.read(code)
    return test(derived.bytes, derived.start, derived.end)
  }
  return { kind: 'scan', dependsOnDay: false, holds }
}

function integerTest(leaf: CheckedLeaf, { dictionary }: TextValues): LeafTest {
  const holds = (code: number): boolean => {
    const value = parseInteger(dictionary.textOf(code))
    return value !== undefined && compares(value, leaf, 0)
  }
  return { kind: 'scan', dependsOnDay: false, holds }
}

function instantTest(leaf: CheckedLeaf, values: InstantValues): LeafTest {
  const addedMs = leaf.functions.reduce((sum, call) => sum + (call.name === 'AddDays' ? call.days * DAY_MS : 0), 0)
  return {
    kind: 'scan',
    dependsOnDay: leaf.values.some((value) => typeof value === 'object'),
    holds: (code, todayMs) => compares((values.instantsMs[code] as number) + addedMs, leaf, todayMs),
  }
}

function listTest(leaf: CheckedLeaf, values: ListValues): LeafTest {
  const wanted = String(leaf.values[0])
  let element = 0
  let elementCount = 0
  const holds = (code: number): boolean => {
    // An element without a code is in no list yet; it may get one as further lists arrive.
    if (element === 0 && elementCount !== values.elementCount) {
      element = values.codeOfElement(wanted)
      elementCount = values.elementCount
    }
    return element !== 0 && values.contains(code, element)
  }
  return { kind: 'scan', dependsOnDay: false, holds }
}

function compares(value: number, { operator, values }: CheckedLeaf, todayMs: number): boolean {
  const operand = numberOf(values[0], todayMs)
  switch (operator) {
    case 'GreaterThan':
      return value > operand
    case 'GreaterThanOrEqual':
      return value >= operand
    case 'LessThan':
      return value < operand
    case 'LessThanOrEqual':
      return value <= operand
    case 'In':
      return values.some((each) => numberOf(each, todayMs) === value)
    default:
      return value === operand
  }
}

function numberOf(value: ComparedValue | undefined, todayMs: number): number {
  return typeof value === 'object' ? todayMs + value.daysFromToday * DAY_MS : Number(value)
}
