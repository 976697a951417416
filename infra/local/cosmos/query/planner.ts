import type { Json } from '../../../../shared/kernel/json.ts'
import { constantOf, type Parameters } from './evaluator.ts'
import type { ComparisonOperator, Expression } from './syntax.ts'

/** A part of a document that SQLite can read: a column or a JSON path. */
export type Field = { readonly kind: 'id' | 'ts' } | JsonField
type JsonField = { readonly kind: 'json'; readonly path: readonly string[] }
export type Scalar = string | number | boolean | null

/** A condition that SQLite checks. It matches all rows that the condition of the query matches, and possibly more. */
export type Term =
  | { readonly kind: 'equals'; readonly field: Field; readonly value: Scalar }
  | { readonly kind: 'one-of'; readonly field: Field; readonly values: readonly Scalar[] }
  | {
      readonly kind: 'range'
      readonly field: Field
      readonly operator: '<' | '<=' | '>' | '>='
      readonly value: Scalar
    }
  /** The text occurs in a property or, without a field, anywhere in the JSON of the document. */
  | { readonly kind: 'occurs'; readonly field: JsonField | undefined; readonly text: string }
  | { readonly kind: 'is-text' | 'is-defined'; readonly field: JsonField }
  /** All terms of one of the alternatives. */
  | { readonly kind: 'any'; readonly alternatives: readonly (readonly Term[])[] }

export type Plan = {
  readonly terms: readonly Term[]
  /** The remaining condition, evaluated on each row that matches the terms. */
  readonly residual: readonly Expression[]
}

type Pushed = { readonly terms: readonly Term[]; readonly isExact: boolean }

const NOTHING: Pushed = { terms: [], isExact: false }
const FLIPPED = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const
/** Names that need no escaping in SQLite JSON paths and SQL literals. */
const PLAIN_NAME = /^[\w $./:@-]+$/

/** Splits a condition into terms for SQLite and the remaining condition. Parts joined by AND become terms, and those by OR one. */
export function planFilter(where: Expression | undefined, parameters: Parameters): Plan {
  const parts = where === undefined ? [] : where.kind === 'and' ? where.operands : [where]
  const pushed = parts.map((part) => ({ part, ...push(part, parameters) }))
  return {
    terms: pushed.flatMap(({ terms }) => terms),
    residual: pushed.filter(({ isExact }) => !isExact).map(({ part }) => part),
  }
}

function push(part: Expression, parameters: Parameters): Pushed {
  switch (part.kind) {
    case 'compare':
      return pushComparison(part, parameters)
    case 'in':
      return pushOneOf(
        part.operand,
        part.options.map((option) => constantOf(option, parameters)),
      )
    case 'call':
      if (part.name === 'ARRAY_CONTAINS') return pushArrayContains(part, parameters)
      return part.name === 'IS_DEFINED' ? pushDefined(part) : pushText(part, parameters)
    case 'or':
      return pushAlternatives(part.operands, parameters)
    default:
      return NOTHING
  }
}

function pushAlternatives(operands: readonly Expression[], parameters: Parameters): Pushed {
  const alternatives = operands.map((operand) => push(operand, parameters).terms)
  const isLimited = alternatives.every((terms) => terms.length > 0)
  return isLimited ? { terms: [{ kind: 'any', alternatives }], isExact: false } : NOTHING
}

function pushComparison(part: Expression & { kind: 'compare' }, parameters: Parameters): Pushed {
  const right = constantOf(part.right, parameters)
  if (right !== undefined) return pushOperator(part.operator, part.left, right)
  const left = constantOf(part.left, parameters)
  return left === undefined ? NOTHING : pushOperator(FLIPPED[part.operator], part.right, left)
}

function pushOperator(operator: ComparisonOperator, operand: Expression, value: Json): Pushed {
  const field = fieldOf(operand)
  if (field === undefined || operator === '!=' || !isComparable(field, value)) return NOTHING
  const isColumn = field.kind !== 'json'
  if (operator === '=') return { terms: [{ kind: 'equals', field, value }], isExact: isColumn }
  // Every string is at least the empty string, which compares with strings only.
  if (!isColumn && operator === '>=' && value === '') return { terms: [{ kind: 'is-text', field }], isExact: false }
  if (isColumn) return { terms: [{ kind: 'range', field, operator, value }], isExact: true }
  return typeof value === 'number' ? pushNumberRange(operator, field, value) : NOTHING
}

/** The last digits of fractions can differ between JSON and SQLite, so range ends are inclusive. */
function pushNumberRange(operator: '<' | '<=' | '>' | '>=', field: Field, value: number): Pushed {
  const inclusive = operator === '<' || operator === '<=' ? '<=' : '>='
  return { terms: [{ kind: 'range', field, operator: inclusive, value }], isExact: false }
}

function pushOneOf(operand: Expression, values: readonly (Json | undefined)[]): Pushed {
  const field = fieldOf(operand)
  if (field === undefined) return NOTHING
  const comparable = values.filter((value) => isComparable(field, value))
  // IN in SQL never matches null.
  if (comparable.length !== values.length || comparable.includes(null)) return NOTHING
  return { terms: [{ kind: 'one-of', field, values: comparable }], isExact: field.kind !== 'json' }
}

function pushArrayContains(part: Expression & { kind: 'call' }, parameters: Parameters): Pushed {
  const [list, searched] = part.operands
  const values = list === undefined ? undefined : constantOf(list, parameters)
  return Array.isArray(values) && searched !== undefined ? pushOneOf(searched, values) : NOTHING
}

function pushDefined({ operands: [operand] }: Expression & { kind: 'call' }): Pushed {
  const field = operand && fieldOf(operand)
  return field?.kind === 'json' ? { terms: [{ kind: 'is-defined', field }], isExact: false } : NOTHING
}

/** A text that a function searches with regard to case. Its result is checked for each row that contains the text. */
function pushText({ operands }: Expression & { kind: 'call' }, parameters: Parameters): Pushed {
  const [operand, searchedOperand, ...options] = operands
  if (operand?.kind !== 'property' || searchedOperand === undefined || options.length > 0) return NOTHING
  const searched = constantOf(searchedOperand, parameters)
  if (typeof searched !== 'string' || searched === '' || !isPlainText(searched)) return NOTHING
  const field = fieldOf(operand)
  if (field?.kind === 'json') return { terms: [{ kind: 'occurs', field, text: searched }], isExact: false }
  return { terms: [{ kind: 'occurs', field: undefined, text: JSON.stringify(searched).slice(1, -1) }], isExact: false }
}

function fieldOf(operand: Expression): Field | undefined {
  if (operand.kind !== 'property' || operand.path.length === 0) return undefined
  const [name] = operand.path
  if (operand.path.length === 1 && name === 'id') return { kind: 'id' }
  if (operand.path.length === 1 && name === '_ts') return { kind: 'ts' }
  return operand.path.every((segment) => PLAIN_NAME.test(segment)) ? { kind: 'json', path: operand.path } : undefined
}

/** Whether SQLite finds all documents with the value. False for numbers that it can round differently. */
function isComparable(field: Field, value: Json | undefined): value is Scalar {
  if (typeof value === 'string') return field.kind !== 'ts' && isPlainText(value)
  if (typeof value === 'number') return field.kind === 'ts' || (field.kind === 'json' && Number.isSafeInteger(value))
  return field.kind === 'json' && (typeof value === 'boolean' || value === null)
}

/** Whether the text is valid UTF-8 without NUL. */
const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
