import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Json } from '../../../../shared/kernel/json.ts'
import { badRequest } from '../response.ts'
import type { RowKey } from './access.ts'

/** End of a page, by values and not by row numbers: deleting the last row does not shift the next page. */
export type Position = RowKey & {
  /** Rows returned so far, for TOP and LIMIT. */
  readonly emittedCount: number
  /** The last value of ORDER BY. Absent if rows are ordered by id. */
  readonly sortValue?: Json
}

/** The query of a token. A token is rejected for another query, other parameters or another partition. */
export type TokenScope = { readonly key: KeyObject; readonly scope: Json }

/** Clients accept headers of 16 KB, which also contain an id and a partition key. */
const SORT_VALUE_LIMIT_BYTES = 4096

/** Encodes a position as a token. The token stays valid for later servers with the same key and file. */
export function encodeToken(position: Position, scope: TokenScope): string {
  const payload = JSON.stringify(position)
  if (Buffer.byteLength(JSON.stringify(position.sortValue ?? null)) > SORT_VALUE_LIMIT_BYTES) {
    throw badRequest(`An ORDER BY value at the end of a page must not exceed ${SORT_VALUE_LIMIT_BYTES} bytes`)
  }
  return `${Buffer.from(payload).toString('base64url')}.${signatureOf(payload, scope).toString('base64url')}`
}

/** @throws CosmosFailure 400 for a modified token or a token of another query */
export function decodeToken(token: string, scope: TokenScope): Position {
  const [encoded = '', signed = ''] = token.split('.')
  const payload = Buffer.from(encoded, 'base64url').toString()
  const [signature, expected] = [Buffer.from(signed, 'base64url'), signatureOf(payload, scope)]
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    throw badRequest('The continuation token is malformed or belongs to another query')
  }
  return JSON.parse(payload) as Position
}

const signatureOf = (payload: string, { key, scope }: TokenScope): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([scope, payload]))
    .digest()
    .subarray(0, 16)
