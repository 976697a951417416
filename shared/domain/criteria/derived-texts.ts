import { grownInt32 } from '../tenant-index/growable-array.ts'
import type { TextDictionary } from '../tenant-index/text-dictionary.ts'
import { ByteDictionary } from '../tenant-index/text-dictionary.ts'
import type { FieldFunction } from './condition.ts'
import { TextFunctions } from './text-functions.ts'

/** Bytes that all derived texts of a snapshot may take together. */
const BYTES_AT_MOST = 24_000_000
/** Chains of functions known at a time, most of which remember nothing. */
const CHAINS_AT_MOST_COUNT = 2000
/** What one remembered text takes besides its bytes: its code, and what the dictionary of results keeps of it. */
const BYTES_PER_TEXT = 16

/**
 * What a chain of functions makes of the texts of a dictionary. Once a second leaf asks for the same chain, each text is
 * computed once and remembered. The latest result is `bytes` from `start` to `end`.
 */
export class DerivedTexts {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  start = 0
  end = 0
  /** What is remembered, about. */
  sizeBytes = 0
  readonly source: TextDictionary
  readonly #functions: TextFunctions
  readonly #onGrowth: (bytes: number) => void
  #remembered: { codes: Int32Array<ArrayBuffer>; readonly results: ByteDictionary } | undefined

  constructor(source: TextDictionary, functions: readonly FieldFunction[], onGrowth: (bytes: number) => void) {
    this.source = source
    this.#functions = new TextFunctions(functions)
    this.#onGrowth = onGrowth
  }

  /** Reads what becomes of the text with a code. */
  read(code: number): void {
    const known = this.#remembered?.codes[code] ?? 0
    if (known === 0) this.#compute(code)
    else this.#show(known)
  }

  /** Remembers from now on; not what can be expected to need more than there may be. */
  startCaching(): void {
    if (this.#remembered !== undefined || this.source.size * BYTES_PER_TEXT * 2 > BYTES_AT_MOST) return
    this.#remembered = { codes: new Int32Array(this.source.size), results: new ByteDictionary() }
  }

  /** Takes no memory any more; what is read is computed each time. */
  stopCaching(): void {
    this.#remembered = undefined
    this.sizeBytes = 0
  }

  #compute(code: number): void {
    const { bytes, offsets } = this.source.entries
    const functions = this.#functions
    functions.apply(bytes, offsets[code] as number, offsets[code + 1] as number)
    this.bytes = functions.bytes
    this.start = functions.start
    this.end = functions.end
    const remembered = this.#remembered
    if (remembered === undefined) return
    remembered.codes = grownInt32(remembered.codes, code + 1)
    remembered.codes[code] = remembered.results.intern(this.bytes, this.start, this.end)
    const addedBytes = this.end - this.start + BYTES_PER_TEXT
    this.sizeBytes += addedBytes
    this.#onGrowth(addedBytes)
  }

  #show(code: number): void {
    const { bytes, offsets } = (this.#remembered as { readonly results: ByteDictionary }).results
    this.bytes = bytes
    this.start = offsets[code] as number
    this.end = offsets[code + 1] as number
  }
}

/** The derived texts of one snapshot and its forks, shared by all conditions; those unused for longest make room. */
export class DerivedTextCache {
  readonly #chains = new Map<string, DerivedTexts>()
  #sizeBytes = 0

  /** @param name the schema name of the attribute whose texts `source` holds. */
  of(name: string, source: TextDictionary, functions: readonly FieldFunction[]): DerivedTexts {
    const key = JSON.stringify([name, functions])
    const known = this.#chains.get(key)
    this.#chains.delete(key)
    if (known?.source === source) {
      known.startCaching()
      this.#chains.set(key, known)
      return known
    }
    if (known !== undefined) this.#drop(known)
    const derived = new DerivedTexts(source, functions, (addedBytes) => this.#grow(addedBytes))
    this.#chains.set(key, derived)
    this.#makeRoom()
    return derived
  }

  #grow(addedBytes: number): void {
    this.#sizeBytes += addedBytes
    if (this.#sizeBytes > BYTES_AT_MOST) this.#makeRoom()
  }

  #makeRoom(): void {
    for (const [key, derived] of this.#chains) {
      if (this.#sizeBytes <= BYTES_AT_MOST && this.#chains.size <= CHAINS_AT_MOST_COUNT) return
      this.#chains.delete(key)
      this.#drop(derived)
    }
  }

  #drop(derived: DerivedTexts): void {
    this.#sizeBytes -= derived.sizeBytes
    derived.stopCaching()
  }
}

const caches = new WeakMap<object, DerivedTextCache>()

/** The derived texts of a snapshot and its forks; they are dropped with the last of these. */
export function derivedTextsOf(family: object): DerivedTextCache {
  const cache = caches.get(family) ?? new DerivedTextCache()
  caches.set(family, cache)
  return cache
}
