import type { Node } from 'web-tree-sitter'
import { fixedText, locationOf, part, partsOf } from './nodes.ts'
import { readBody, readDecorators, readExpression, readResource } from './read-expressions.ts'
import type { Declaration, TypeExpression } from './syntax.ts'

/** The declarations of a file without syntax errors, in order. */
export function readDeclarations(root: Node, file: string): Declaration[] {
  const declarations: Declaration[] = []
  let decorators: Node | undefined
  for (const node of partsOf(root)) {
    if (node.type === 'decorators') decorators = node
    else {
      declarations.push(readDeclaration(node, file, decorators))
      decorators = undefined
    }
  }
  return declarations
}

function readDeclaration(node: Node, file: string, decoratorsNode: Node | undefined): Declaration {
  const at = locationOf(node, file)
  const decorators = readDecorators(decoratorsNode, file)
  const name = part(node, 0).text
  const valueAt = (index: number) => readExpression(part(node, index), file)
  switch (node.type) {
    case 'target_scope_assignment':
      return { kind: 'scope', at, name: 'targetScope', decorators, value: fixedText(part(node, 0)) }
    case 'parameter_declaration': {
      const given = partsOf(node).length > 2 ? valueAt(2) : undefined
      return { kind: 'parameter', at, name, decorators, type: readType(part(node, 1)), default: given }
    }
    case 'variable_declaration':
      return { kind: 'variable', at, name, decorators, value: valueAt(1) }
    case 'output_declaration':
      return { kind: 'output', at, name, decorators, type: readType(part(node, 1)), value: valueAt(2) }
    case 'type_declaration':
      return { kind: 'type', at, name, decorators, type: readType(part(node, 1)) }
    case 'module_declaration':
      return { kind: 'module', at, name, decorators, path: fixedText(part(node, 1)), ...readBody(part(node, 2), file) }
    case 'resource_declaration':
      return readResource(node, file, decoratorsNode)
    default:
      throw new Error(`${file}:${at.line}: the checker does not know ${node.type}`)
  }
}

/** Reads a type expression. An optional member, written with `?`, is a choice with null. */
function readType(node: Node): TypeExpression {
  switch (node.type) {
    case 'type':
    case 'parenthesized_type':
    case 'parenthesized_expression':
      return readType(part(node, 0))
    case 'primitive_type':
    case 'identifier':
      return { kind: 'named', name: node.text }
    case 'string':
      return { kind: 'literal', value: fixedText(node) }
    case 'number':
      return { kind: 'literal', value: Number(node.text) }
    case 'boolean':
      return { kind: 'literal', value: node.text === 'true' }
    case 'null':
      return { kind: 'literal', value: null }
    case 'array_type':
      return { kind: 'array', item: readType(part(node, 0)) }
    case 'nullable_type':
      return { kind: 'union', options: [readType(part(node, 0)), { kind: 'literal', value: null }] }
    case 'union_type':
      return { kind: 'union', options: partsOf(node).map(readType) }
    case 'binary_expression':
      return { kind: 'union', options: [readType(part(node, 'left')), readType(part(node, 'right'))] }
    case 'object':
      return { kind: 'object', properties: partsOf(node).flatMap(readTypeProperty) }
    default:
      return { kind: 'other' }
  }
}

function readTypeProperty(node: Node): { name: string; type: TypeExpression }[] {
  if (node.type !== 'object_property') return []
  const name = part(node, 0)
  return [{ name: name.type === 'string' ? fixedText(name) : name.text, type: readType(part(node, 1)) }]
}
