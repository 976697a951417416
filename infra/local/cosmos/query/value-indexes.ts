import type { Storage } from '../storage.ts'

/** Below this size, a scan is as fast as an index, which must be made. */
const INDEX_FROM_ROWS_COUNT = 100
/** Each index slows writes of documents with its property. */
const INDEXES_OF_CONTAINER_COUNT = 24

/** The SQL expression of a property. The planner ensures that names contain no quotes or backslashes. */
export const jsonExpression = (path: readonly string[]): string =>
  `json_extract(body, '$${path.map((name) => `."${name}"`).join('')}')`

/** The condition that a query must contain to use the index of a property, which excludes documents without it. */
export const presence = (path: readonly string[]): string => `${jsonExpression(path)} IS NOT NULL`

/**
 * The index over the values of a property in a container: `(pk, value, id)`, so that rows with equal values are ordered
 * by id. The first query that benefits creates it. Undefined if the container is small or has the maximum of indexes.
 */
export function valueIndex(storage: Storage, container: number, path: readonly string[]): string | undefined {
  const known = indexesOf(storage, container)
  const found = known.get(JSON.stringify(path))
  if (found !== undefined) return found
  if (known.size >= INDEXES_OF_CONTAINER_COUNT || !isLarge(storage, container)) return undefined
  return storage.write(() => makeValueIndex(storage, container, path))
}

/** Creates the index of a property. Call inside `write` only. @returns its name */
export function makeValueIndex(storage: Storage, container: number, path: readonly string[]): string {
  return makeIndex(storage, container, path, [jsonExpression(path), 'id'], JSON.stringify(path))
}

/**
 * The composite index over two properties, `(pk, value, id, other)`. A search for a text in the other property reads
 * this index only, in order. Undefined unless the indexing policy of the container contains it.
 */
export function compositeIndex(
  storage: Storage,
  container: number,
  path: readonly string[],
  other: readonly string[],
): string | undefined {
  return indexesOf(storage, container).get(JSON.stringify([path, other]))
}

/** Creates a composite index. Call inside `write` only. */
export function makeCompositeIndex(
  storage: Storage,
  container: number,
  path: readonly string[],
  other: readonly string[],
): void {
  const columns = [jsonExpression(path), 'id', jsonExpression(other)]
  makeIndex(storage, container, path, columns, JSON.stringify([path, other]))
}

/** @param path documents without this property are not in the index */
function makeIndex(
  storage: Storage,
  container: number,
  path: readonly string[],
  columns: readonly string[],
  key: string,
): string {
  const [count] = storage.prepare('SELECT count(*) AS count FROM value_indexes WHERE container = ?').all(container)
  const name = `docs_by_value_${container}_${Number(count?.count)}`
  const condition = `container = ${container} AND ${presence(path)}`
  storage.execute(`CREATE INDEX ${name} ON docs (pk, ${columns.join(', ')}) WHERE ${condition}`)
  storage.prepare('INSERT INTO value_indexes VALUES (?, ?, ?)').run(name, container, key)
  indexesByContainer.get(storage)?.delete(container)
  return name
}

/** Deletes all indexes of a container. Call inside `write` only. */
export function dropIndexes(storage: Storage, container: number): void {
  for (const name of indexesOf(storage, container).values()) storage.execute(`DROP INDEX ${name}`)
  storage.prepare('DELETE FROM value_indexes WHERE container = ?').run(container)
  indexesByContainer.get(storage)?.delete(container)
}

/** Names by path: each query asks for them. */
const indexesByContainer = new WeakMap<Storage, Map<number, ReadonlyMap<string, string>>>()

function indexesOf(storage: Storage, container: number): ReadonlyMap<string, string> {
  const known = indexesByContainer.get(storage) ?? new Map<number, ReadonlyMap<string, string>>()
  indexesByContainer.set(storage, known)
  const indexes = known.get(container)
  if (indexes !== undefined) return indexes
  const rows = storage.prepare('SELECT name, path FROM value_indexes WHERE container = ?').all(container)
  const read = new Map(rows.map(({ name, path }) => [String(path), String(name)]))
  known.set(container, read)
  return read
}

/**
 * The write count before which a container cannot be large: counting again for each query takes longer than the query.
 */
const smallUntil = new WeakMap<Storage, Map<number, number>>()

function isLarge(storage: Storage, container: number): boolean {
  const known = smallUntil.get(storage) ?? new Map<number, number>()
  smallUntil.set(storage, known)
  if (storage.writeCount() < (known.get(container) ?? 0)) return false
  const sql = 'SELECT count(*) AS count FROM (SELECT 1 FROM docs INDEXED BY docs_by_id WHERE container = ? LIMIT ?)'
  const count = Number(storage.prepare(sql).get(container, INDEX_FROM_ROWS_COUNT)?.count)
  known.set(container, storage.writeCount() + INDEX_FROM_ROWS_COUNT - count)
  return count === INDEX_FROM_ROWS_COUNT
}
