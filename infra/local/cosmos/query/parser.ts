import { ExpressionParser } from './expression-parser.ts'
import type { Expression, Member, Projection, Query } from './syntax.ts'
import { syntaxError, TokenReader, tokenize } from './tokens.ts'

const COUNT_ARGUMENT = '1'

/**
 * Parses a query of the supported subset.
 * @throws CosmosFailure 400 that names the token of a syntax error or an unsupported clause
 */
export function parseQuery(text: string): Query {
  const reader = new TokenReader(tokenize(text))
  const expressions = new ExpressionParser(reader)
  reader.expectWord('SELECT')
  const isDistinct = reader.takeWord('DISTINCT')
  const top = reader.takeWord('TOP') ? count(reader) : undefined
  const select = projection(reader, expressions)
  const alias = source(reader)
  const where = reader.takeWord('WHERE') ? expressions.expression() : undefined
  const order = orderBy(reader, expressions)
  const offset = reader.takeWord('OFFSET') ? count(reader) : undefined
  if (offset !== undefined) reader.expectWord('LIMIT')
  const limit = offset === undefined ? undefined : count(reader)
  if (reader.peek().kind !== 'end') throw reader.unexpected('not supported here')

  const unknown = expressions.roots.find((root) => root.text !== alias)
  if (unknown !== undefined) {
    throw syntaxError(`the identifier ${unknown.text} could not be resolved, the container is ${alias}`, unknown.at)
  }
  if (top !== undefined && offset !== undefined) throw syntaxError('TOP and OFFSET cannot be combined', 0)
  if (select.kind === 'count' && (top ?? order ?? offset) !== undefined) {
    throw syntaxError('COUNT together with TOP, ORDER BY or OFFSET is not supported', 0)
  }
  if (isDistinct && (select.kind !== 'value' || (top ?? order ?? offset) !== undefined)) {
    throw syntaxError('DISTINCT is supported with VALUE only, and not with TOP, ORDER BY or OFFSET', 0)
  }
  return { select, isDistinct, where, order, top, offset, limit }
}

function count(reader: TokenReader): Expression {
  const token = reader.next()
  if (token.kind === 'parameter') return { kind: 'parameter', name: token.text }
  if (token.kind === 'number') return { kind: 'literal', value: token.value }
  throw syntaxError(`incorrect syntax near '${token.text}': expected a number or a parameter`, token.at)
}

function projection(reader: TokenReader, expressions: ExpressionParser): Projection {
  if (reader.takeSymbol('*')) return { kind: 'document' }
  if (!reader.takeWord('VALUE')) {
    const members = reader.list(() => namedMember(reader, expressions))
    const names = new Set(members.map(({ name }) => name))
    if (names.size !== members.length) throw reader.unexpected('two results have the same name')
    return { kind: 'properties', members }
  }
  if (reader.sees('COUNT')) return countOfRows(reader)
  const expression = expressions.expression()
  const isDocument = expression.kind === 'property' && expression.path.length === 0
  return isDocument ? { kind: 'document' } : { kind: 'value', expression }
}

function countOfRows(reader: TokenReader): Projection {
  reader.expectWord('COUNT')
  reader.expectSymbol('(')
  if (reader.peek().text !== COUNT_ARGUMENT) throw reader.unexpected('only COUNT(1) is supported')
  reader.next()
  reader.expectSymbol(')')
  return { kind: 'count' }
}

function namedMember(reader: TokenReader, expressions: ExpressionParser): Member {
  const start = reader.peek()
  const expression = expressions.expression()
  if (reader.takeWord('AS')) return { name: reader.expectName(), expression }
  if (expression.kind !== 'property')
    throw syntaxError(`the result at '${start.text}' requires a name: AS name`, start.at)
  return { name: expression.path.at(-1) ?? start.text, expression }
}

/** FROM accepts any name, which is the alias unless another one follows. */
function source(reader: TokenReader): string {
  reader.expectWord('FROM')
  const name = reader.expectName()
  if (reader.takeWord('AS')) return reader.expectName()
  const isAlias = reader.peek().kind === 'word' && !['WHERE', 'ORDER', 'OFFSET'].some((word) => reader.sees(word))
  return isAlias ? reader.expectName() : name
}

function orderBy(reader: TokenReader, expressions: ExpressionParser): Query['order'] {
  if (!reader.takeWord('ORDER')) return undefined
  reader.expectWord('BY')
  const { path } = expressions.property()
  if (path.length === 0) throw reader.unexpected('ORDER BY requires a property')
  const isDescending = reader.takeWord('DESC')
  if (!isDescending) reader.takeWord('ASC')
  const token = reader.peek()
  if (token.kind === 'symbol' && token.text === ',') {
    throw reader.unexpected('ORDER BY with several properties requires a composite index, which is not supported')
  }
  return { path, isDescending }
}
