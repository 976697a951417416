import type { Node } from 'web-tree-sitter'
import type { Location } from './syntax.ts'

/** Comments stand anywhere in the tree: what counts is the rest. */
export const partsOf = (node: Node): Node[] => node.namedChildren.filter((child) => !child.type.endsWith('comment'))

export const locationOf = (node: Node, file: string): Location => ({ file, line: node.startPosition.row + 1 })

/** The field or the part of a node that its grammar promises. @throws when it is missing: the file did not parse. */
export function part(node: Node, which: string | number): Node {
  const found = typeof which === 'string' ? node.childForFieldName(which) : partsOf(node).at(which)
  if (!found) throw new Error(`${node.type} without ${which}: ${node.text.slice(0, 80)}`)
  return found
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/** A string's parts in order: fixed text, unescaped, and the nodes of what is interpolated. */
export function stringParts(node: Node): (string | Node)[] {
  const parts: (string | Node)[] = []
  const quote = node.text.startsWith("'''") ? "'''" : "'"
  let from = quote.length
  // White space between two parts belongs to no node, so the text is cut from between the interpolations.
  for (const child of node.namedChildren.filter((each) => each.type === 'interpolation')) {
    parts.push(unescaped(node.text.slice(from, child.startIndex - node.startIndex)), part(child, 0))
    from = child.endIndex - node.startIndex
  }
  const rest = node.text.slice(from, node.endIndex - node.startIndex - quote.length)
  parts.push(quote === "'" ? unescaped(rest) : rest.replace(/^\r?\n/, ''))
  return parts.filter((each) => each !== '')
}

/** The text of a string's node that has no interpolation, else its source. */
export const fixedText = (node: Node): string =>
  stringParts(node).every((each) => typeof each === 'string') ? stringParts(node).join('') : node.text

const unescaped = (text: string): string =>
  text.replace(/\\u\{([0-9a-fA-F]+)\}|\\(.)/g, (_, code?: string, letter = '') =>
    code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCodePoint(Number.parseInt(code, 16)),
  )
