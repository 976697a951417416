import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import type { Container } from './catalog.ts'
import { isJsonObject, parseJson, valueAt } from './json-values.ts'
import { badRequest, CosmosFailure } from './response.ts'
import type { Storage } from './storage.ts'

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
export const ITEM_LIMIT_BYTES = 2 * 1024 * 1024
const ID_LIMIT_BYTES = 1023
const NESTING_LIMIT_COUNT = 128
const TTL_LIMIT_S = 2_147_483_647
const PARTITION_KEY_MISMATCH = 1001

/** A validated document. */
export type ValidItem = {
  readonly id: string
  readonly document: JsonObject
  /** Time to live in seconds, -1 for no expiry, undefined for the default of the container. */
  readonly ttlS: number | undefined
}

/** @throws CosmosFailure 413 for an item's JSON over 2 MB */
export function requireItemSize(text: string): void {
  if (Buffer.byteLength(text) > ITEM_LIMIT_BYTES) {
    throw new CosmosFailure(413, `The request is too large: the maximum size of an item is ${ITEM_LIMIT_BYTES} bytes`)
  }
}

/**
 * Validates a document before it is stored.
 * @throws CosmosFailure 400 for an invalid id, ttl or nesting, or a body of another partition
 */
export function validItem(document: JsonObject, partition: Partition, { partitionKeyPath }: Container): ValidItem {
  const id = validId(document.id)
  const ttlS = validTtlS(document.ttl)
  if (isNestedDeeper(document, NESTING_LIMIT_COUNT)) {
    throw badRequest(`The maximum nesting of an item is ${NESTING_LIMIT_COUNT} levels`)
  }
  if (partitionOf(document, partitionKeyPath) !== partition) {
    const path = partitionKeyPath.join('/')
    throw badRequest(`/${path} in the body differs from the request's partition key`, PARTITION_KEY_MISMATCH)
  }
  return { id, document, ttlS }
}

function validId(id: Json | undefined): string {
  if (typeof id !== 'string' || id === '') throw badRequest('An item requires an id: a non-empty string')
  // A lone surrogate has no UTF-8 encoding: two such ids would become equal in the file.
  if (/[/\\#?]/.test(id) || !id.isWellFormed()) throw badRequest('An id must not contain / \\ # ? or a lone surrogate')
  if (Buffer.byteLength(id) > ID_LIMIT_BYTES) throw badRequest(`The maximum size of an id is ${ID_LIMIT_BYTES} bytes`)
  return id
}

function validTtlS(ttl: Json | undefined): number | undefined {
  if (ttl === undefined) return undefined
  if (typeof ttl === 'number' && Number.isInteger(ttl) && ttl <= TTL_LIMIT_S && (ttl > 0 || ttl === -1)) return ttl
  throw badRequest(`ttl must be -1 or a positive integer of seconds, not ${JSON.stringify(ttl)}`)
}

function isNestedDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1))
}

/** A partition key as JSON text, `["t1"]`. 1, "1", null and a missing value (`[{}]`) are four different partitions. */
export type Partition = string

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const PARTITION_KEY_LIMIT_BYTES = 2048
const MISSING = '[{}]'

/** Parses the partition key of a header or a bulk operation. */
export function parsePartition(text: string): Partition {
  const values = parseJson(text, 'The partition key')
  if (!Array.isArray(values) || values.length !== 1) throw badRequest('The partition key must be a list of one value')
  const [value] = values
  return isJsonObject(value) && Object.keys(value).length === 0 ? MISSING : partitionOfValue(value)
}

const partitionOf = (document: JsonObject, path: readonly string[]): Partition =>
  partitionOfValue(valueAt(document, path))

function partitionOfValue(value: Json | undefined): Partition {
  if (value === undefined) return MISSING
  if (typeof value === 'object' && value !== null) {
    throw badRequest('A partition key must be a string, a number, a boolean or null')
  }
  if (typeof value === 'string' && Buffer.byteLength(value) > PARTITION_KEY_LIMIT_BYTES) {
    throw badRequest(`The maximum size of a partition key is ${PARTITION_KEY_LIMIT_BYTES} bytes`)
  }
  return JSON.stringify([value])
}

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
