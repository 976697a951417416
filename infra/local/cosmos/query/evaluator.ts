import type { Json } from '../../../../shared/kernel/json.ts'
import { valueAt } from '../json-values.ts'
import { badRequest } from '../response.ts'
import { and, compare, foldCase, isSame, not, or, type Value } from './semantics.ts'
import type { Expression, FunctionName, Member } from './syntax.ts'

/** A row under evaluation. The document is parsed on first use. */
export type Row = { readonly id: string; readonly document: Json }
export type Evaluate = (row: Row) => Value
export type Parameters = ReadonlyMap<string, Json>

/** Minimum length of lists that are converted to a set. */
const SET_FROM_COUNT = 8

/** The value of a constant expression. Undefined for other expressions. */
export function constantOf(expression: Expression, parameters: Parameters): Json | undefined {
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'array') {
    const items = expression.items.map((item) => constantOf(item, parameters))
    return items.every((item) => item !== undefined) ? items : undefined
  }
  if (expression.kind !== 'parameter') return undefined
  const value = parameters.get(expression.name)
  if (value === undefined) throw badRequest(`The parameter ${expression.name} has no value`)
  return value
}

/** Compiles an expression to a function of a row. @throws CosmosFailure 400 for a parameter without a value */
export function compile(expression: Expression, parameters: Parameters): Evaluate {
  const constant = constantOf(expression, parameters)
  if (constant !== undefined) return () => constant
  const inner = (operand: Expression): Evaluate => compile(operand, parameters)
  switch (expression.kind) {
    case 'property':
      return property(expression.path)
    case 'not': {
      const operand = inner(expression.operand)
      return (row) => not(operand(row))
    }
    case 'and':
    case 'or': {
      const operands = expression.operands.map(inner)
      const combine = expression.kind === 'and' ? and : or
      return (row) => combine(evaluated(operands, row))
    }
    case 'compare': {
      const [left, right] = [inner(expression.left), inner(expression.right)]
      return (row) => compare(expression.operator, left(row), right(row))
    }
    case 'in':
      return membership(expression.operand, expression.options, parameters)
    case 'call':
      return call(expression.name, expression.operands, parameters)
    case 'array': {
      const items = expression.items.map(inner)
      return (row) => items.map((item) => item(row)).filter((item) => item !== undefined)
    }
    case 'object':
      return object(expression.members, parameters)
    default:
      throw badRequest(`An expression of kind ${expression.kind} has no value`)
  }
}

/** Compiles an object of named expressions. Undefined members are omitted. */
export function object(members: readonly Member[], parameters: Parameters): Evaluate {
  const compiled = members.map(({ name, expression }) => [name, compile(expression, parameters)] as const)
  return (row) => {
    const made: Record<string, Json> = {}
    for (const [name, evaluate] of compiled) {
      const value = evaluate(row)
      if (value !== undefined) made[name] = value
    }
    return made
  }
}

function* evaluated(operands: readonly Evaluate[], row: Row): Iterable<Value> {
  for (const operand of operands) yield operand(row)
}

function property(path: readonly string[]): Evaluate {
  if (path.length === 1 && path[0] === 'id') return (row) => row.id
  return (row) => valueAt(row.document, path)
}

/** `x IN (a, b)` is `x = a OR x = b`: an option of another type makes the result undefined. */
function membership(operand: Expression, options: readonly Expression[], parameters: Parameters): Evaluate {
  const value = compile(operand, parameters)
  const compiled = options.map((option) => compile(option, parameters))
  return (row) => {
    const searched = value(row)
    return or(compiled.map((option) => compare('=', searched, option(row))))
  }
}

function call(name: FunctionName, operands: readonly Expression[], parameters: Parameters): Evaluate {
  const [first, second, third] = operands.map((operand) => compile(operand, parameters))
  if (first === undefined) throw badRequest(`${name} requires an argument`)
  if (name === 'IS_DEFINED') return (row) => first(row) !== undefined
  if (name === 'IS_NULL') return (row) => first(row) === null
  if (second === undefined) throw badRequest(`${name} requires two arguments`)
  if (name === 'ARRAY_CONTAINS') return arrayContains(operands, first, second, parameters)
  const test = TEXT_TESTS[name]
  return (row) => {
    const [text, searched, isFolded] = [first(row), second(row), third === undefined ? false : third(row)]
    if (typeof text !== 'string' || typeof searched !== 'string' || typeof isFolded !== 'boolean') return undefined
    return isFolded ? test(foldCase(text), foldCase(searched)) : test(text, searched)
  }
}

const TEXT_TESTS = {
  STARTSWITH: (text: string, searched: string) => text.startsWith(searched),
  CONTAINS: (text: string, searched: string) => text.includes(searched),
  STRINGEQUALS: (text: string, searched: string) => text === searched,
}

function arrayContains(
  operands: readonly Expression[],
  list: Evaluate,
  searched: Evaluate,
  parameters: Parameters,
): Evaluate {
  const constant = operands[0] === undefined ? undefined : constantOf(operands[0], parameters)
  if (Array.isArray(constant) && constant.length >= SET_FROM_COUNT) {
    const scalars = new Set(constant)
    return (row) => {
      const value = searched(row)
      if (value === undefined) return undefined
      return scalars.has(value) || (isCompound(value) && constant.some((item) => isSame(item, value)))
    }
  }
  return (row) => {
    const [items, value] = [list(row), searched(row)]
    if (!Array.isArray(items) || value === undefined) return undefined
    return items.some((item) => isSame(item, value))
  }
}

const isCompound = (value: Json): boolean => typeof value === 'object' && value !== null
