import type { Json } from '../json.ts'
import { constantOf, type Parameters } from './evaluator.ts'
import type { ComparisonOperator, Expression } from './syntax.ts'

/** What SQLite can see of a document: a column, or a path into its JSON. */
export type Field = { readonly kind: 'id' | 'ts' } | JsonField
type JsonField = { readonly kind: 'json'; readonly path: readonly string[] }
export type Scalar = string | number | boolean | null

/** A condition that SQLite checks. It lets every row pass that the query's own condition lets pass, and perhaps more. */
export type Term =
  | { readonly kind: 'equals'; readonly field: Field; readonly value: Scalar }
  | { readonly kind: 'one-of'; readonly field: Field; readonly values: readonly Scalar[] }
  | {
      readonly kind: 'range'
      readonly field: Field
      readonly operator: '<' | '<=' | '>' | '>='
      readonly value: Scalar
    }
  /** The text occurs in the text of a property; without one, somewhere in the document's JSON. */
  | { readonly kind: 'occurs'; readonly field: JsonField | undefined; readonly text: string }
  | { readonly kind: 'is-text' | 'is-defined'; readonly field: JsonField }
  /** The document's JSON, or the text at a path in it, matches a LIKE pattern with a backslash as its escape. */
  | { readonly kind: 'like'; readonly path: readonly string[] | undefined; readonly pattern: string }

export type Plan = {
  readonly terms: readonly Term[]
  /** What remains to be evaluated on each row that passes the terms. */
  readonly residual: readonly Expression[]
}

type Pushed = { readonly terms: readonly Term[]; readonly isExact: boolean }

const NOTHING: Pushed = { terms: [], isExact: false }
const FLIPPED = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const
/** Names that mean the same in SQLite's JSON paths and SQL literals as they do here. */
const PLAIN_NAME = /^[\w $./:@-]+$/
/** SQLite bounds patterns at 50,000 bytes; a longer text is rare and left to the evaluator. */
const SEARCHED_LIMIT_COUNT = 1000
/** What JSON writes as it is. */
const UNESCAPED_RUN = /[^\p{Cc}"\\]+/gu

/** Splits a condition into what SQLite checks beforehand and what is left. Only parts joined by AND can be taken out. */
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
    default:
      return NOTHING
  }
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
  // Every text is at least the empty one, and nothing else compares with it.
  if (!isColumn && operator === '>=' && value === '') return { terms: [{ kind: 'is-text', field }], isExact: false }
  if (isColumn) return { terms: [{ kind: 'range', field, operator, value }], isExact: true }
  return typeof value === 'number' ? pushNumberRange(operator, field, value) : NOTHING
}

/** The last digits of fractions may differ between JSON and SQLite: what is next to a whole number passes with it. */
function pushNumberRange(operator: '<' | '<=' | '>' | '>=', field: Field, value: number): Pushed {
  const inclusive = operator === '<' || operator === '<=' ? '<=' : '>='
  return { terms: [{ kind: 'range', field, operator: inclusive, value }], isExact: false }
}

function pushOneOf(operand: Expression, values: readonly (Json | undefined)[]): Pushed {
  const field = fieldOf(operand)
  if (field === undefined) return NOTHING
  const comparable = values.filter((value) => isComparable(field, value))
  // SQL's IN never finds null.
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

function pushText(part: Expression & { kind: 'call' }, parameters: Parameters): Pushed {
  const [operand, searchedOperand, foldedOperand] = part.operands
  if (operand?.kind !== 'property' || searchedOperand === undefined) return NOTHING
  const searched = constantOf(searchedOperand, parameters)
  const isFolded = foldedOperand === undefined ? false : constantOf(foldedOperand, parameters)
  if (typeof searched !== 'string' || typeof isFolded !== 'boolean' || !isPlainText(searched)) return NOTHING
  const field = fieldOf(operand)
  if (!isFolded && part.name === 'STARTSWITH' && field?.kind === 'id') return pushPrefix(searched, field)
  if (!isFolded && part.name === 'STRINGEQUALS') return pushOperator('=', operand, searched)
  if (searched === '' || searched.length > SEARCHED_LIMIT_COUNT) return NOTHING
  if (isFolded) return { terms: foldedTerms(searched, field), isExact: false }
  if (field?.kind === 'json') return { terms: [{ kind: 'occurs', field, text: searched }], isExact: false }
  return { terms: [{ kind: 'occurs', field: undefined, text: JSON.stringify(searched).slice(1, -1) }], isExact: false }
}

/** The whole document first, for that is cheap, then the property alone, for names and other values match as well. */
function foldedTerms(searched: string, field: Field | undefined): Term[] {
  const runs = (searched.match(UNESCAPED_RUN) ?? []).map(likePattern)
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), '')
  const terms: Term[] = [{ kind: 'like', path: undefined, pattern: `%${longest}%` }]
  if (field?.kind === 'json') terms.push({ kind: 'like', path: field.path, pattern: `%${likePattern(searched)}%` })
  return terms
}

/**
 * LIKE ignores the case of ASCII only. Folding never crosses ASCII's border and takes one character to one, so any
 * character may stand where the text has one beyond ASCII.
 */
const likePattern = (text: string): string =>
  [...text].map((character) => (character > '\x7f' ? '_' : character.replace(/[%_\\]/, '\\$&'))).join('')

/** The texts beginning with a prefix are those from it up to, and without, its successor. */
function pushPrefix(prefix: string, field: Field): Pushed {
  const terms: Term[] = [{ kind: 'range', field, operator: '>=', value: prefix }]
  const successor = successorOf(prefix)
  if (successor !== undefined) terms.push({ kind: 'range', field, operator: '<', value: successor })
  return { terms, isExact: prefix === '' || successor !== undefined }
}

function successorOf(prefix: string): string | undefined {
  const last = [...prefix].at(-1)
  const codePoint = last?.codePointAt(0)
  if (last === undefined || codePoint === undefined || codePoint === 0x10ffff) return undefined
  const next = codePoint === 0xd7ff ? 0xe000 : codePoint + 1
  return prefix.slice(0, -last.length) + String.fromCodePoint(next)
}

function fieldOf(operand: Expression): Field | undefined {
  if (operand.kind !== 'property' || operand.path.length === 0) return undefined
  const [name] = operand.path
  if (operand.path.length === 1 && name === 'id') return { kind: 'id' }
  if (operand.path.length === 1 && name === '_ts') return { kind: 'ts' }
  return operand.path.every((each) => PLAIN_NAME.test(each)) ? { kind: 'json', path: operand.path } : undefined
}

/** Whether SQLite finds at least the documents that equal the value. Not so for numbers it may round otherwise. */
function isComparable(field: Field, value: Json | undefined): value is Scalar {
  if (typeof value === 'string') return field.kind !== 'ts' && isPlainText(value)
  if (typeof value === 'number') return field.kind === 'ts' || (field.kind === 'json' && Number.isSafeInteger(value))
  return field.kind === 'json' && (typeof value === 'boolean' || value === null)
}

/** Text that is the same in UTF-8 and does not end early where C strings do. */
const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
