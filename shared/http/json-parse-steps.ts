/**
 * JSON that is parsed without holding up other requests. `JSON.parse` holds the thread for 50 ms with the largest body of
 * most routes (1 MiB) and for 300 ms with the largest batch of a connector (4 MiB), when a body has many names or many
 * levels; for 25 ms with a batch of ordinary objects. `json-parse-steps.test.ts` shows what fails without it: "parses no
 * more than 16 KB at once".
 */
import type { Task } from '../kernel/cooperative-scheduler.ts'

/** Characters parsed or scanned between two yields: a few milliseconds even if every property name is new. */
const CHARACTERS_PER_STEP_COUNT = 16_384

/** Members of one object. Enumerating more would block other requests. A documented limit of the API. */
export const MEMBERS_LIMIT_COUNT = 10_000

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Parses JSON to the same value as `JSON.parse`, and yields within long lists and objects.
 * @param stepCount Characters that are parsed at once.
 * @throws SyntaxError for invalid JSON, and for an object with more than `MEMBERS_LIMIT_COUNT` members.
 */
export function* jsonParseSteps(text: string, stepCount = CHARACTERS_PER_STEP_COUNT): Task<unknown> {
  const start = afterBlanks(text, 0)
  const opening = text.charCodeAt(start)
  const isContainer = opening === OPEN_LIST || opening === OPEN_OBJECT
  if (text.length <= stepCount || !isContainer) {
    yield
    return JSON.parse(text)
  }
  return opening === OPEN_LIST ? yield* parseList(text, start, stepCount) : yield* parseObject(text, start, stepCount)
}

/** The deepest nesting of lists and objects. Computed before parsing, so that no nesting can exhaust the stack. */
export function* jsonDepthSteps(text: string): Task<number> {
  let depth = 0
  let deepest = 0
  let stepEnd = CHARACTERS_PER_STEP_COUNT
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = stringEnd(text, index) - 1
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth -= 1
    if (index < stepEnd) continue
    stepEnd = index + CHARACTERS_PER_STEP_COUNT
    yield
  }
  return deepest
}

function* parseList(text: string, start: number, stepCount: number): Task<unknown[]> {
  const list: unknown[] = []
  for (const part of partsOf(text, start, stepCount)) {
    if (part === undefined) {
      yield
      continue
    }
    if (part.isSingle) list.push(yield* jsonParseSteps(part.text, stepCount))
    else list.push(...required(JSON.parse(`[${part.text}]`) as unknown[], part))
    yield
  }
  return list
}

function* parseObject(text: string, start: number, stepCount: number): Task<object> {
  const object: Record<string, unknown> = {}
  let count = 0
  for (const part of partsOf(text, start, stepCount)) {
    if (part !== undefined) {
      const members = part.isSingle
        ? [yield* parseMember(part.text, stepCount)]
        : Object.entries(JSON.parse(`{${part.text}}`))
      for (const [name, value] of required(members, part)) define(object, name, value)
      count += members.length
      if (count > MEMBERS_LIMIT_COUNT) throw new SyntaxError(`an object has more than ${MEMBERS_LIMIT_COUNT} members`)
    }
    yield
  }
  return object
}

function* parseMember(text: string, stepCount: number): Task<[name: string, value: unknown]> {
  const start = afterBlanks(text, 0)
  const end = text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : start
  const colon = afterBlanks(text, end)
  if (end === start || text.charCodeAt(colon) !== COLON) throw new SyntaxError('a member has no name')
  return [JSON.parse(text.slice(start, end)) as string, yield* jsonParseSteps(text.slice(colon + 1), stepCount)]
}

/** An assignment to `__proto__` would not create a member. */
function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Entries of a list or object, without the brackets. Only an empty list or object has a part without entries. */
type Part = { readonly text: string; readonly isSingle: boolean; readonly isWhole: boolean }

function required<T>(entries: T[], { isWhole }: Part): T[] {
  if (entries.length === 0 && !isWhole) throw new SyntaxError('an entry is missing')
  return entries
}

/**
 * Splits the list or object that begins at `start`: a part is one long entry or several short ones. Undefined ends a
 * step.
 */
function* partsOf(text: string, start: number, stepCount: number): Generator<Part | undefined> {
  const closing = text.charCodeAt(start) === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT
  let from = start + 1
  let entryFrom = from
  let depth = 0
  let stepEnd = start + stepCount
  for (let index = from; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = stringEnd(text, index) - 1
    else if (character === OPEN_LIST || character === OPEN_OBJECT) depth += 1
    else if (depth > 0 && (character === CLOSE_LIST || character === CLOSE_OBJECT)) depth -= 1
    else if (depth === 0 && (character === COMMA || character === CLOSE_LIST || character === CLOSE_OBJECT)) {
      const isEnd = character !== COMMA
      const isLong = index - entryFrom > stepCount
      if (isLong && entryFrom > from) yield { text: text.slice(from, entryFrom - 1), isSingle: false, isWhole: false }
      if (isLong) from = entryFrom
      if (isLong || isEnd || index - from > stepCount) {
        yield { text: text.slice(from, index), isSingle: isLong, isWhole: isEnd && from === start + 1 }
        from = index + 1
      }
      entryFrom = index + 1
      if (isEnd) return requireEnd(text, index, closing)
    }
    if (index < stepEnd) continue
    stepEnd = index + stepCount
    yield undefined
  }
  throw new SyntaxError('unexpected end')
}

function requireEnd(text: string, index: number, closing: number): undefined {
  const isEnd = text.charCodeAt(index) === closing && afterBlanks(text, index + 1) === text.length
  if (!isEnd) throw new SyntaxError(`unexpected character at position ${index}`)
}

/** The index after the string that begins at `start`; the end of the text when it does not end. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashCount = 0
    while (text.charCodeAt(end - 1 - backslashCount) === BACKSLASH) backslashCount += 1
    if (backslashCount % 2 === 0) return end + 1
  }
  return text.length
}

function afterBlanks(text: string, start: number): number {
  let index = start
  while (index < text.length && ' \t\n\r'.includes(text[index] as string)) index += 1
  return index
}
