import { ByteDictionary } from './byte-dictionary.ts'
import { CodePointBytes, textOfBytes } from './code-point-bytes.ts'

/** Gives every distinct text a code, from 1 on; 0 stands for "no text". */
export class TextDictionary {
  readonly entries = new ByteDictionary()
  readonly #encoded = new CodePointBytes()

  /** One more than the highest code. */
  get size(): number {
    return this.entries.size
  }

  /** The text's code, a new one when need be. */
  intern(text: string): number {
    const { bytes, length } = this.#encoded.set(text)
    return this.entries.intern(bytes, 0, length)
  }

  /** The text's code, 0 when it has none. */
  codeOf(text: string): number {
    const { bytes, length } = this.#encoded.set(text)
    return this.entries.find(bytes, 0, length)
  }

  textOf(code: number): string {
    const { bytes, offsets } = this.entries
    return textOfBytes(bytes, offsets[code] as number, offsets[code + 1] as number)
  }
}
