import type { Node } from 'web-tree-sitter'
import { fixedText, locationOf, part, partsOf, stringParts } from './nodes.ts'
import type {
  CallExpression,
  Expression,
  ForExpression,
  Location,
  ObjectEntry,
  ObjectExpression,
  ResourceDeclaration,
  StringExpression,
} from './syntax.ts'

/** Converts the node of an expression to the model. */
export function readExpression(node: Node, file: string): Expression {
  const at = locationOf(node, file)
  const read = (which: string | number) => readExpression(part(node, which), file)
  switch (node.type) {
    case 'string':
      return readString(node, file)
    case 'number':
      return { kind: 'number', at, value: Number(node.text) }
    case 'boolean':
      return { kind: 'boolean', at, value: node.text === 'true' }
    case 'null':
      return { kind: 'null', at }
    case 'object':
      return readObject(node, file)
    case 'array':
      return { kind: 'array', at, items: partsOf(node).map((item) => readExpression(item, file)) }
    case 'for_statement':
      return readFor(node, file)
    case 'parenthesized_expression':
      return read(0)
    case 'unary_expression':
      return { kind: 'unary', at, operator: part(node, 'operator').text, argument: read('argument') }
    case 'call_expression':
      return readCall(node, file)
    case 'lambda_expression':
      return readLambda(node, file)
    case 'member_expression':
    case 'subscript_expression':
    case 'resource_expression':
    case 'binary_expression':
    case 'ternary_expression':
      return readOperation(node, file)
    default:
      return { kind: 'name', at, name: node.text }
  }
}

/**
 * The grammar parses `x => x.name` as `(x => x).name`. This moves the operation, and everything after the arrow, into
 * the body of the lambda.
 */
function intoLambda(first: Expression, isWritten: boolean, rebuild: (inner: Expression) => Expression): Expression {
  return first.kind === 'lambda' && !isWritten
    ? { ...first, body: intoLambda(first.body, false, rebuild) }
    : rebuild(first)
}

function readOperation(node: Node, file: string): Expression {
  const at = locationOf(node, file)
  const read = (which: string) => readExpression(part(node, which), file)
  const firstNode = node.childForFieldName('object') ?? node.childForFieldName('left') ?? part(node, 'condition')
  const first = readExpression(firstNode, file)
  const safe = node.children.some((child) => child?.type === '.?' || child?.type === '?')
  return intoLambda(first, firstNode.type === 'parenthesized_expression', (object) => {
    switch (node.type) {
      case 'member_expression':
        return { kind: 'member', at, object, name: part(node, 'property').text, safe }
      case 'subscript_expression':
        return { kind: 'index', at, object, index: read('index'), safe }
      case 'resource_expression':
        return { kind: 'nested', at, object, name: part(node, 'resource').text }
      case 'binary_expression':
        return { kind: 'binary', at, operator: part(node, 'operator').text, left: object, right: read('right') }
      default: {
        const [consequence, alternative] = [read('consequence'), read('alternative')]
        return { kind: 'ternary', at, condition: object, consequence, alternative }
      }
    }
  })
}

function readCall(node: Node, file: string): Expression {
  const at = locationOf(node, file)
  const callee = readExpression(part(node, 'function'), file)
  const given = partsOf(part(node, 'arguments')).map((argument) => readExpression(argument, file))
  return intoLambda(callee, false, (inner) => {
    // A call binds tighter than a unary operator, but the grammar may apply the call to the whole unary expression.
    if (inner.kind === 'unary') {
      const argument = called(inner.argument, given, at)
      return { ...inner, argument }
    }
    return called(inner, given, at)
  })
}

function called(callee: Expression, given: Expression[], at: Location): Expression {
  if (callee.kind === 'member') {
    // `az.` and `sys.` are namespaces of functions.
    const isLibrary = callee.object.kind === 'name' && ['az', 'sys'].includes(callee.object.name)
    const receiver = isLibrary ? undefined : callee.object
    return { kind: 'call', at, name: callee.name, receiver, arguments: given }
  }
  return { kind: 'call', at, name: callee.kind === 'name' ? callee.name : '', receiver: undefined, arguments: given }
}

function readLambda(node: Node, file: string): Expression {
  const [parameters, body] = [part(node, 0), part(node, 1)]
  const names = parameters.type === 'parenthesized_expression' ? partsOf(parameters) : [parameters]
  return {
    kind: 'lambda',
    at: locationOf(node, file),
    parameters: names.map((name) => name.text),
    body: readExpression(body, file),
  }
}

/** The parts of a string: fixed text and interpolated expressions. */
function readString(node: Node, file: string): StringExpression {
  const parts = stringParts(node).map((each) => (typeof each === 'string' ? each : readExpression(each, file)))
  return { kind: 'string', at: locationOf(node, file), parts }
}

/** Reads an object and the resources declared in it. */
function readObject(node: Node, file: string): ObjectExpression {
  const entries: ObjectEntry[] = []
  const resources: ObjectExpression['resources'][number][] = []
  let decorators: Node | undefined
  for (const child of partsOf(node)) {
    if (child.type === 'decorators') decorators = child
    if (child.type !== 'object_property') continue
    const first = part(child, 0)
    if (first.type === 'resource_declaration') resources.push(readResource(first, file, decorators))
    else {
      const key = first.type === 'string' ? readString(first, file) : undefined
      const name = key === undefined ? first.text : (textOf(key) ?? key)
      entries.push({ name, value: readExpression(part(child, 1), file), at: locationOf(child, file) })
    }
    decorators = undefined
  }
  return { kind: 'object', at: locationOf(node, file), entries, resources }
}

/** The text of a string without interpolations. */
export function textOf(expression: Expression | undefined): string | undefined {
  if (expression?.kind !== 'string' || expression.parts.some((each) => typeof each !== 'string')) return undefined
  return expression.parts.join('')
}

/** The value of a property of an object. */
export const entryOf = (object: ObjectExpression, name: string): Expression | undefined =>
  object.entries.find((entry) => entry.name === name)?.value

/** Reads a loop with the optional condition of its body. */
function readFor(node: Node, file: string): ForExpression {
  const parameters = node.namedChildren.find((child) => child.type === 'for_loop_parameters')
  const names = parameters ? partsOf(parameters) : [part(node, 'initializer')]
  const bodyNode = part(node, 'body')
  const source = partsOf(node).find(
    (child) => child.type !== 'for_loop_parameters' && child.id !== bodyNode.id && child.id !== names[0]?.id,
  )
  if (!source) throw new Error(`A loop without a source: ${node.text.slice(0, 80)}`)
  const isConditional = bodyNode.type === 'if_statement'
  return {
    kind: 'for',
    at: locationOf(node, file),
    item: names[0]?.text ?? '',
    index: names[1]?.text,
    source: readExpression(source, file),
    condition: isConditional ? readExpression(part(bodyNode, 0), file) : undefined,
    body: readExpression(isConditional ? part(bodyNode, 1) : bodyNode, file),
  }
}

/** Reads a resource, at the top level or nested in its parent. */
export function readResource(node: Node, file: string, decorators: Node | undefined): ResourceDeclaration {
  return {
    kind: 'resource',
    at: locationOf(node, file),
    name: part(node, 0).text,
    decorators: readDecorators(decorators, file),
    type: fixedText(part(node, 1)),
    existing: node.children.some((child) => child?.type === 'existing'),
    ...readBody(part(node, 2), file),
  }
}

export function readBody(node: Node, file: string): Pick<ResourceDeclaration, 'loop' | 'condition' | 'body'> {
  if (node.type === 'object') return { loop: undefined, condition: undefined, body: readObject(node, file) }
  if (node.type === 'if_statement') {
    const condition = readExpression(part(node, 0), file)
    return { loop: undefined, condition, body: readObject(part(node, 1), file) }
  }
  const { at, item, index, source, condition, body } = readFor(node, file)
  if (body.kind !== 'object') throw new Error(`${file}:${at.line}: the body of a loop must be an object`)
  return { loop: { at, item, index, source }, condition, body }
}

export function readDecorators(node: Node | undefined, file: string): CallExpression[] {
  const calls = node === undefined ? [] : partsOf(node).map((each) => readExpression(part(each, 0), file))
  return calls.filter((call) => call.kind === 'call')
}
