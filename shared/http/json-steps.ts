import type { Steps } from '../domain/time-slices.ts'

/** Entries of a list that are written between two pauses: ids take microseconds, the longest records a millisecond. */
const ENTRIES_PER_STEP_COUNT = 128

/** Whether writing an answer takes long enough for others to notice: it is a long list, or has one as a member. */
export function hasLongList(data: unknown): boolean {
  return isLong(data) || (isObject(data) && Object.values(data).some(isLong))
}

/** The JSON of an answer, the same as `JSON.stringify` writes, with pauses within the long lists. */
export function* jsonSteps(answer: object): Steps<string> {
  const pieces: string[] = []
  yield* write(answer, pieces)
  // Put together once: each copy of megabytes is felt.
  return pieces.join('')
}

function* write(value: unknown, pieces: string[]): Steps<void> {
  if (isLong(value)) yield* writeList(value, pieces)
  else if (isObject(value)) yield* writeMembers(value, pieces)
  else pieces.push(JSON.stringify(value))
}

function* writeMembers(value: object, pieces: string[]): Steps<void> {
  let separator = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    pieces.push(`${separator}${JSON.stringify(name)}:`)
    if (hasLongList(member)) yield* write(member, pieces)
    else pieces.push(JSON.stringify(member))
    separator = ','
  }
  pieces.push(separator === '{' ? '{}' : '}')
}

function* writeList(list: readonly unknown[], pieces: string[]): Steps<void> {
  for (let from = 0; from < list.length; from += ENTRIES_PER_STEP_COUNT) {
    const entries = JSON.stringify(list.slice(from, from + ENTRIES_PER_STEP_COUNT)).slice(1, -1)
    pieces.push(from === 0 ? '[' : ',', entries)
    yield
  }
  pieces.push(']')
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ENTRIES_PER_STEP_COUNT
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
