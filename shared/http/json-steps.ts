import type { Task } from '../kernel/cooperative-scheduler.ts'

/**
 * Entries of a list that are serialized between two yields: microseconds for ids, a millisecond for the longest
 * records.
 */
const ENTRIES_PER_STEP_COUNT = 128

/** Whether the data is a long list or has one as a member, so that serializing it would block other requests. */
export function hasLongList(data: unknown): boolean {
  return isLong(data) || (isObject(data) && Object.values(data).some(isLong))
}

/**
 * Serializes to the same JSON as `JSON.stringify`, in UTF-8, and yields within long lists. Returns bytes because
 * encoding a string of megabytes blocks too.
 */
export function* jsonSteps(value: object): Task<Uint8Array> {
  const pieces: Uint8Array[] = []
  yield* write(value, (text) => pieces.push(Buffer.from(text)))
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
