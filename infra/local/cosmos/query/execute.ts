import type { Json } from '../../../../shared/kernel/json.ts'
import { valueAt } from '../json-values.ts'
import { badRequest } from '../response.ts'
import { countRows, distinctStrings, type Scan, type StoredRow, scanRows, scanRowsFor } from './access.ts'
import type { Position } from './continuation.ts'
import { compile, constantOf, object, type Parameters, type Row } from './evaluator.ts'
import { planFilter } from './planner.ts'
import { compareForOrder, compareText } from './semantics.ts'
import type { Expression, Projection, Query } from './syntax.ts'

/** Limits and start of a page. */
export type PageRequest = { readonly rowCount: number; readonly after: Position | undefined }

export type Page = {
  /** Results as JSON texts. */
  readonly results: readonly string[]
  /** Undefined for the last page. */
  readonly end: Position | undefined
  /** Rows read from SQLite. */
  readonly lookedAtCount: number
  /** Rows that Cosmos DB reads, which determine the request charge. Absent where these are as many. */
  readonly chargedCount?: number
}

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const PAGE_LIMIT_BYTES = 4 * 1024 * 1024
const COUNT_LIMIT = 2_147_483_647

type Prepared = {
  readonly query: Query
  readonly scan: Scan
  readonly matches: (row: Row) => boolean
  /** Whether the row is in the range to which the condition limits the property of the order. */
  readonly isInRange: (row: Row) => boolean
  readonly project: (row: LazyRow) => string | undefined
  readonly skipCount: number
  /** Remaining rows of TOP or LIMIT. */
  readonly remainingCount: number
}

/** Returns a page of a query. @throws CosmosFailure 400 for missing or invalid parameters */
export function runQuery(query: Query, place: Omit<Scan, 'terms'>, parameters: Parameters, request: PageRequest): Page {
  const { terms, residual } = planFilter(query.where, parameters)
  const conditions = residual.map((expression) => compile(expression, parameters))
  const ranges = residual
    .filter((part) => part.kind === 'compare' && isProperty(part.left, query.order?.path))
    .map((part) => compile(part, parameters))
  const allowed = countOf(query.top ?? query.limit, parameters)
  const prepared: Prepared = {
    query,
    scan: { ...place, terms },
    matches: (row) => conditions.every((condition) => condition(row) === true),
    isInRange: (row) => ranges.every((condition) => condition(row) === true),
    project: projector(query.select, parameters),
    // A position exists only after the first result, when the offset has been skipped.
    skipCount: request.after === undefined ? (countOf(query.offset, parameters) ?? 0) : 0,
    remainingCount: (allowed ?? COUNT_LIMIT) - (request.after?.emittedCount ?? 0),
  }
  if (query.select.kind === 'count') return countPage(prepared, conditions.length === 0)
  if (query.isDistinct) return distinctPage(prepared, residual, request)
  if (prepared.remainingCount <= 0) return { results: [], end: undefined, lookedAtCount: 0 }
  const isByProperty = query.order !== undefined && query.order.path.join('/') !== 'id'
  return isByProperty ? sortedPage(prepared, request) : pageById(prepared, request)
}

const isProperty = (operand: Expression, path: readonly string[] | undefined): boolean =>
  operand.kind === 'property' && operand.path.join('/') === path?.join('/')

class LazyRow implements Row {
  readonly stored: StoredRow
  #document: Json | undefined

  constructor(stored: StoredRow) {
    this.stored = stored
  }

  get id(): string {
    return this.stored.id
  }

  get document(): Json {
    this.#document ??= JSON.parse(this.stored.body) as Json
    return this.#document
  }
}

function countOf(expression: Expression | undefined, parameters: Parameters): number | undefined {
  if (expression === undefined) return undefined
  const value = constantOf(expression, parameters)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_LIMIT) return value
  throw badRequest(`TOP, OFFSET and LIMIT require a non-negative integer, not ${JSON.stringify(value)}`)
}

function projector(select: Projection, parameters: Parameters): (row: LazyRow) => string | undefined {
  if (select.kind === 'document' || select.kind === 'count') return ({ stored }) => stored.body
  const evaluate = select.kind === 'value' ? compile(select.expression, parameters) : object(select.members, parameters)
  return (row) => JSON.stringify(evaluate(row))
}

function countPage({ scan, matches }: Prepared, isExact: boolean): Page {
  let [count, lookedAtCount] = [0, 0]
  if (isExact) {
    count = countRows(scan)
    lookedAtCount = count
  } else {
    for (const stored of scanRows(scan, undefined)) {
      lookedAtCount++
      if (matches(new LazyRow(stored))) count++
    }
  }
  return { results: [String(count)], end: undefined, lookedAtCount }
}

/** The distinct results in the order of their texts. A position is the number of results returned so far. */
function distinctPage(
  { query, scan, matches, project }: Prepared,
  residual: readonly Expression[],
  page: PageRequest,
): Page {
  const { select, where } = query
  const isPlain =
    select.kind === 'value' && select.expression.kind === 'property' && residual.every((first) => first === where)
  const strings = isPlain ? distinctStrings(scan, select.expression.path) : undefined
  const results = new Set(strings?.map((text) => JSON.stringify(text)))
  let lookedAtCount = results.size
  if (strings === undefined) {
    for (const stored of scanRows(scan, undefined)) {
      lookedAtCount += 1
      const row = new LazyRow(stored)
      const result = matches(row) ? project(row) : undefined
      if (result !== undefined) results.add(result)
    }
  }
  const start = page.after?.emittedCount ?? 0
  const emittedCount = Math.min(start + page.rowCount, results.size)
  const end = emittedCount < results.size ? { pk: '', id: '', emittedCount } : undefined
  return { results: [...results].sort().slice(start, emittedCount), end, lookedAtCount }
}

/** An index returns rows ordered by id. Reading ends when the page is full. */
function pageById({ query, scan, matches, project, skipCount, remainingCount }: Prepared, request: PageRequest): Page {
  const results: string[] = []
  const emittedBefore = request.after?.emittedCount ?? 0
  let [lookedAtCount, skippedCount, sizeBytes] = [0, 0, 0]
  let last: StoredRow | undefined
  for (const stored of scanRows(scan, request.after, query.order?.isDescending)) {
    const isFull = results.length >= request.rowCount || sizeBytes >= PAGE_LIMIT_BYTES
    if (isFull && last !== undefined) {
      const end = { pk: last.pk, id: last.id, emittedCount: emittedBefore + results.length }
      return { results, end, lookedAtCount }
    }
    lookedAtCount++
    last = stored
    const row = new LazyRow(stored)
    if (!matches(row) || skippedCount++ < skipCount) continue
    const result = project(row)
    if (result === undefined) continue
    results.push(result)
    sizeBytes += Buffer.byteLength(result)
    if (results.length >= remainingCount) break
  }
  return { results, end: undefined, lookedAtCount }
}

type SortedRow = { readonly sortValue: Json; readonly row: LazyRow }
type SortKey = { sortValue: Json; pk: string; id: string }

/**
 * Rows in another order. Reads all matching rows, unless an index returns them in that order. Rows with equal values are ordered by id. Cosmos DB has an index in every such order: it looks only at
 * rows up to the last one of the page.
 */
function sortedPage(
  { query, scan, matches, isInRange, project, skipCount, remainingCount }: Prepared,
  request: PageRequest,
): Page {
  const path = query.order?.path ?? []
  const direction = query.order?.isDescending ? -1 : 1
  const compareKeys = (first: SortKey, second: SortKey): number =>
    direction * compareForOrder(first.sortValue, second.sortValue) ||
    compareText(first.pk, second.pk) ||
    compareText(first.id, second.id)
  const keyOf = ({ sortValue, row: { stored } }: SortedRow): SortKey => ({ sortValue, pk: stored.pk, id: stored.id })
  const { after } = request
  const afterKey = after === undefined ? undefined : { ...after, sortValue: after.sortValue ?? null }
  const wantedCount = Math.min(request.rowCount, remainingCount) + skipCount
  const rows: SortedRow[] = []
  const isAscending = query.order?.isDescending !== true
  const { rows: found, isInOrder } = isAscending
    ? scanRowsFor(scan, path)
    : { rows: scanRows(scan, undefined), isInOrder: false }
  const passedOver: SortKey[] = []
  let lookedAtCount = 0
  for (const stored of found) {
    lookedAtCount++
    const row = new LazyRow(stored)
    const sortValue = valueAt(row.document, path)
    if (sortValue === undefined) continue
    const sorted = { sortValue, row }
    if (afterKey !== undefined && compareKeys(keyOf(sorted), afterKey) <= 0) continue
    if (!matches(row)) {
      if (isInRange(row)) passedOver.push(keyOf(sorted))
      continue
    }
    rows.push(sorted)
    if (isInOrder && rows.length > wantedCount) break
  }
  const keptCount = rows.length
  const sorted = rows.sort((first, second) => compareKeys(keyOf(first), keyOf(second))).slice(0, wantedCount + 1)
  const last = sorted[wantedCount - 1]
  const isLookedAt = (key: SortKey): boolean => last === undefined || compareKeys(key, keyOf(last)) < 0
  const chargedCount = Math.min(keptCount, wantedCount) + passedOver.filter(isLookedAt).length
  return { ...cut(sorted.slice(skipCount), wantedCount - skipCount), lookedAtCount, chargedCount }

  function cut(sorted: readonly SortedRow[], rowCount: number): Pick<Page, 'results' | 'end'> {
    const results: string[] = []
    const emittedBefore = after?.emittedCount ?? 0
    let [takenCount, sizeBytes] = [0, 0]
    for (const { row } of sorted.slice(0, rowCount)) {
      if (sizeBytes >= PAGE_LIMIT_BYTES) break
      takenCount++
      const result = project(row)
      if (result === undefined) continue
      results.push(result)
      sizeBytes += Buffer.byteLength(result)
    }
    const last = sorted[takenCount - 1]
    const isDone = takenCount === sorted.length || results.length >= remainingCount || last === undefined
    return { results, end: isDone ? undefined : { ...keyOf(last), emittedCount: emittedBefore + results.length } }
  }
}
