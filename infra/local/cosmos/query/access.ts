import type { Container } from '../catalog.ts'
import type { Partition } from '../item-rules.ts'
import { ODD_TEXT, type Storage } from '../storage.ts'
import type { Field, Term } from './planner.ts'
import { type Fragment, fragmentOf, indexedFragment } from './term-sql.ts'
import { compositeIndex, jsonExpression, presence, valueIndex } from './value-indexes.ts'

export type StoredRow = { pk: string; id: string; body: string }

/** Rows to find: those of a container or partition that match the terms. */
export type Scan = {
  readonly storage: Storage
  readonly container: Container
  readonly partition: Partition | undefined
  readonly terms: readonly Term[]
}

/** Start of the scan: after this row in the order of partitions and ids. */
export type RowKey = { readonly pk: string; readonly id: string }

/** Counting stops here: an index that finds more rows is not selective. */
const PROBE_LIMIT_COUNT = 2000
/** A higher limit for substrings and lists: the alternative reads every document. */
const PATIENT_PROBE_LIMIT_COUNT = 20_000

/** The rows by partition and id, ascending or descending. Rows are read lazily. */
export function scanRows(scan: Scan, after: RowKey | undefined, isDescending = false): Iterable<StoredRow> {
  return rowsBy(chosenWay(scan), scan, after, isDescending)
}

function* rowsBy(way: ChosenWay, scan: Scan, after?: RowKey, isDescending = false): Iterable<StoredRow> {
  const direction = isDescending ? 'DESC' : 'ASC'
  const conditions = [
    ...conditionsOf(scan, way),
    ...(after === undefined ? [] : [keyCondition(scan, after, isDescending)]),
  ]
  const { sql, values } = selected('pk, id, body', way.index, conditions)
  const statement = scan.storage.prepare(`${sql} ORDER BY pk ${direction}, id ${direction}`)
  // Rows as arrays take half the time of rows as objects.
  statement.setReturnArrays(true)
  for (const row of statement.iterate(...values)) {
    const [pk, id, body] = row as unknown as readonly [string, string, string]
    yield { pk, id, body }
  }
}

/**
 * The rows for a query ordered by a property. Ordered by value and id if an index selects the rows, or if there are so
 * many rows that the order avoids reading most of them. Unordered otherwise.
 */
export function scanRowsFor(
  scan: Scan,
  path: readonly string[],
): { readonly rows: Iterable<StoredRow>; readonly isInOrder: boolean } {
  const canBeInOrder = wantsTextAt(scan, path) && !namesIds(scan) && !hasOddText(scan)
  const searching = canBeInOrder ? compositeWay(scan, path) : undefined
  if (searching !== undefined) return { rows: rowsByText(scan, path, searching), isInOrder: true }
  const way = chosenWay(scan)
  const isShort = way.count < PROBE_LIMIT_COUNT || way.terms.some(({ kind }) => kind === 'occurs')
  const index = canBeInOrder && !isShort ? valueIndex(scan.storage, scan.container.number, path) : undefined
  return index === undefined
    ? { rows: rowsBy(way, scan), isInOrder: false }
    : { rows: rowsByText(scan, path, { index, terms: [] }), isInOrder: true }
}

/** The order of an index applies to strings only. */
function wantsTextAt({ partition, terms }: Scan, path: readonly string[]): boolean {
  return partition !== undefined && terms.some((term) => term.kind === 'is-text' && isSamePath(term.field.path, path))
}

/** The composite index that is ordered by one property and contains the searched property. */
function compositeWay(scan: Scan, path: readonly string[]): Pick<Way, 'index' | 'terms'> | undefined {
  for (const term of scan.terms) {
    if (term.kind !== 'occurs' || term.field === undefined) continue
    const index = compositeIndex(scan.storage, scan.container.number, path, term.field.path)
    if (index !== undefined) return { index, terms: [term] }
  }
  return undefined
}

function rowsByText(
  scan: Scan,
  path: readonly string[],
  { index, terms }: Pick<Way, 'index' | 'terms'>,
): Iterable<StoredRow> {
  const { sql, values } = selected('pk, id, body', index, conditionsOf(scan, { path, terms }))
  const statement = scan.storage.prepare(`${sql} ORDER BY ${jsonExpression(path)}, id`)
  return statement.iterate(...values) as Iterable<StoredRow>
}

/** A query for the rows that fulfil all conditions, by this index. */
function selected(columns: string, index: string, conditions: readonly Fragment[]): Fragment {
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  const values = conditions.flatMap((condition) => condition.values)
  return { sql: `SELECT ${columns} FROM docs INDEXED BY ${index} WHERE ${where}`, values }
}

/**
 * The distinct strings of a property, if the only term compares that property with strings. Undefined for other scans.
 * Reads the index of the property and no documents.
 */
export function distinctStrings(scan: Scan, path: readonly string[]): readonly string[] | undefined {
  const [term, ...others] = scan.terms
  const isOfStrings =
    others.length === 0 &&
    term?.kind === 'one-of' &&
    term.field.kind === 'json' &&
    isSamePath(term.field.path, path) &&
    term.values.every((value) => typeof value === 'string')
  if (!isOfStrings || hasOddText(scan)) return undefined
  const way = chosenWay(scan)
  const { sql, values } = selected(`DISTINCT ${jsonExpression(path)} AS text`, way.index, conditionsOf(scan, way))
  const rows = scan.storage.prepare(sql).all(...values)
  return rows.map(({ text }) => String(text))
}

export function countRows(scan: Scan): number {
  const way = chosenWay(scan)
  const { sql, values } = selected('count(*) AS count', way.index, conditionsOf(scan, way))
  return Number(scan.storage.prepare(sql).get(...values)?.count)
}

function conditionsOf(scan: Scan, way: Pick<Way, 'path' | 'terms'>): Fragment[] {
  // Terms that the index can check are repeated in indexed form, to avoid reading each document.
  const occurring = way.terms.filter(({ kind }) => kind === 'occurs')
  return [
    ...partitionConditions(scan),
    ...presenceOf(way),
    ...occurring.map(indexedFragment),
    ...scan.terms.map(fragmentOf),
    { sql: '(expires_ms IS NULL OR expires_ms > ?)', values: [scan.storage.nowMs()] },
  ]
}

/** The container number is part of the SQL text, not a bound value, because the value indexes are partial indexes. */
function partitionConditions({ container, partition }: Scan): Fragment[] {
  const conditions: Fragment[] = [{ sql: `container = ${container.number}`, values: [] }]
  if (partition !== undefined) conditions.push({ sql: 'pk = ?', values: [partition] })
  return conditions
}

function keyCondition({ partition }: Scan, { pk, id }: RowKey, isDescending: boolean): Fragment {
  const operator = isDescending ? '<' : '>'
  return partition === undefined
    ? { sql: `(pk, id) ${operator} (?, ?)`, values: [pk, id] }
    : { sql: `id ${operator} ?`, values: [id] }
}

/** An access path: an index, over the values of a property if it has a path. */
type Way = {
  readonly index: string
  readonly path?: readonly string[]
  /** Whether rows with equal values are ordered by id. */
  readonly isOrdered: boolean
  readonly terms: readonly Term[]
}

type ChosenWay = Pick<Way, 'index' | 'path' | 'terms'> & { readonly count: number }

/**
 * Returns the index with the fewest matching rows, by counting. SQLite's statistics would be stale and its estimates
 * arbitrary. Applies within a partition only, because all indexes start with the partition key.
 */
function chosenWay(scan: Scan): ChosenWay {
  const isById = namesIds(scan)
  // With times, the index excludes old documents without reading them.
  const byId = scan.terms.some((term) => fieldOf(term)?.kind === 'ts') ? 'docs_by_id_with_ts' : 'docs_by_id'
  let chosen: ChosenWay = { index: byId, terms: [], count: isById ? 0 : Number.POSITIVE_INFINITY }
  if (scan.partition === undefined || isById) return chosen
  for (const way of waysIn(scan)) {
    const count = probe(scan, way)
    // Rows in another order must be sorted for each page, which is efficient for few rows only.
    const isFit = way.isOrdered || count < probeLimit(way)
    if (isFit && count < chosen.count) chosen = { ...way, count }
  }
  return chosen
}

/** Whether the query selects documents by id. The start of a page does not limit their number. */
function namesIds({ terms }: Scan): boolean {
  return terms.some((term) => (term.kind === 'equals' || term.kind === 'one-of') && term.field.kind === 'id')
}

function waysIn(scan: Scan): Way[] {
  const { storage, container, terms } = scan
  const byValue = terms.flatMap((term): Way[] => {
    const field = fieldOf(term)
    if (field?.kind !== 'json' || !leadsSomewhere(term) || isPartitionKey(field, container)) return []
    if (term.kind === 'occurs' && hasOddText(scan)) return []
    const index = valueIndex(storage, container.number, field.path)
    return index === undefined ? [] : [{ index, path: field.path, isOrdered: term.kind === 'equals', terms: [term] }]
  })
  const byTs = terms.filter((term) => fieldOf(term)?.kind === 'ts')
  return byTs.length === 0 ? byValue : [...byValue, { index: 'docs_by_ts', isOrdered: false, terms: byTs }]
}

/** Whether an index over the property can be selective for the term. */
function leadsSomewhere(term: Term): boolean {
  if (term.kind === 'equals') return term.value !== null && typeof term.value !== 'boolean'
  // Number ranges usually select the latest times. String ranges usually page through all documents.
  if (term.kind === 'range') return typeof term.value === 'number'
  return term.kind === 'one-of' || term.kind === 'occurs'
}

const fieldOf = (term: Term): Field | undefined => ('field' in term ? term.field : undefined)

const isPartitionKey = ({ path }: Field & { kind: 'json' }, { partitionKeyPath }: Container): boolean =>
  path.join('/') === partitionKeyPath.join('/')

function probe(scan: Scan, way: Way): number {
  // Searches the index only: reading the documents would read all of them.
  const conditions = [...partitionConditions(scan), ...presenceOf(way), ...way.terms.map(indexedFragment)]
  const { sql, values } = selected('1', way.index, conditions)
  const counting = `SELECT count(*) AS count FROM (${sql} LIMIT ${probeLimit(way)})`
  return Number(scan.storage.prepare(counting).get(...values)?.count)
}

const probeLimit = ({ terms }: Way): number =>
  terms.some(({ kind }) => kind === 'occurs' || kind === 'one-of') ? PATIENT_PROBE_LIMIT_COUNT : PROBE_LIMIT_COUNT

function presenceOf({ path }: Pick<Way, 'path'>): Fragment[] {
  return path === undefined ? [] : [{ sql: presence(path), values: [] }]
}

/** Whether the partition contains text that SQLite truncates or orders differently. See ODD_TEXT. */
function hasOddText({ storage, container, partition }: Scan): boolean {
  const sql = `SELECT 1 FROM docs INDEXED BY docs_with_odd_text WHERE container = ? AND pk = ? AND (${ODD_TEXT}) LIMIT 1`
  return partition !== undefined && storage.prepare(sql).get(container.number, partition) !== undefined
}

const isSamePath = (left: readonly string[], right: readonly string[]): boolean => left.join('/') === right.join('/')
