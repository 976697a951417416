import type { TimeZone } from '../../../kernel/time-zone.ts'
import { DAY_MS } from '../../../kernel/timestamp.ts'
import { type CheckedLeaf, isRelative, readsToday } from '../condition.ts'
import { isList } from '../field-expression.ts'
import { comparedNumber, compareNumbers, isNegative } from '../leaf-test.ts'
import { MEMBER_OF_COLLECTION } from '../schema.ts'
import { type Budget, possibleTextResults } from './text-results.ts'

/** The steps that an analysis may still take, and the time zone of days. */
export type ProofContext = { readonly budget: Budget; readonly zone: TimeZone }

/** Leaves of one attribute whose results are looked at together. */
export const LEAVES_AT_ONCE_COUNT = 12

/**
 * Names what a leaf tests. Leaves with the same name depend on the same value; others are taken as independent, so a
 * function of an attribute is a value of its own.
 */
export function subjectOf({ name, functions, operand, operator }: CheckedLeaf): string {
  const isNull = operator === 'IsNull'
  return operand === undefined || isNull
    ? JSON.stringify([name, functions])
    : JSON.stringify([name, functions, operand])
}

/**
 * The combinations of results that leaves of one subject can have: bit n is the result of leaf n. There may be more than
 * the data can have, never fewer. Undefined when the budget is used up.
 */
export function possibleResults(
  leaves: readonly CheckedLeaf[],
  context: ProofContext,
): ReadonlySet<number> | undefined {
  const [first] = leaves
  if (first === undefined) return new Set([0])
  const positive = positiveResults(first, leaves, context)
  if (positive === undefined) return undefined
  const inverted = maskOf(leaves, isNegative)
  const absent = maskOf(leaves, ({ operator }) => operator === 'IsNull')
  const results = new Set(positive.values().map((mask) => (mask & ~absent) ^ inverted))
  // Without a value no test holds, so its opposite does. Membership of collections and `Today()` are always known.
  const isKnown = first.name === MEMBER_OF_COLLECTION || (readsToday(first) && first.operand === undefined)
  return isKnown ? results : results.add(inverted | absent)
}

function positiveResults(
  first: CheckedLeaf,
  leaves: readonly CheckedLeaf[],
  context: ProofContext,
): ReadonlySet<number> | undefined {
  if (first.operand !== undefined) return comparisonsOfPair(leaves)
  if (first.name === MEMBER_OF_COLLECTION || isList(first.type)) return unionsOf(masksByValue(leaves).values())
  switch (first.type) {
    case 'Boolean':
      return resultsOn(['true', 'false'], leaves)
    case 'Integer':
      return integerResults(leaves)
    case 'DateTime':
      return instantResults(leaves, context)
    case 'String':
      return leaves.every(isEquality) ? valueResults(leaves) : possibleTextResults(leaves, context.budget)
    default:
      return valueResults(leaves)
  }
}

function isEquality({ operator }: CheckedLeaf): boolean {
  return operator === 'Equals' || operator === 'NotEquals' || operator === 'In' || operator === 'IsNull'
}

function maskOf(leaves: readonly CheckedLeaf[], holds: (leaf: CheckedLeaf) => boolean): number {
  return leaves.reduce((mask, leaf, index) => mask | (Number(holds(leaf)) << index), 0)
}

/** The leaves that name each value. Ids in a list are compared without case. */
function masksByValue(leaves: readonly CheckedLeaf[]): Map<string, number> {
  const masks = new Map<string, number>()
  for (const [index, { values, type }] of leaves.entries()) {
    for (const value of values) {
      const key = isList(type) && type !== 'StringList' ? String(value).toLowerCase() : String(value)
      masks.set(key, (masks.get(key) ?? 0) | (1 << index))
    }
  }
  return masks
}

/** Each value that a leaf names, or none of them. */
function valueResults(leaves: readonly CheckedLeaf[]): Set<number> {
  return new Set([0, ...masksByValue(leaves).values()])
}

/** Any of the values together, or none of them. */
function unionsOf(masks: Iterable<number>): Set<number> {
  const unions = new Set([0])
  for (const mask of new Set(masks)) for (const union of [...unions]) unions.add(union | mask)
  return unions
}

function resultsOn(values: readonly string[], leaves: readonly CheckedLeaf[]): Set<number> {
  const masks = masksByValue(leaves)
  return new Set(values.map((value) => masks.get(value) ?? 0))
}

/** The tests of one pair of attributes: of each kind, all leaves have the same result. */
function comparisonsOfPair(leaves: readonly CheckedLeaf[]): Set<number> {
  const kindOf = ({ operator }: CheckedLeaf) =>
    operator === 'NotEquals' ? 'Equals' : operator === 'NotContains' ? 'Contains' : operator
  const kinds = new Set(leaves.map(kindOf))
  return unionsOf([...kinds].map((kind) => maskOf(leaves, (leaf) => kindOf(leaf) === kind)))
}

/** Whole numbers: those that leaves name and their neighbours. */
function integerResults(leaves: readonly CheckedLeaf[]): Set<number> {
  const named = [...new Set(leaves.flatMap(({ values }) => values.map(Number)))]
  const points = new Set(named.flatMap((value) => [value - 1, value, value + 1]))
  const onValue = (value: number) => maskOf(leaves, (leaf) => comparesWith(leaf, value, leaf.values.map(Number)))
  return new Set([...(points.size === 0 ? [0] : points)].map(onValue))
}

function comparesWith({ operator }: CheckedLeaf, value: number, operands: readonly number[]): boolean {
  if (operator === 'In') return operands.includes(value)
  return operator !== 'IsNull' && compareNumbers(operator, value, operands[0] as number)
}

/** Instants around those that leaves name, on days around those on which `Today()` reaches them. */
function instantResults(
  leaves: readonly CheckedLeaf[],
  { budget, zone }: ProofContext,
): ReadonlySet<number> | undefined {
  if (budget.stepCount < 0) return undefined
  const values = leaves.flatMap((leaf) => leaf.values)
  const fixedMs = [...new Set(values.flatMap((value) => (isRelative(value) ? [] : [comparedNumber(value, zone)])))]
  const isToday = leaves.some(readsToday)
  const addedDays = values.filter(isRelative).map(({ daysFromToday }) => daysFromToday)
  const relativeDays = [...new Set([...addedDays, ...(isToday ? [0] : [])])]
  const results = new Set<number>()
  for (const todayMs of relativeDays.length === 0 ? [0] : daysAround(fixedMs, relativeDays, zone)) {
    const relativeMs = relativeDays.map((days) => zone.addDays(todayMs, days))
    const pointsMs = isToday ? [todayMs] : around([...fixedMs, ...relativeMs])
    budget.stepCount -= pointsMs.length * values.length
    if (budget.stepCount < 0) return undefined
    const operands = leaves.map((leaf) =>
      leaf.values.map((value) =>
        isRelative(value) ? zone.addDays(todayMs, value.daysFromToday) : comparedNumber(value, zone),
      ),
    )
    for (const instantMs of pointsMs) {
      let mask = 0
      for (const [index, leaf] of leaves.entries()) {
        if (comparesWith(leaf, instantMs, operands[index] as number[])) mask |= 1 << index
      }
      results.add(mask)
    }
  }
  return results
}

/**
 * Days on which the beginnings of relative days lie before, on and after each of the instants. The length of a day
 * depends on the zone, so these are days of the calendar. `Today()` lies too late to reach one of the few dates that zones
 * have left out.
 */
function daysAround(fixedMs: readonly number[], relativeDays: readonly number[], zone: TimeZone): Set<number> {
  const days = fixedMs.flatMap((at) => relativeDays.map((added) => zone.startOfDay(zone.addDays(at, -added))))
  return new Set((days.length === 0 ? [0] : days).flatMap((day) => [zone.addDays(day, -1), day, zone.addDays(day, 1)]))
}

/** The points, one between each two of them, one before and one after all. */
function around(points: readonly number[]): number[] {
  const sorted = [...new Set(points)].sort((left, right) => left - right)
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)]
  const between = sorted.slice(1).map((point, index) => (point + (sorted[index] as number)) / 2)
  return [first - DAY_MS, ...sorted, ...between, last + DAY_MS]
}
