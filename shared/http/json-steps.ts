import type { Task } from '../kernel/cooperative-scheduler.ts'

/** Entries of a list that are written between two pauses: ids take microseconds, the longest records a millisecond. */
const ENTRIES_PER_STEP_COUNT = 128

/** Whether writing an answer takes long enough for others to notice: it is a long list, or has one as a member. */
export function hasLongList(data: unknown): boolean {
  return isLong(data) || (isObject(data) && Object.values(data).some(isLong))
}

/**
 * The JSON of an answer in UTF-8, the same as `JSON.stringify` writes, with pauses within the long lists. Bytes, because
 * whoever sends a text of megabytes turns it into bytes in one go.
 */
export function* jsonSteps(answer: object): Task<Uint8Array> {
  const pieces: Uint8Array[] = []
  yield* write(answer, (text) => pieces.push(Buffer.from(text)))
  return Buffer.concat(pieces)
}

type Put = (text: string) => void

function* write(value: unknown, put: Put): Task<void> {
  if (isLong(value)) yield* writeList(value, put)
  else if (isObject(value)) yield* writeMembers(value, put)
  else put(JSON.stringify(value))
}

function* writeMembers(value: object, put: Put): Task<void> {
  let separator = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    put(`${separator}${JSON.stringify(name)}:`)
    if (hasLongList(member)) yield* write(member, put)
    else put(JSON.stringify(member))
    separator = ','
  }
  put(separator === '{' ? '{}' : '}')
}

function* writeList(list: readonly unknown[], put: Put): Task<void> {
  for (let from = 0; from < list.length; from += ENTRIES_PER_STEP_COUNT) {
    const entries = JSON.stringify(list.slice(from, from + ENTRIES_PER_STEP_COUNT)).slice(1, -1)
    put(from === 0 ? `[${entries}` : `,${entries}`)
    yield
  }
  put(']')
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ENTRIES_PER_STEP_COUNT
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
