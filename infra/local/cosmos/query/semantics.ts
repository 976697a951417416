import type { Json } from '../../../../shared/kernel/json.ts'
import { isJsonObject } from '../json-values.ts'
import type { ComparisonOperator } from './syntax.ts'

/** A value of the query language: JSON, or undefined for a missing property or an undefined operation. */
export type Value = Json | undefined

/** The order of types in ORDER BY. Comparison operators return undefined for different types. */
const TYPE_ORDER = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
type TypeName = (typeof TYPE_ORDER)[number]

function typeOf(value: Json): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as TypeName
}

/** Compares by Unicode code point, like UTF-8 bytes. JavaScript compares UTF-16 code units. */
export function compareText(first: string, second: string): number {
  const length = Math.min(first.length, second.length)
  for (let index = 0; index < length; index++) {
    const [left, right] = [first.charCodeAt(index), second.charCodeAt(index)]
    if (left !== right) return codePointRank(left) - codePointRank(right)
  }
  return first.length - second.length
}

/** Surrogates sort after all other code units. */
const codePointRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** Equality of ARRAY_CONTAINS and =: by value, regardless of the order of object members. */
export function isSame(first: Json, second: Json): boolean {
  if (first === second) return true
  if (Array.isArray(first)) {
    return (
      Array.isArray(second) &&
      first.length === second.length &&
      first.every((item, index) => isSame(item, second[index] as Json))
    )
  }
  if (!isJsonObject(first) || !isJsonObject(second)) return false
  const names = Object.keys(first)
  return (
    names.length === Object.keys(second).length &&
    names.every((name) => Object.hasOwn(second, name) && isSame(first[name] as Json, second[name] as Json))
  )
}

/** Compares two values. Undefined if one is undefined, if the types differ, or for the order of arrays or objects. */
export function compare(operator: ComparisonOperator, left: Value, right: Value): boolean | undefined {
  if (left === undefined || right === undefined) return undefined
  const type = typeOf(left)
  if (type !== typeOf(right)) return undefined
  if (operator === '=') return isSame(left, right)
  if (operator === '!=') return !isSame(left, right)
  if (type === 'array' || type === 'object') return undefined
  const order = compareSameType(left, right)
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** The order of ORDER BY: by type, then by value. Arrays and objects have no order. */
export function compareForOrder(first: Json, second: Json): number {
  const [left, right] = [TYPE_ORDER.indexOf(typeOf(first)), TYPE_ORDER.indexOf(typeOf(second))]
  return left === right ? compareSameType(first, second) : left - right
}

function compareSameType(first: Json, second: Json): number {
  if (typeof first === 'string' && typeof second === 'string') return compareText(first, second)
  if (typeof first === 'number' && typeof second === 'number') return first - second
  if (typeof first === 'boolean' && typeof second === 'boolean') return Number(first) - Number(second)
  return 0
}

/** OR with three values: true if one operand is true, false if all are false, otherwise undefined. */
export function or(operands: Iterable<Value>): boolean | undefined {
  let answer: boolean | undefined = false
  for (const operand of operands) {
    if (operand === true) return true
    if (operand !== false) answer = undefined
  }
  return answer
}

/** AND with three values: false if one operand is false, true if all are true, otherwise undefined. */
export function and(operands: Iterable<Value>): boolean | undefined {
  let answer: boolean | undefined = true
  for (const operand of operands) {
    if (operand === false) return false
    if (operand !== true) answer = undefined
  }
  return answer
}

/** NOT of a value that is not a boolean is undefined. */
export const not = (operand: Value): boolean | undefined => (typeof operand === 'boolean' ? !operand : undefined)

/**
 * Folds case by character like the ordinal comparison of .NET: a non-ASCII character never equals an ASCII character
 * (the Kelvin sign and the dotted I are unchanged), and sigma has one form.
 */
export function foldCase(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  return text.replaceAll(/[^\u0130\u212a]+/g, (run) => run.toLowerCase()).replaceAll('ς', 'σ')
}
