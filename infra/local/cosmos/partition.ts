import { badRequest } from './failure.ts'
import { isJsonObject, type Json, type JsonObject, parseJson, valueAt } from './json.ts'

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

/** The partition of a document according to its body. */
export const partitionOf = (document: JsonObject, path: readonly string[]): Partition =>
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
