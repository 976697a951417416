import type { Container } from './catalog.ts'
import { CosmosFailure } from './failure.ts'
import { type JsonObject, valueAt } from './json.ts'
import type { Partition } from './partition.ts'
import type { Storage } from './storage.ts'

/**
 * A missing value counts as null, so only one document of a partition can omit it.
 * https://learn.microsoft.com/azure/cosmos-db/unique-keys
 */
const valuesOf = (document: JsonObject, container: Container): string[] =>
  container.uniqueKeys.map((paths) => JSON.stringify(paths.map((path) => valueAt(document, path) ?? null)))

/**
 * Rejects a document with values that another document of the partition has.
 * @param row the row to replace, undefined for a new document
 * @throws CosmosFailure 409
 */
export function requireUnique(
  storage: Storage,
  container: Container,
  partition: Partition,
  document: JsonObject,
  row: number | undefined,
): void {
  const holder = 'SELECT row FROM unique_values WHERE container = ? AND pk = ? AND key = ? AND value = ?'
  for (const [key, value] of valuesOf(document, container).entries()) {
    const held = storage.prepare(holder).get(container.number, partition, key, value)
    if (held !== undefined && held.row !== row) {
      const paths = container.uniqueKeys[key]?.map((path) => `/${path.join('/')}`).join(', ')
      throw new CosmosFailure(409, `Unique index constraint violation: ${paths} = ${value.slice(0, 200)}`)
    }
  }
}

/** Replaces the recorded unique values of a row. Deleting the row deletes them. */
export function claimValues(
  storage: Storage,
  container: Container,
  partition: Partition,
  document: JsonObject,
  row: number,
): void {
  if (container.uniqueKeys.length === 0) return
  storage.prepare('DELETE FROM unique_values WHERE row = ?').run(row)
  for (const [key, value] of valuesOf(document, container).entries()) {
    storage
      .prepare('INSERT INTO unique_values VALUES (?, ?, ?, ?, ?)')
      .run(container.number, partition, key, value, row)
  }
}
