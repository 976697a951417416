import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import type { CodeSet } from './bitmap.ts'
import { grownUint8 } from './growable-array.ts'
import type { IdTable } from './id-table.ts'
import { ByteDictionary, TextDictionary } from './text-dictionary.ts'

type ListReader = (value: unknown) => readonly string[] | undefined

/** Lists of GUIDs, of references or of texts. Order and duplicates do not matter, so equal sets share a code. */
export class ListValues {
  readonly kind = 'list'
  readonly #elements: TextDictionary | IdTable
  readonly #read: ListReader
  readonly #lists = new ByteDictionary()
  #packed: Uint8Array<ArrayBuffer> = new Uint8Array(64)

  /** @param readTexts For lists of texts: returns those of a value, undefined for a value of another kind. */
  constructor(elements: TextDictionary | IdTable, readTexts?: ListReader) {
    this.#elements = elements
    this.#read = readTexts ?? idsIn
  }

  get size(): number {
    return this.#lists.size
  }

  /** One more than the highest code of an element in any list. */
  get elementCount(): number {
    return this.#elements.size
  }

  get sizeBytes(): number {
    const elementsBytes = this.#elements instanceof TextDictionary ? this.#elements.entries.sizeBytes : 0
    return this.#lists.sizeBytes + elementsBytes + this.#packed.byteLength
  }

  bytesBefore(code: number): number {
    return this.#lists.offsets[code] as number
  }

  *reserve(addedCount: number): Task<void> {
    yield* this.#lists.reserve(addedCount)
    if (this.#elements instanceof TextDictionary) yield* this.#elements.entries.reserve(addedCount)
  }

  encode(value: unknown): number {
    const texts = this.#read(value)
    if (texts === undefined) return 0
    const codes = new Set(texts.map((text) => this.#elements.intern(text)))
    return this.#lists.intern(this.#packed, 0, this.#pack([...codes].sort((left, right) => left - right)))
  }

  /** The code of an id or text; 0 when it is in no list. */
  codeOfElement(text: string): number {
    return this.#elements.codeOf(this.#read === idsIn ? text.toLowerCase() : text)
  }

  /** Whether the list with code `code` contains the element with code `element`. */
  contains(code: number, element: number): boolean {
    const { bytes, offsets } = this.#lists
    const end = offsets[code + 1] as number
    let shift = 0
    let value = 0
    for (let at = offsets[code] as number; at < end; at += 1) {
      const byte = bytes[at] as number
      value |= (byte & 0x7f) << shift
      shift += 7
      if (byte >= 0x80) continue
      if (value === element) return true
      shift = 0
      value = 0
    }
    return false
  }

  /** Adds the codes of the lists that contain an element, among those from one code up to another. */
  addListsWith(element: number, [from, to]: readonly [number, number], found: CodeSet): void {
    const { bytes, offsets } = this.#lists
    const last = offsets[to] as number
    let code = from
    let at = offsets[from] as number
    while (at < last) {
      let byte = bytes[at++] as number
      let value = byte & 0x7f
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = bytes[at++] as number
        value |= (byte & 0x7f) << shift
      }
      if (value !== element) continue
      while ((offsets[code + 1] as number) < at) code += 1
      found.add(code)
      at = offsets[code + 1] as number
    }
  }

  /** Whether the list with code `code` contains any of the elements. */
  containsAny(code: number, elements: ReadonlySet<number>): boolean {
    const { bytes, offsets } = this.#lists
    const end = offsets[code + 1] as number
    let shift = 0
    let value = 0
    for (let at = offsets[code] as number; at < end; at += 1) {
      const byte = bytes[at] as number
      value |= (byte & 0x7f) << shift
      shift += 7
      if (byte >= 0x80) continue
      if (elements.has(value)) return true
      shift = 0
      value = 0
    }
    return false
  }

  /** The elements of a list, in no particular order. */
  idsOf(code: number): string[] {
    const elements = this.#elements
    const ids: string[] = []
    for (const element of this.#codesIn(code)) {
      ids.push(elements instanceof TextDictionary ? elements.textOf(element) : elements.idOf(element))
    }
    return ids
  }

  /** The codes of the elements of a list: slots where they are references. */
  elementCodesOf(code: number): number[] {
    return [...this.#codesIn(code)]
  }

  *#codesIn(code: number): Generator<number, void> {
    const { bytes, offsets } = this.#lists
    let [shift, value] = [0, 0]
    for (let at = offsets[code] as number; at < (offsets[code + 1] as number); at += 1) {
      const byte = bytes[at] as number
      value |= (byte & 0x7f) << shift
      shift += 7
      if (byte >= 0x80) continue
      yield value
      shift = 0
      value = 0
    }
  }

  /** Variable-length encoding: seven bits per byte, lowest first; the top bit is set when more bytes follow. */
  #pack(codes: readonly number[]): number {
    this.#packed = grownUint8(this.#packed, codes.length * 5)
    let at = 0
    for (const code of codes) {
      let rest = code
      for (; rest >= 0x80; rest >>>= 7) this.#packed[at++] = (rest & 0x7f) | 0x80
      this.#packed[at++] = rest
    }
    return at
  }
}

/** The ids in a list of GUIDs or references, in lower case. */
function idsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const ids = value.map((element) => (typeof element === 'string' ? element : referredId(element)))
  return ids.filter((id) => id !== undefined).map((id) => id.toLowerCase())
}

/** The id in a value of a reference; undefined for any other value. */
export function referredId(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('objectId' in value)) return undefined
  return typeof value.objectId === 'string' ? value.objectId : undefined
}
