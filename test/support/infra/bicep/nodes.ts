import type { Node } from 'web-tree-sitter'

/** A place in a file. The path is relative to the project folder; the first line is 1. */
export type Location = { readonly file: string; readonly line: number }

/** The named children of a node without comments, which can be anywhere in the tree. */
export const partsOf = (node: Node): Node[] => node.namedChildren.filter((child) => !child.type.endsWith('comment'))

export const locationOf = (node: Node, file: string): Location => ({ file, line: node.startPosition.row + 1 })

/** A field or child of a node that the grammar guarantees. @throws Error when it is missing */
export function part(node: Node, which: string | number): Node {
  const found = typeof which === 'string' ? node.childForFieldName(which) : partsOf(node).at(which)
  if (!found) throw new Error(`${node.type} without ${which}: ${node.text.slice(0, 80)}`)
  return found
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/** The parts of a string in order: unescaped text, and the nodes of interpolations. */
export function stringParts(node: Node): (string | Node)[] {
  const parts: (string | Node)[] = []
  const quote = node.text.startsWith("'''") ? "'''" : "'"
  let from = quote.length
  // White space between two parts belongs to no node, so the text between the interpolations is taken from the source.
  for (const child of node.namedChildren.filter(({ type }) => type === 'interpolation')) {
    parts.push(unescaped(node.text.slice(from, child.startIndex - node.startIndex)), part(child, 0))
    from = child.endIndex - node.startIndex
  }
  const rest = node.text.slice(from, node.endIndex - node.startIndex - quote.length)
  parts.push(quote === "'" ? unescaped(rest) : rest.replace(/^\r?\n/, ''))
  return parts.filter((piece) => piece !== '')
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, letter) => ESCAPES[letter] ?? letter)
