import type { CallExpression, Expression, ForExpression, ObjectExpression, StringExpression } from '../bicep/syntax.ts'
import { call } from './call.ts'
import { isObject, Opaque, placeObject, Reference, textOfValue, unwritten, type Value, valueAt } from './value.ts'

export type Locals = ReadonlyMap<string, Value>

/** What evaluation needs from the file of the expression. */
export type Evaluation = {
  /** The value of a declaration. */
  readonly valueOfName: (name: string) => Value
  /** The text of a file, by path relative to the template. */
  readonly readText: (path: string) => string
}

/** The value of an expression. Values of invalid expressions are opaque; other checks report the errors. */
export function evaluate(expression: Expression, locals: Locals, context: Evaluation): Value {
  const of = (each: Expression) => evaluate(each, locals, context)
  switch (expression.kind) {
    case 'string':
      return stringValue(expression, of)
    case 'number':
    case 'boolean':
      return expression.value
    case 'null':
      return null
    case 'array':
      return expression.items.map(of)
    case 'object':
      return objectValue(expression, of)
    case 'for':
      return iterations(expression, locals, context).flatMap((inner) => {
        const isLeftOut = expression.condition && evaluate(expression.condition, inner, context) === false
        return isLeftOut ? [] : [evaluate(expression.body, inner, context)]
      })
    case 'name':
      return locals.get(expression.name) ?? context.valueOfName(expression.name)
    case 'member':
      return member(of(expression.object), expression.name)
    case 'index': {
      const [object, index] = [of(expression.object), of(expression.index)]
      if (Array.isArray(object)) return object[Number(index)] ?? new Opaque(`<item ${textOfValue(index)}>`)
      return member(object, textOfValue(index))
    }
    case 'nested':
      return context.valueOfName(expression.name)
    case 'call':
      return callValue(expression, locals, context)
    case 'lambda':
      return new Opaque('<lambda>')
    case 'ternary':
      return of(expression.condition) === false ? of(expression.alternative) : of(expression.consequence)
    case 'unary':
      return expression.operator === '!' ? of(expression.argument) === false : -Number(of(expression.argument))
    case 'binary':
      return operate(expression.operator, of(expression.left), () => of(expression.right))
  }
}

type Of = (expression: Expression) => Value

function stringValue({ parts }: StringExpression, of: Of): Value {
  const [first] = parts
  if (parts.length === 1 && first !== undefined && typeof first !== 'string') {
    // An opaque value stays opaque: `'${x}'` equals `x` as text.
    const only = of(first)
    return typeof only === 'number' || typeof only === 'boolean' ? String(only) : only
  }
  return parts.map((each) => (typeof each === 'string' ? each : textOfValue(of(each)))).join('')
}

function objectValue({ entries }: ObjectExpression, of: Of): Value {
  const object: Record<string, Value> = {}
  for (const { name, value } of entries) object[typeof name === 'string' ? name : textOfValue(of(name))] = of(value)
  placeObject(object, entries)
  return object
}

/** The local variables of each iteration of a loop. */
export function iterations(
  { item, index, source }: Pick<ForExpression, 'item' | 'index' | 'source'>,
  locals: Locals,
  context: Evaluation,
): Locals[] {
  const list = evaluate(source, locals, context)
  const items: readonly Value[] = Array.isArray(list) ? list : [new Opaque(`<${item}>`)]
  return items.map((each, position) => {
    const added: [string, Value][] = [[item, each]]
    if (index !== undefined) added.push([index, position])
    return new Map([...locals, ...added])
  })
}

function member(object: Value, name: string): Value {
  if (object instanceof Reference) {
    const { resource, outputs } = object
    if (resource === undefined) return name === 'outputs' ? outputs : new Opaque(`<module>.${name}`)
    if (name === 'id') return resource.id
    if (name === 'name') return resource.name
    return valueAt(resource.body, name) ?? new Opaque(`${resource.id}.${name}`)
  }
  if (isObject(object)) return object[name] === undefined ? unwritten(object, name) : object[name]
  return new Opaque(`${textOfValue(object)}.${name}`)
}

function callValue({ name, receiver, arguments: given }: CallExpression, locals: Locals, context: Evaluation): Value {
  const of = (each: Expression) => evaluate(each, locals, context)
  if (receiver) return new Opaque(`${textOfValue(of(receiver))}.${name}()`)
  const [first, second] = given
  if (name === 'loadTextContent' && first) return context.readText(textOfValue(of(first)))
  if (name === 'loadJsonContent' && first) return JSON.parse(context.readText(textOfValue(of(first)))) as Value
  if ((name === 'map' || name === 'filter') && first && second?.kind === 'lambda') {
    const list = of(first)
    const turn = (item: Value) =>
      evaluate(second.body, new Map([...locals, [second.parameters[0] ?? '', item]]), context)
    if (Array.isArray(list)) return name === 'map' ? list.map(turn) : list.filter((item) => turn(item) !== false)
  }
  return call(name, given.map(of))
}

/** Opaque conditions count as true, so that the rules check the resources that depend on them. */
function operate(operator: string, left: Value, right: () => Value): Value {
  switch (operator) {
    case '&&':
      return left !== false && right() !== false
    case '||':
      return left !== false || right() !== false
    case '??':
      return left === null || left instanceof Opaque ? (left ?? right()) : left
    case '==':
    case '=~':
      return textOfValue(left) === textOfValue(right())
    case '!=':
    case '!~':
      return textOfValue(left) !== textOfValue(right())
    case '>':
      return Number(left) > Number(right())
    case '>=':
      return Number(left) >= Number(right())
    case '<':
      return Number(left) < Number(right())
    case '<=':
      return Number(left) <= Number(right())
    case '+':
      return Number(left) + Number(right())
    case '-':
      return Number(left) - Number(right())
    case '*':
      return Number(left) * Number(right())
    case '/':
      return Math.trunc(Number(left) / Number(right()))
    default:
      return Number(left) % Number(right())
  }
}
