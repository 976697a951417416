import type { CosmosFailure } from '../failure.ts'
import { RESERVED_WORDS } from './syntax.ts'
import { syntaxError, type Token } from './tokens.ts'

const isWord = (token: Token, word: string): boolean => token.kind === 'word' && token.text.toUpperCase() === word
const isSymbol = (token: Token, symbol: string): boolean => token.kind === 'symbol' && token.text === symbol

/** Reads tokens. `take...` consumes the next token if it matches and returns whether it did. `expect...` throws otherwise. */
export class TokenReader {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  peek(offset = 0): Token {
    return this.#tokens[this.#position + offset] ?? { kind: 'end', text: 'end of the query', at: 0 }
  }

  next(): Token {
    const token = this.peek()
    this.#position++
    return token
  }

  sees(...words: string[]): boolean {
    return words.every((word, offset) => isWord(this.peek(offset), word))
  }

  takeWord(word: string): boolean {
    const fits = isWord(this.peek(), word)
    if (fits) this.#position++
    return fits
  }

  takeSymbol(symbol: string): boolean {
    const fits = isSymbol(this.peek(), symbol)
    if (fits) this.#position++
    return fits
  }

  expectWord(word: string): void {
    if (!this.takeWord(word)) throw this.unexpected(`${word} was expected`)
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected(`'${symbol}' was expected`)
  }

  expectName(): string {
    const token = this.peek()
    if (token.kind !== 'word' || RESERVED_WORDS.has(token.text.toUpperCase())) throw this.unexpected('expected a name')
    this.#position++
    return token.text
  }

  /** A 400 error that names the current token. */
  unexpected(because: string): CosmosFailure {
    const { text, at } = this.peek()
    return syntaxError(`incorrect syntax near '${text}': ${because}`, at)
  }

  /** Reads a comma-separated list. */
  list<T>(read: () => T): T[] {
    const items = [read()]
    while (this.takeSymbol(',')) items.push(read())
    return items
  }
}
