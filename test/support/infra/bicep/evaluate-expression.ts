import type { Node } from 'web-tree-sitter'
import { type AzureTypes, propertyOf } from './azure-types.ts'
import { call, FUNCTION_NAMES } from './call.ts'
import { suggestion } from './fault.ts'
import { part, partsOf, stringParts } from './nodes.ts'
import { isObject, Opaque, Reference, textOfValue, type Value } from './value.ts'

/** The variables of loops. */
export type Locals = ReadonlyMap<string, Value>

/** What evaluation needs from the file of the expression. */
export type Evaluation = {
  readonly types: AzureTypes
  /** The value of a declaration; undefined if there is none of that name. */
  readonly valueOfName: (name: string) => Value | undefined
  /** The text of a file, by path relative to the template. */
  readonly readText: (path: string) => string
  readonly fault: (node: Node, message: string) => void
}

/** The value of an expression. A part with a fault is opaque. @throws Error for syntax that no template uses */
export function evaluate(node: Node, locals: Locals, context: Evaluation): Value {
  const of = (which: string | number) => evaluate(part(node, which), locals, context)
  switch (node.type) {
    case 'string':
      return stringValue(node, (inner) => evaluate(inner, locals, context))
    case 'number':
      return Number(node.text)
    case 'boolean':
      return node.text === 'true'
    case 'null':
      return null
    case 'array':
      return partsOf(node).map((item) => evaluate(item, locals, context))
    case 'object':
      return objectValue(node, locals, context)
    case 'for_statement':
      return iterations(node, locals, context).flatMap(({ body, inner, isIncluded }) =>
        isIncluded ? [evaluate(body, inner, context)] : [],
      )
    case 'parenthesized_expression':
      return of(0)
    case 'member_expression':
      return member(node, of('object'), part(node, 'property').text, context)
    case 'subscript_expression':
      return item(node, of('object'), of('index'), context)
    case 'call_expression':
      return callValue(node, locals, context)
    case 'ternary_expression':
      return of('condition') === false ? of('alternative') : of('consequence')
    case 'binary_expression':
      return operation(part(node, 'operator').text, of('left'), of('right'))
    case 'identifier':
    case 'compatible_identifier':
      return named(node, locals, context)
    default:
      throw new Error(`line ${node.startPosition.row + 1}: the tests do not evaluate ${node.type}: ${node.text}`)
  }
}

function named(node: Node, locals: Locals, context: Evaluation): Value {
  const value = locals.get(node.text) ?? context.valueOfName(node.text)
  if (value !== undefined) return value
  context.fault(node, `${node.text} is not declared`)
  return new Opaque(`<${node.text}>`)
}

function stringValue(node: Node, of: (node: Node) => Value): Value {
  const parts = stringParts(node)
  const [only] = parts
  // An opaque value stays opaque: `'${x}'` equals `x` as text.
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') return of(only)
  return parts.map((piece) => (typeof piece === 'string' ? piece : textOfValue(of(piece)))).join('')
}

function objectValue(node: Node, locals: Locals, context: Evaluation): Value {
  const object: Record<string, Value> = {}
  for (const property of partsOf(node).filter(({ type }) => type === 'object_property')) {
    const key = part(property, 0)
    const name = key.type === 'string' ? textOfValue(evaluate(key, locals, context)) : key.text
    if (object[name] !== undefined) context.fault(key, `${name} is set twice in one object`)
    object[name] = evaluate(part(property, 1), locals, context)
  }
  return object
}

/** One body of a resource, a module or a loop. */
type Iteration = { readonly body: Node; readonly inner: Locals; readonly isIncluded: boolean }

/** The bodies of a declaration or a loop, each with its variables, and whether its condition holds. */
export function iterations(node: Node, locals: Locals, context: Evaluation): Iteration[] {
  if (node.type === 'if_statement') {
    // A condition that only the cloud knows counts as true, so that the rules check the resource.
    const isIncluded = evaluate(part(node, 0), locals, context) !== false
    return [{ body: part(node, 1), inner: locals, isIncluded }]
  }
  if (node.type !== 'for_statement') return [{ body: node, inner: locals, isIncluded: true }]
  const parameters = node.namedChildren.find((child) => child.type === 'for_loop_parameters')
  const names = parameters ? partsOf(parameters) : [part(node, 'initializer')]
  const body = part(node, 'body')
  const source = partsOf(node).find(
    (child) => child !== parameters && child.id !== body.id && child.id !== names[0]?.id,
  )
  const list = source && evaluate(source, locals, context)
  if (!Array.isArray(list)) {
    context.fault(node, `a loop needs an array, not ${textOfValue(list ?? null)}`)
    return []
  }
  return list.flatMap((element: Value, position) => {
    const added = names.map(({ text }, index) => [text, index === 0 ? element : position] as const)
    return iterations(body, new Map([...locals, ...added]), context)
  })
}

function member(node: Node, object: Value, name: string, context: Evaluation): Value {
  if (object instanceof Reference && object.resource === undefined && name === 'outputs') return object.outputs
  if (object instanceof Reference && object.resource !== undefined) {
    const { id, body, properties } = object.resource
    if (name === 'id') return id
    if (body[name] !== undefined && name !== 'properties') return body[name]
    return opaqueMember(node, new Opaque(id, { type: properties }), name, context)
  }
  if (object instanceof Opaque) return opaqueMember(node, object, name, context)
  if (isObject(object) && object[name] !== undefined) return object[name]
  const known = isObject(object) ? Object.keys(object) : []
  context.fault(node, `${part(node, 0).text} has no property ${name}${suggestion(name, known)}`)
  return new Opaque(`<${name}>`)
}

/** A property that the cloud sets. Its resource type must have it. */
function opaqueMember(node: Node, object: Opaque, name: string, { types, fault }: Evaluation): Opaque {
  const type = object.type && propertyOf(object.type, name, types)
  if (object.type?.$type === 'ObjectType' && type === undefined) {
    fault(node, `${part(node, 0).text} has no property ${name}${suggestion(name, Object.keys(object.type.properties))}`)
  }
  return new Opaque(`${object.text}.${name}`, { type })
}

function item(node: Node, object: Value, index: Value, context: Evaluation): Value {
  if (!Array.isArray(object)) return member(node, object, textOfValue(index), context)
  return object[Number(index)] ?? new Opaque(`<item ${textOfValue(index)}>`)
}

function callValue(node: Node, locals: Locals, context: Evaluation): Value {
  const callee = part(node, 'function')
  const values = partsOf(part(node, 'arguments')).map((argument) => evaluate(argument, locals, context))
  if (callee.text === 'loadTextContent') return context.readText(textOfValue(values[0] ?? ''))
  if (FUNCTION_NAMES.includes(callee.text)) return call(callee.text, values)
  context.fault(node, `the templates use no function ${callee.text}${suggestion(callee.text, FUNCTION_NAMES)}`)
  return new Opaque(`${callee.text}()`)
}

function operation(operator: string, left: Value, right: Value): Value {
  switch (operator) {
    case '&&':
      return left !== false && right !== false
    case '||':
      return left !== false || right !== false
    case '==':
      return textOfValue(left) === textOfValue(right)
    case '!=':
      return textOfValue(left) !== textOfValue(right)
    case '>':
      return Number(left) > Number(right)
    case '+':
      return Number(left) + Number(right)
    case '*':
      return Number(left) * Number(right)
    case '/':
      return Math.trunc(Number(left) / Number(right))
    default:
      throw new Error(`the tests do not evaluate the operator ${operator}`)
  }
}
