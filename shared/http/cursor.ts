import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../kernel/refusals.ts'

/** Where a list goes on. */
type CursorPosition = {
  /** The last id of the page before. */
  readonly after: string
  readonly pageSize: number
}

/** What a cursor is good for: tenant, operation, the caller's scope, filters. Another list's cursor does not open. */
export type CursorBinding = readonly (string | undefined)[]

export type Cursors = {
  seal(position: CursorPosition, binding: CursorBinding): string
  /** @throws Refusal `InvalidCursor` for anything that `seal` did not make for the same binding. */
  open(cursor: string, binding: CursorBinding): CursorPosition
}

/** The cursors, once their keys are at hand. */
export type OpenCursors = () => Promise<Cursors>

const PREFIX = 'v1_'
const MAC_BYTES = 32

/**
 * Cursors that clients can neither read into nor alter, and that survive a restart.
 * @param keys In base64. The first signs, all verify: so keys can be changed without breaking anyone's paging.
 */
export function cursors(keys: readonly string[]): Cursors {
  const [signing, ...others] = keys.map((key) => Buffer.from(key, 'base64'))
  if (signing === undefined) throw new Error('Cursors need a key')
  return {
    seal({ after, pageSize }, binding) {
      const payload = Buffer.from(JSON.stringify([after, pageSize]))
      return `${PREFIX}${Buffer.concat([mac(signing, payload, binding), payload]).toString('base64url')}`
    },
    open(cursor, binding) {
      const bytes = Buffer.from(cursor.slice(PREFIX.length), 'base64url')
      const payload = bytes.subarray(MAC_BYTES)
      // Decoding forgives: only the very text that was given out is taken back.
      const isAsMade = cursor === `${PREFIX}${bytes.toString('base64url')}` && bytes.length > MAC_BYTES
      const given = bytes.subarray(0, MAC_BYTES)
      if (!isAsMade || ![signing, ...others].some((key) => timingSafeEqual(given, mac(key, payload, binding)))) {
        throw new Refusal('InvalidCursor', 'The cursor was altered, or was made by another list', 'nextCursor')
      }
      const [after, pageSize] = JSON.parse(payload.toString()) as [string, number]
      return { after, pageSize }
    },
  }
}

function mac(key: Buffer, payload: Buffer, binding: CursorBinding): Buffer {
  const bound = JSON.stringify(binding.map((part) => part ?? null))
  return createHmac('sha256', key).update(`${bound.length}:${bound}`).update(payload).digest()
}
