import { fileURLToPath } from 'node:url'
import { Language, type Node, Parser } from 'web-tree-sitter'
import type { Fault } from './fault.ts'
import { locationOf } from './nodes.ts'
import { readDeclarations } from './read-declarations.ts'
import type { Template } from './syntax.ts'

export type Parsed = { readonly template: Template | undefined; readonly faults: readonly Fault[] }

await Parser.init()
const grammar = fileURLToPath(import.meta.resolve('tree-sitter-bicep/tree-sitter-bicep.wasm'))
const parser = new Parser().setLanguage(await Language.load(grammar))

/** Reads a template. A file with syntax errors has faults and no template. */
export function parseTemplate(file: string, text: string): Parsed {
  const tree = parser.parse(text)
  if (!tree) throw new Error(`${file} was not parsed`)
  try {
    const faults = [...syntaxFaults(tree.rootNode, file)]
    if (faults.length > 0) return { template: undefined, faults: faults.slice(0, 3) }
    return { template: { file, text, declarations: readDeclarations(tree.rootNode, file) }, faults }
  } finally {
    tree.delete()
  }
}

/** What the parser could not make sense of, and what it lets pass although Bicep's own compiler does not. */
function* syntaxFaults(node: Node, file: string): Generator<Fault> {
  const at = locationOf(node, file)
  if (node.isMissing) yield { ...at, message: `${node.type} is missing` }
  if (node.isError) {
    yield { ...at, message: `syntax error at "${node.text.split('\n')[0]?.slice(0, 60) ?? ''}"` }
    return
  }
  const broken = lineFault(node)
  if (broken !== undefined) yield { ...at, message: broken }
  for (const child of node.children) if (child) yield* syntaxFaults(child, file)
}

/** To the grammar a line's end is a space; to Bicep it ends a statement, an operand and an item. */
function lineFault(node: Node): string | undefined {
  const children = node.children.filter((child) => child !== null).filter((child) => !child.type.endsWith('comment'))
  switch (node.type) {
    case 'infrastructure':
      return separationFault(children, [])
    case 'decorators':
      return undefined
    case 'object':
    case 'array':
      return separationFault(children.slice(1, -1), [',', 'decorators'])
    case 'binary_expression':
    case 'member_expression': {
      const [first, ...rest] = children
      const isOneLine = first && rest.every((child) => startsOnLineOf(child, first) || child === rest.at(-1))
      const last = rest.at(-1)
      const before = rest.at(-2) ?? first
      return isOneLine && last && before && startsOnLineOf(last, before)
        ? undefined
        : 'an operator and its operands have to stand on one line'
    }
    case 'string':
      return !node.text.startsWith("'''") && hasLineBreak(node) ? 'a string has to end on its line' : undefined
    default:
      return undefined
  }
}

const startsOnLineOf = (node: Node, before: Node): boolean => node.startPosition.row === before.endPosition.row

/** An interpolation may hold anything; the text around it may not go over a line's end. */
const hasLineBreak = (node: Node): boolean =>
  node.namedChildren.some((child) => child.type === 'string_content' && child.text.includes('\n'))

function separationFault(nodes: readonly Node[], separators: readonly string[]): string | undefined {
  for (const [index, node] of nodes.entries()) {
    const before = nodes[index - 1]
    if (!before || separators.includes(before.type) || separators.includes(node.type)) continue
    if (startsOnLineOf(node, before)) return `two things on one line: "${node.text.split('\n')[0]?.slice(0, 60)}"`
  }
  return undefined
}
