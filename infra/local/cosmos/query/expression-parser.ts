import {
  type ComparisonOperator,
  type Expression,
  FUNCTIONS,
  type FunctionName,
  type Member,
  RESERVED_WORDS,
} from './syntax.ts'
import type { TokenReader } from './tokens.ts'
import { syntaxError, type Token } from './tokens.ts'

/** Maximum nesting of parentheses, to protect the stack of the parser. */
const NESTING_LIMIT_COUNT = 200

const OPERATORS: Readonly<Record<string, ComparisonOperator>> = {
  '=': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}

/** Parses expressions and collects their root identifiers, which the FROM clause resolves later. */
export class ExpressionParser {
  readonly roots: Token[] = []
  readonly #reader: TokenReader
  #depth = 0

  constructor(reader: TokenReader) {
    this.#reader = reader
  }

  /** Precedence from low to high: OR, AND, NOT. */
  expression(): Expression {
    if (++this.#depth > NESTING_LIMIT_COUNT) throw this.#reader.unexpected('the query is nested too deeply')
    const operands = [this.#conjunction()]
    while (this.#reader.takeWord('OR')) operands.push(this.#conjunction())
    this.#depth--
    return joined('or', operands)
  }

  /** A property below the document: `c.a["custom/x"]`. */
  property(): Expression & { kind: 'property' } {
    const root = this.#reader.peek()
    this.#reader.expectName()
    this.roots.push(root)
    const path: string[] = []
    for (;;) {
      if (this.#reader.takeSymbol('.')) path.push(this.#memberName())
      else if (this.#reader.takeSymbol('[')) path.push(this.#bracketedName())
      else return { kind: 'property', path }
    }
  }

  #conjunction(): Expression {
    const operands = [this.#negation()]
    while (this.#reader.takeWord('AND')) operands.push(this.#negation())
    return joined('and', operands)
  }

  #negation(): Expression {
    let isNegated = false
    while (this.#reader.takeWord('NOT')) isNegated = !isNegated
    const operand = this.#comparison()
    return isNegated ? { kind: 'not', operand } : operand
  }

  #comparison(): Expression {
    const left = this.#primary()
    const token = this.#reader.peek()
    const operator = token.kind === 'symbol' ? OPERATORS[token.text] : undefined
    if (operator !== undefined) {
      this.#reader.next()
      return { kind: 'compare', operator, left, right: this.#primary() }
    }
    return this.#reader.takeWord('IN') ? this.#membership(left) : left
  }

  #membership(operand: Expression): Expression {
    this.#reader.expectSymbol('(')
    const options = this.#reader.list(() => this.expression())
    this.#reader.expectSymbol(')')
    return { kind: 'in', operand, options }
  }

  #primary(): Expression {
    const token = this.#reader.peek()
    switch (token.kind) {
      case 'string':
      case 'number':
        this.#reader.next()
        return { kind: 'literal', value: token.value }
      case 'parameter':
        this.#reader.next()
        return { kind: 'parameter', name: token.text }
      case 'word':
        return this.#word()
      default:
        return this.#enclosed()
    }
  }

  #word(): Expression {
    if (this.#reader.takeWord('TRUE')) return { kind: 'literal', value: true }
    if (this.#reader.takeWord('FALSE')) return { kind: 'literal', value: false }
    if (this.#reader.takeWord('NULL')) return { kind: 'literal', value: null }
    const following = this.#reader.peek(1)
    return following.kind === 'symbol' && following.text === '(' ? this.#call() : this.property()
  }

  #call(): Expression {
    const token = this.#reader.next()
    const name = token.text.toUpperCase()
    if (!Object.hasOwn(FUNCTIONS, name)) throw syntaxError(`the function ${token.text} is not supported`, token.at)
    this.#reader.expectSymbol('(')
    const operands = this.#reader.list(() => this.expression())
    this.#reader.expectSymbol(')')
    const [least, greatest] = FUNCTIONS[name as FunctionName]
    if (operands.length < least || operands.length > greatest) {
      throw syntaxError(`${token.text} with ${operands.length} arguments is not supported`, token.at)
    }
    return { kind: 'call', name: name as FunctionName, operands }
  }

  #enclosed(): Expression {
    if (this.#reader.takeSymbol('(')) {
      const expression = this.expression()
      this.#reader.expectSymbol(')')
      return expression
    }
    if (this.#reader.takeSymbol('[')) {
      const items = this.#reader.takeSymbol(']') ? undefined : this.#reader.list(() => this.expression())
      if (items !== undefined) this.#reader.expectSymbol(']')
      return { kind: 'array', items: items ?? [] }
    }
    if (this.#reader.takeSymbol('{')) {
      const members = this.#reader.takeSymbol('}') ? undefined : this.#reader.list(() => this.#member())
      if (members !== undefined) this.#reader.expectSymbol('}')
      return { kind: 'object', members: members ?? [] }
    }
    throw this.#reader.unexpected('expected an expression')
  }

  #member(): Member {
    const token = this.#reader.peek()
    const name = token.kind === 'string' ? token.value : this.#reader.expectName()
    if (token.kind === 'string') this.#reader.next()
    this.#reader.expectSymbol(':')
    return { name, expression: this.expression() }
  }

  #memberName(): string {
    const token = this.#reader.peek()
    if (token.kind !== 'word') throw this.#reader.unexpected('expected the name of a property')
    if (RESERVED_WORDS.has(token.text.toUpperCase())) {
      throw this.#reader.unexpected(`a reserved word must be written as ["${token.text}"]`)
    }
    this.#reader.next()
    return token.text
  }

  #bracketedName(): string {
    const token = this.#reader.next()
    if (token.kind !== 'string') throw syntaxError(`[${token.text}] is not supported, only ["name"]`, token.at)
    this.#reader.expectSymbol(']')
    return token.value
  }
}

function joined(kind: 'and' | 'or', operands: readonly Expression[]): Expression {
  const [only] = operands
  return only !== undefined && operands.length === 1 ? only : { kind, operands }
}
