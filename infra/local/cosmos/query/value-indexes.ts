import type { Storage } from '../storage.ts'

/** Below this a scan is as fast as an index, and most tests stay below it. */
const INDEX_FROM_ROWS_COUNT = 1000
/** Each index slows the writes of the documents that have its property a little. */
const INDEXES_OF_CONTAINER_COUNT = 24

/** The SQL expression of a property. The names hold neither quotes nor backslashes: the planner saw to it. */
export const jsonExpression = (path: readonly string[]): string =>
  `json_extract(body, '$${path.map((name) => `."${name}"`).join('')}')`

/** What a query has to say for the index of a property to serve it: documents without the property are not in it. */
export const presence = (path: readonly string[]): string => `${jsonExpression(path)} IS NOT NULL`

/**
 * The index over a property's values in a container: `(pk, value, id)`, so that equal rows come in the order of ids.
 * Made by the first query that would profit; undefined while the container is small or has enough of them.
 */
export function valueIndex(storage: Storage, container: number, path: readonly string[]): string | undefined {
  const pathText = JSON.stringify(path)
  const known = storage.prepare('SELECT name, path FROM value_indexes WHERE container = ?').all(container)
  const found = known.find((index) => index.path === pathText)
  if (found !== undefined) return String(found.name)
  if (known.length >= INDEXES_OF_CONTAINER_COUNT || !isLarge(storage, container)) return undefined
  return storage.write(() => makeValueIndex(storage, container, path))
}

/** Makes the index of a property. Inside `write` only. @returns Its name. */
export function makeValueIndex(storage: Storage, container: number, path: readonly string[]): string {
  return makeIndex(storage, container, path, [jsonExpression(path), 'id'], JSON.stringify(path))
}

/**
 * The index over a property's values that knows another property too, `(pk, value, id, other)`: whoever looks for a text
 * in the other one reads this index alone, in order. Undefined unless the container's policy asked for it.
 */
export function compositeIndex(
  storage: Storage,
  container: number,
  path: readonly string[],
  other: readonly string[],
): string | undefined {
  const sql = 'SELECT name FROM value_indexes WHERE container = ? AND path = ?'
  const found = storage.prepare(sql).get(container, JSON.stringify([path, other]))
  return found === undefined ? undefined : String(found.name)
}

/** Makes such an index. Inside `write` only. */
export function makeCompositeIndex(
  storage: Storage,
  container: number,
  path: readonly string[],
  other: readonly string[],
): void {
  const columns = [jsonExpression(path), 'id', jsonExpression(other)]
  makeIndex(storage, container, path, columns, JSON.stringify([path, other]))
}

/** @param path the property without which a document is not in the index */
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
  return name
}

function isLarge(storage: Storage, container: number): boolean {
  const sql = 'SELECT 1 FROM docs INDEXED BY docs_by_id WHERE container = ? LIMIT 1 OFFSET ?'
  return storage.prepare(sql).get(container, INDEX_FROM_ROWS_COUNT - 1) !== undefined
}
