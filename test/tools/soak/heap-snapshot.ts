import { readFile } from 'node:fs/promises'

/** A snapshot as V8 writes it: each node and each edge is a run of numbers, one for each field. */
type HeapSnapshot = {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[]
      readonly node_types: readonly [readonly string[], ...unknown[]]
      readonly edge_fields: readonly string[]
    }
  }
  readonly nodes: readonly number[]
  /** Those of the first node, then those of the second, and so on. */
  readonly edges: readonly number[]
  readonly strings: readonly string[]
}

/**
 * What V8 keeps of functions: it compiles each when it has run often enough, some after hours, and lists with each hidden
 * class the code that depends on it.
 */
const TYPES_OF_CODE = ['code', 'object shape']
/** Memory outside the heap, and roots. */
const TYPES_OUTSIDE = ['native', 'synthetic']
/** How lru-cache names its class. The size of such a cache is bounded; it is reached after hours or never. */
const CACHE_CLASS = 'LRUCache'
const CLASS_EDGE = '<symbol Symbol.toStringTag>'

/**
 * Returns the bytes of the objects in a heap snapshot that can become more without a bound: those that the process
 * reaches other than through compiled code, hidden classes and caches of a bounded size.
 * @param file As `v8.writeHeapSnapshot` writes it.
 */
export async function objectBytesIn(file: string): Promise<number> {
  const { typeOf, bytesOf, targetsOf, isCache } = graphOf(JSON.parse(await readFile(file, 'utf8')))
  const reached = new Set([0])
  let bytes = 0
  // A set visits what is added during the loop as well.
  for (const node of reached) {
    if (!TYPES_OUTSIDE.includes(typeOf(node))) bytes += bytesOf(node)
    for (const target of targetsOf(node)) {
      if (!TYPES_OF_CODE.includes(typeOf(target)) && !isCache(target)) reached.add(target)
    }
  }
  return bytes
}

/** The graph of a snapshot. A node is the place of its first field, 0 for the root. */
function graphOf({ snapshot: { meta }, nodes, edges, strings }: HeapSnapshot) {
  const [nodeWidth, edgeWidth] = [meta.node_fields.length, meta.edge_fields.length]
  const nodeField = (field: string) => {
    const place = meta.node_fields.indexOf(field)
    return (node: number) => nodes[node + place] as number
  }
  const edgeField = (field: string) => {
    const place = meta.edge_fields.indexOf(field)
    return (edge: number) => edges[edge + place] as number
  }
  const [type, bytesOf, edgeCountOf] = [nodeField('type'), nodeField('self_size'), nodeField('edge_count')]
  const targetOf = edgeField('to_node')
  const typeOf = (node: number) => meta.node_types[0][type(node)] as string

  const firstEdges: number[] = []
  for (let node = 0, edge = 0; node < nodes.length; node += nodeWidth) {
    firstEdges.push(edge)
    edge += edgeCountOf(node) * edgeWidth
  }
  const edgesOf = (node: number) => {
    const first = firstEdges[node / nodeWidth] as number
    return Array.from({ length: edgeCountOf(node) }, (_, index) => first + index * edgeWidth)
  }

  const [edgeName, nodeName] = [edgeField('name_or_index'), nodeField('name')]
  const [classEdge, cacheClass] = [strings.indexOf(CLASS_EDGE), strings.indexOf(CACHE_CLASS)]
  const isCache = (node: number) =>
    typeOf(node) === 'object' &&
    edgesOf(node).some((edge) => edgeName(edge) === classEdge && nodeName(targetOf(edge)) === cacheClass)
  return { typeOf, bytesOf, isCache, targetsOf: (node: number) => edgesOf(node).map(targetOf) }
}
