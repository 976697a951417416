import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../failure.ts'
import type { Json } from '../json.ts'
import type { RowKey } from './access.ts'

/** Where a page ended. By values, not by row numbers: deleting the last row seen does not move what follows. */
export type Position = RowKey & {
  /** Rows given so far, for TOP and LIMIT. */
  readonly emittedCount: number
  /** The last value of ORDER BY, absent when rows come in the order of their ids. */
  readonly sortValue?: Json
}

/** What a token belongs to: with another query, other parameters or another partition it is refused. */
export type TokenScope = { readonly key: Buffer; readonly scope: Json }

/** Clients read headers of 16 KB; an id and a partition key fit beside this. */
const SORT_VALUE_LIMIT_BYTES = 4096

/** Encodes a position as a token that any later server with the same key and file understands. */
export function encodeToken(position: Position, scope: TokenScope): string {
  const payload = JSON.stringify(position)
  if (Buffer.byteLength(JSON.stringify(position.sortValue ?? null)) > SORT_VALUE_LIMIT_BYTES) {
    throw badRequest(`A page cannot end at an ORDER BY value over ${SORT_VALUE_LIMIT_BYTES} bytes`)
  }
  return `${Buffer.from(payload).toString('base64url')}.${seal(payload, scope).toString('base64url')}`
}

/** @throws CosmosFailure 400 for a token that was changed or belongs to another query */
export function decodeToken(token: string, scope: TokenScope): Position {
  const [encoded = '', sealed = ''] = token.split('.')
  const payload = Buffer.from(encoded, 'base64url').toString()
  const [given, expected] = [Buffer.from(sealed, 'base64url'), seal(payload, scope)]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw badRequest('The continuation token is malformed or belongs to another query')
  }
  return JSON.parse(payload) as Position
}

const seal = (payload: string, { key, scope }: TokenScope): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([scope, payload]))
    .digest()
    .subarray(0, 16)
