import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, isScalar, isSeq, type Node, type Pair, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { isObject } from './references.ts'

/** Gives a document a new value. What is equal keeps its comments, order and style; aliases become values. */
export function updateDocument(document: Document, value: JsonObject): void {
  if (document.contents !== null && isDeepStrictEqual(jsonOf(document, document.contents as Node), value)) return
  // What an alias refers to may change, move or go.
  visit(document, { Alias: (_key, alias) => document.createNode(jsonOf(document, alias)) as Node })
  document.contents = merged(document, document.contents as Node | null, value) as typeof document.contents
}

function merged(document: Document, node: Node | null, value: Json): Node {
  if (node !== null && isDeepStrictEqual(jsonOf(document, node), value)) return node
  if (isMap(node) && isObject(value)) return mergedMap(document, node, value)
  if (isSeq(node) && Array.isArray(value)) return mergedList(document, node, value)
  const created = document.createNode(value) as Node
  if (!isScalar(node) || !isScalar(created)) return created
  if (node.comment) created.comment = node.comment
  if (node.commentBefore) created.commentBefore = node.commentBefore
  return created
}

const jsonOf = (document: Document, node: Node): Json => node.toJS(document) as Json

function mergedMap(document: Document, map: YAMLMap, value: JsonObject): Node {
  const nameOf = ({ key }: Pair) => String(isScalar(key) ? key.value : key)
  map.items = map.items.filter((pair) => Object.hasOwn(value, nameOf(pair)))
  for (const pair of map.items) {
    const node = pair.value as Node | null
    pair.value = merged(document, node, value[nameOf(pair)] ?? null)
  }
  const present = new Set(map.items.map(nameOf))
  for (const [name, member] of Object.entries(value)) {
    if (!present.has(name)) map.items.push(document.createPair(name, member) as Pair)
  }
  return map
}

/** Items that stay keep their node wherever they are now; the others follow the item at their place. */
function mergedList(document: Document, list: YAMLSeq, value: readonly Json[]): Node {
  const nodes = [...list.items] as Node[]
  const kept = value.map((item) => {
    const index = nodes.findIndex((node) => node !== undefined && isDeepStrictEqual(jsonOf(document, node), item))
    if (index < 0) return undefined
    const [node] = nodes.splice(index, 1, undefined as unknown as Node)
    return node
  })
  list.items = value.map((item, index) => kept[index] ?? merged(document, nodes[index] ?? null, item))
  return list
}
