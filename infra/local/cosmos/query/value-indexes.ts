import type { Storage } from '../storage.ts'

/** Below this a scan is as fast as an index, and most tests stay below it. */
const INDEX_FROM_ROWS_COUNT = 1000
/** Each index slows every write of its container a little. */
const INDEXES_OF_CONTAINER_COUNT = 12

/** The SQL expression of a property. The names hold neither quotes nor backslashes: the planner saw to it. */
export const jsonExpression = (path: readonly string[]): string =>
  `json_extract(body, '$${path.map((name) => `."${name}"`).join('')}')`

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
  const name = `docs_by_value_${container}_${known.length}`
  storage.write(() => {
    storage.execute(`CREATE INDEX ${name} ON docs (pk, ${jsonExpression(path)}, id) WHERE container = ${container}`)
    storage.prepare('INSERT INTO value_indexes VALUES (?, ?, ?)').run(name, container, pathText)
  })
  return name
}

function isLarge(storage: Storage, container: number): boolean {
  const sql = 'SELECT 1 FROM docs INDEXED BY docs_by_id WHERE container = ? LIMIT 1 OFFSET ?'
  return storage.prepare(sql).get(container, INDEX_FROM_ROWS_COUNT - 1) !== undefined
}
