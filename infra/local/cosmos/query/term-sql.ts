import { ODD_TEXT } from '../storage.ts'
import type { Field, Scalar, Term } from './planner.ts'
import { jsonExpression } from './value-indexes.ts'

type Bound = string | number | null

export type Fragment = { readonly sql: string; readonly values: readonly Bound[] }

/** The term as an index over the values of its property can check it. */
export const indexedFragment = (term: Term): Fragment =>
  term.kind === 'occurs' && term.field !== undefined
    ? { sql: `instr(${columnOf(term.field)}, ?) > 0`, values: [term.text] }
    : fragmentOf(term)

export function fragmentOf(term: Term): Fragment {
  switch (term.kind) {
    case 'equals':
      return { sql: `${columnOf(term.field)} IS ?`, values: [bound(term.value)] }
    case 'one-of':
      return {
        sql: `${columnOf(term.field)} IN (SELECT value FROM json_each(?))`,
        values: [JSON.stringify(term.values)],
      }
    case 'range':
      return { sql: `${columnOf(term.field)} ${term.operator} ?`, values: [bound(term.value)] }
    case 'occurs':
      return term.field === undefined
        ? { sql: 'instr(body, ?) > 0', values: [term.text] }
        : { sql: `(instr(${columnOf(term.field)}, ?) > 0 OR ${ODD_TEXT})`, values: [term.text] }
    case 'is-text':
      return { sql: `${columnOf(term.field)} >= ''`, values: [] }
    case 'is-defined':
      return { sql: `${columnOf(term.field).replace('json_extract', 'json_type')} IS NOT NULL`, values: [] }
    case 'any':
      return anyOf(term.alternatives.map((terms) => terms.map(fragmentOf)))
  }
}

function anyOf(alternatives: readonly (readonly Fragment[])[]): Fragment {
  const sql = alternatives.map((fragments) => fragments.map((fragment) => fragment.sql).join(' AND ')).join(' OR ')
  return { sql: `(${sql})`, values: alternatives.flat().flatMap(({ values }) => values) }
}

function columnOf(field: Field): string {
  return field.kind === 'json' ? jsonExpression(field.path) : field.kind
}

/** SQLite represents JSON true and false as 1 and 0. */
const bound = (value: Scalar): Bound => (typeof value === 'boolean' ? Number(value) : value)
