import { badRequest, type CosmosFailure } from '../response.ts'
import { RESERVED_WORDS } from './syntax.ts'

/** A token. `text` is the source text, `value` the value of a string or number. */
export type Token =
  | { readonly kind: 'word' | 'parameter' | 'symbol' | 'end'; readonly text: string; readonly at: number }
  | { readonly kind: 'string'; readonly text: string; readonly at: number; readonly value: string }
  | { readonly kind: 'number'; readonly text: string; readonly at: number; readonly value: number }

const PATTERN =
  /(?<space>\s+)|(?<word>[A-Za-z_]\w*)|(?<parameter>@\w+)|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<symbol><>|!=|<=|>=|[=<>()[\]{},.:*])/suy

/** Splits a query into tokens and a final `end`. @throws CosmosFailure 400 that names the first invalid character */
export function tokenize(query: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < query.length) {
    PATTERN.lastIndex = at
    const groups = PATTERN.exec(query)?.groups
    if (groups === undefined) throw syntaxError(`incorrect syntax near '${query.slice(at, at + 20)}'`, at)
    const text = Object.values(groups).find((group) => group !== undefined) ?? ''
    if (groups.word !== undefined) tokens.push({ kind: 'word', text, at })
    else if (groups.parameter !== undefined) tokens.push({ kind: 'parameter', text, at })
    else if (groups.symbol !== undefined) tokens.push({ kind: 'symbol', text, at })
    else if (groups.string !== undefined) tokens.push({ kind: 'string', text, at, value: unescaped(text, at) })
    else if (groups.number !== undefined) tokens.push({ kind: 'number', text, at, value: finite(text, at) })
    at += text.length
  }
  tokens.push({ kind: 'end', text: 'end of the query', at })
  return tokens
}

export const syntaxError = (message: string, at: number) => badRequest(`Syntax error at ${at}: ${message}`)

function unescaped(text: string, at: number): string {
  return text.slice(1, -1).replaceAll(/\\(.)/gsu, (written, character: string) => {
    if (/['"\\]/.test(character)) return character
    throw syntaxError(`the escape ${written} is not supported`, at)
  })
}

function finite(text: string, at: number): number {
  const value = Number(text)
  if (!Number.isFinite(value)) throw syntaxError(`the number ${text} is out of range`, at)
  return value
}

const isWord = (token: Token, word: string): boolean => token.kind === 'word' && token.text.toUpperCase() === word
const isSymbol = (token: Token, symbol: string): boolean => token.kind === 'symbol' && token.text === symbol

/**
 * Reads tokens. `take...` consumes the next token if it matches and returns whether it did. `expect...` throws
 * otherwise.
 */
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

  unexpected(because: string): CosmosFailure {
    const { text, at } = this.peek()
    return syntaxError(`incorrect syntax near '${text}': ${because}`, at)
  }

  list<T>(read: () => T): T[] {
    const items = [read()]
    while (this.takeSymbol(',')) items.push(read())
    return items
  }
}
