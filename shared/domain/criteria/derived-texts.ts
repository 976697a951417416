import { grownInt32 } from '../tenant-index/rows/growable-array.ts'
import type { TextDictionary } from '../tenant-index/rows/text-dictionary.ts'
import { ByteDictionary } from '../tenant-index/rows/text-dictionary.ts'
import type { FieldFunction } from './condition.ts'
import { TextFunctions } from './text-functions.ts'

/** Limit for all derived texts of a snapshot. */
const MAX_BYTES = 24_000_000
/** Chains of functions in the cache; most have no cached texts. */
const MAX_CHAINS_COUNT = 2000
/** Memory of one cached text beside its bytes: its code and its entry in the dictionary of results. */
const BYTES_PER_TEXT = 16

/**
 * The results of a chain of functions on the texts of a dictionary. They are cached once a second leaf uses the same
 * chain. The latest result is `bytes` from `start` to `end`.
 */
export class DerivedTexts {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  start = 0
  end = 0
  /** The approximate size of the cached texts. */
  sizeBytes = 0
  readonly source: TextDictionary
  readonly #functions: TextFunctions
  readonly #onGrowth: (bytes: number) => void
  #results: { codes: Int32Array<ArrayBuffer>; readonly results: ByteDictionary } | undefined

  constructor(source: TextDictionary, functions: readonly FieldFunction[], onGrowth: (bytes: number) => void) {
    this.source = source
    this.#functions = new TextFunctions(functions)
    this.#onGrowth = onGrowth
  }

  /** Computes the result for the text with a code. */
  read(code: number): void {
    const known = this.#results?.codes[code] ?? 0
    if (known === 0) this.#compute(code)
    else this.#show(known)
  }

  /** Caches results from now on, unless they can be expected to exceed the limit. */
  startCaching(): void {
    if (this.#results !== undefined || this.source.size * BYTES_PER_TEXT * 2 > MAX_BYTES) return
    this.#results = { codes: new Int32Array(this.source.size), results: new ByteDictionary() }
  }

  /** Frees the cached results. Later results are computed each time. */
  stopCaching(): void {
    this.#results = undefined
    this.sizeBytes = 0
  }

  #compute(code: number): void {
    const { bytes, offsets } = this.source.entries
    const functions = this.#functions
    functions.apply(bytes, offsets[code] as number, offsets[code + 1] as number)
    this.bytes = functions.bytes
    this.start = functions.start
    this.end = functions.end
    const cached = this.#results
    if (cached === undefined) return
    cached.codes = grownInt32(cached.codes, code + 1)
    cached.codes[code] = cached.results.intern(this.bytes, this.start, this.end)
    const addedBytes = this.end - this.start + BYTES_PER_TEXT
    this.sizeBytes += addedBytes
    this.#onGrowth(addedBytes)
  }

  #show(code: number): void {
    const { bytes, offsets } = (this.#results as { readonly results: ByteDictionary }).results
    this.bytes = bytes
    this.start = offsets[code] as number
    this.end = offsets[code + 1] as number
  }
}

/** The derived texts of a snapshot and its forks, shared by all conditions. The least recently used are evicted. */
export class DerivedTextCache {
  readonly #chains = new Map<string, DerivedTexts>()
  #sizeBytes = 0

  /** @param name The schema name of the attribute whose texts `source` contains. */
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
    if (this.#sizeBytes > MAX_BYTES) this.#makeRoom()
  }

  #makeRoom(): void {
    for (const [key, derived] of this.#chains) {
      if (this.#sizeBytes <= MAX_BYTES && this.#chains.size <= MAX_CHAINS_COUNT) return
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

/** The derived texts of a snapshot and its forks, freed together with these. */
export function derivedTextsOf(family: object): DerivedTextCache {
  const cache = caches.get(family) ?? new DerivedTextCache()
  caches.set(family, cache)
  return cache
}
