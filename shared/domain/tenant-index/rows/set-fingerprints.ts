import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import type { Bitmap } from './bitmap.ts'
import { pieces } from './packed-guid.ts'

/** Texts with a code, as tables of ids and dictionaries of texts have them. */
export type CodedTexts = {
  /** One more than the highest code. */
  readonly size: number
  /** 32 bits that depend on the text and the seed, and not on its code. */
  mixOf(code: number, seed: number): number
}

/** Two independent values of 32 bits for each text. */
const SEEDS = [0x9e3779b9, 0x7f4a7c15] as const

/** Words of a set that are added up in one step of the task: 65,536 texts. */
const WORDS_PER_STEP_COUNT = 2048

/**
 * Fingerprints of sets of texts that are given by their codes. Equal sets have the same fingerprint on every instance,
 * although the codes of the texts differ there. Different sets have different ones: each text adds 64 bits that look
 * random, and the fingerprint is the number of texts with the sum. Adding up needs no order, so that very large sets
 * are not sorted.
 */
export class SetFingerprints {
  readonly #texts: CodedTexts
  #mixed: readonly [Uint32Array, Uint32Array] | undefined

  constructor(texts: CodedTexts) {
    this.#texts = texts
  }

  *of(codes: Bitmap): Task<string> {
    this.#mixed ??= yield* this.#mixAll()
    const [first, second] = this.#mixed
    let [count, left, right] = [0, 0, 0]
    for (let from = 0; from < codes.length; from += WORDS_PER_STEP_COUNT) {
      const to = Math.min(from + WORDS_PER_STEP_COUNT, codes.length)
      for (let index = from; index < to; index += 1) {
        for (let word = codes[index] as number; word !== 0; word &= word - 1) {
          const code = (index << 5) + 31 - Math.clz32(word & -word)
          count += 1
          left = (left + (first[code] as number)) | 0
          right = (right + (second[code] as number)) | 0
        }
      }
      yield
    }
    return `${count}:${(left >>> 0).toString(16)}:${(right >>> 0).toString(16)}`
  }

  *#mixAll(): Task<readonly [Uint32Array, Uint32Array]> {
    const mixed = [new Uint32Array(this.#texts.size), new Uint32Array(this.#texts.size)] as const
    for (const [from, to] of pieces(this.#texts.size)) {
      for (let code = Math.max(from, 1); code < to; code += 1) {
        mixed[0][code] = this.#texts.mixOf(code, SEEDS[0])
        mixed[1][code] = this.#texts.mixOf(code, SEEDS[1])
      }
      yield
    }
    return mixed
  }
}
