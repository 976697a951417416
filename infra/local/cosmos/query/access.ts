import type { Container } from '../catalog.ts'
import type { Partition } from '../partition.ts'
import type { Storage } from '../storage.ts'
import type { Field, Scalar, Term } from './planner.ts'
import { jsonExpression, valueIndex } from './value-indexes.ts'

type Bound = string | number | null
type Fragment = { readonly sql: string; readonly values: readonly Bound[] }
export type StoredRow = { pk: string; id: string; body: string }

/** Rows to look for: those of a container, perhaps of one partition, that pass the terms. */
export type Scan = {
  readonly storage: Storage
  readonly container: Container
  readonly partition: Partition | undefined
  readonly terms: readonly Term[]
}

/** Where a scan goes on: after this row in the order of partitions and ids. */
export type RowKey = { readonly pk: string; readonly id: string }

/** Counting stops here: a way in that leads to more rows is not selective. */
const PROBE_LIMIT_COUNT = 2000

/** The rows in the order of partition and id, or against it. They are read as they are taken: stop to stop reading. */
export function* scanRows(scan: Scan, after: RowKey | undefined, isDescending = false): Iterable<StoredRow> {
  const direction = isDescending ? 'DESC' : 'ASC'
  const conditions = [...conditionsOf(scan), ...(after === undefined ? [] : [keyCondition(scan, after, isDescending)])]
  const sql = `SELECT pk, id, body FROM docs INDEXED BY ${chosenIndex(scan)}
    WHERE ${conditions.map((condition) => condition.sql).join(' AND ')} ORDER BY pk ${direction}, id ${direction}`
  const values = conditions.flatMap((condition) => condition.values)
  for (const row of scan.storage.prepare(sql).iterate(...values)) yield row as StoredRow
}

/** How many rows pass the terms. */
export function countRows(scan: Scan): number {
  const conditions = conditionsOf(scan)
  const sql = `SELECT count(*) AS count FROM docs INDEXED BY ${chosenIndex(scan)}
    WHERE ${conditions.map((condition) => condition.sql).join(' AND ')}`
  return Number(scan.storage.prepare(sql).get(...conditions.flatMap((condition) => condition.values))?.count)
}

function conditionsOf(scan: Scan): Fragment[] {
  return [
    ...placeOf(scan),
    ...scan.terms.map(fragmentOf),
    { sql: '(expires_ms IS NULL OR expires_ms > ?)', values: [scan.storage.nowMs()] },
  ]
}

/** The container's number stands in the text, not as a bound value: the indexes over values are partial by it. */
function placeOf({ container, partition }: Scan): Fragment[] {
  const place: Fragment[] = [{ sql: `container = ${container.number}`, values: [] }]
  if (partition !== undefined) place.push({ sql: 'pk = ?', values: [partition] })
  return place
}

function keyCondition({ partition }: Scan, { pk, id }: RowKey, isDescending: boolean): Fragment {
  const operator = isDescending ? '<' : '>'
  return partition === undefined
    ? { sql: `(pk, id) ${operator} (?, ?)`, values: [pk, id] }
    : { sql: `id ${operator} ?`, values: [id] }
}

/**
 * Which index leads to the fewest rows. Counted rather than estimated: SQLite's statistics would be stale, and its
 * guess between two properties a coin toss. Only within a partition, which all indexes begin with.
 */
function chosenIndex(scan: Scan): string {
  const isById = scan.terms.some((term) => fieldOf(term)?.kind === 'id')
  if (scan.partition === undefined || isById) return 'docs_by_id'
  let [chosen, fewest] = ['docs_by_id', Number.POSITIVE_INFINITY]
  for (const { index, isOrdered, terms } of waysIn(scan)) {
    const count = probe(scan, index, terms)
    // Rows that come in another order have to be sorted for each page: worth it for few only.
    const isFit = isOrdered || count < PROBE_LIMIT_COUNT
    if (isFit && count < fewest) [chosen, fewest] = [index, count]
  }
  return chosen
}

function waysIn({ storage, container, terms }: Scan): { index: string; isOrdered: boolean; terms: readonly Term[] }[] {
  const byValue = terms.flatMap((term) => {
    const field = fieldOf(term)
    if (field?.kind !== 'json' || isPartitionKey(field, container)) return []
    const index = valueIndex(storage, container.number, field.path)
    return index === undefined ? [] : [{ index, isOrdered: term.kind === 'equals', terms: [term] }]
  })
  const byTs = terms.filter((term) => fieldOf(term)?.kind === 'ts')
  return byTs.length === 0 ? byValue : [...byValue, { index: 'docs_by_ts', isOrdered: false, terms: byTs }]
}

const fieldOf = (term: Term): Field | undefined => ('field' in term ? term.field : undefined)

const isPartitionKey = ({ path }: Field & { kind: 'json' }, { partitionKeyPath }: Container): boolean =>
  path.join('/') === partitionKeyPath.join('/')

function probe(scan: Scan, index: string, terms: readonly Term[]): number {
  const conditions = [...placeOf(scan), ...terms.map(fragmentOf)]
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM docs INDEXED BY ${index}
    WHERE ${conditions.map((condition) => condition.sql).join(' AND ')} LIMIT ${PROBE_LIMIT_COUNT})`
  return Number(scan.storage.prepare(sql).get(...conditions.flatMap((condition) => condition.values))?.count)
}

function fragmentOf(term: Term): Fragment {
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
      return { sql: 'instr(body, ?) > 0', values: [term.text] }
    case 'like':
      return likeFragment(term.path, term.pattern)
  }
}

/** LIKE reads no further than a NUL, which JSON writes as an escape: such documents pass. */
function likeFragment(path: readonly string[] | undefined, pattern: string): Fragment {
  return path === undefined
    ? { sql: "body LIKE ? ESCAPE '\\'", values: [pattern] }
    : { sql: `(${jsonExpression(path)} LIKE ? ESCAPE '\\' OR instr(body, '\\u0000') > 0)`, values: [pattern] }
}

function columnOf(field: Field): string {
  return field.kind === 'json' ? jsonExpression(field.path) : field.kind
}

/** SQLite's JSON has true and false as 1 and 0. */
const bound = (value: Scalar): Bound => (typeof value === 'boolean' ? Number(value) : value)
