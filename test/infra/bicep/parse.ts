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

/** Parses a template. A file with syntax errors has faults and no template. */
export function parseTemplate(file: string, text: string): Parsed {
  const tree = parser.parse(text)
  if (!tree) throw new Error(`${file} was not parsed`)
  try {
    const faults = syntaxFaults(tree.rootNode, file)
    if (faults.length > 0) return { template: undefined, faults: faults.slice(0, 3) }
    return { template: { file, text, declarations: readDeclarations(tree.rootNode, file) }, faults }
  } finally {
    tree.delete()
  }
}

/** Nodes for whose parts Bicep's line breaks matter. */
const LINE_BOUND = ['infrastructure', 'object', 'array', 'binary_expression', 'member_expression', 'string']

/** The syntax errors of the parser; without any, what the parser accepts and the Bicep compiler rejects. */
function syntaxFaults(root: Node, file: string): Fault[] {
  if (root.hasError) return [...parserFaults(root, file)]
  return root.descendantsOfType(LINE_BOUND).flatMap((node) => {
    const message = lineFault(node)
    return message === undefined ? [] : [{ ...locationOf(node, file), message }]
  })
}

function* parserFaults(node: Node, file: string): Generator<Fault> {
  const at = locationOf(node, file)
  if (node.isMissing) yield { ...at, message: `${node.type} is missing` }
  if (node.isError) yield { ...at, message: `syntax error at "${node.text.split('\n')[0]?.slice(0, 60) ?? ''}"` }
  else for (const child of node.children) yield* parserFaults(child, file)
}

/** The grammar treats a line break as a space. In Bicep it ends a statement, an operand and an item. */
function lineFault(node: Node): string | undefined {
  const children = node.children.filter((child) => !child.type.endsWith('comment'))
  switch (node.type) {
    case 'infrastructure':
      return separationFault(children, [])
    case 'object':
    case 'array':
      return separationFault(children.slice(1, -1), [',', 'decorators'])
    case 'binary_expression':
    case 'member_expression':
      return children.every((child, index) => startsOnLineOf(child, children[index - 1] ?? child))
        ? undefined
        : 'an operator and its operands must be on one line'
    case 'string':
      return !node.text.startsWith("'''") && hasLineBreak(node)
        ? 'a string must end on the line where it starts'
        : undefined
    default:
      return undefined
  }
}

const startsOnLineOf = (node: Node, before: Node): boolean =>
  node === before || node.startPosition.row === before.endPosition.row

/** Whether the text outside interpolations contains a line break. Interpolations may contain line breaks. */
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
