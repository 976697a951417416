import type { Task } from '../kernel/cooperative-scheduler.ts'

/** Characters that are serialized and encoded between two yields: less than a millisecond. */
const CHARACTERS_PER_STEP_COUNT = 64 * 1024

/** Numbers and texts of a list that are serialized together. */
const VALUES_TOGETHER_COUNT = 128

/** Whether the data is a list or has one as a member, so that serializing it at once could block other requests. */
export function containsList(data: unknown): boolean {
  return isFilled(data) || (isObject(data) && Object.values(data).some(containsList))
}

/**
 * Serializes to the same JSON as `JSON.stringify`, in UTF-8, in steps of a limited size: an entry of a list is the
 * smallest part. Returns bytes because encoding a string of megabytes blocks too.
 */
export function* jsonSteps(value: object): Task<Uint8Array> {
  const output = new Output()
  yield* write(value, output)
  return output.bytes()
}

class Output {
  readonly #pieces: Uint8Array[] = []
  #text = ''

  /** @returns Whether a step is full. */
  put(text: string): boolean {
    this.#text += text
    if (this.#text.length < CHARACTERS_PER_STEP_COUNT) return false
    this.#flush()
    return true
  }

  bytes(): Uint8Array {
    this.#flush()
    return Buffer.concat(this.#pieces)
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }
}

function* write(value: unknown, output: Output): Task<void> {
  if (isFilled(value)) yield* writeList(value, output)
  else if (isObject(value) && containsList(value)) yield* writeMembers(value, output)
  else if (output.put(JSON.stringify(value))) yield
}

function* writeMembers(value: object, output: Output): Task<void> {
  let separator = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    output.put(`${separator}${JSON.stringify(name)}:`)
    yield* write(member, output)
    separator = ','
  }
  output.put('}')
}

function* writeList(list: readonly unknown[], output: Output): Task<void> {
  for (let from = 0; from < list.length; ) {
    const count = isObject(list[from]) || Array.isArray(list[from]) ? 1 : VALUES_TOGETHER_COUNT
    const entries = JSON.stringify(list.slice(from, from + count)).slice(1, -1)
    if (output.put(from === 0 ? `[${entries}` : `,${entries}`)) yield
    from += count
  }
  output.put(']')
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
