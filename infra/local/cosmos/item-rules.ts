import type { Container } from './catalog.ts'
import { badRequest, CosmosFailure } from './failure.ts'
import type { Json, JsonObject } from './json.ts'
import { type Partition, partitionOf } from './partition.ts'

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
