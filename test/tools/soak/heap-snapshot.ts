import { readFile } from 'node:fs/promises'

/** A snapshot as V8 writes it: each node is a run of numbers, one for each field. */
type HeapSnapshot = {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly [readonly string[]] }
  }
  readonly nodes: readonly number[]
}

/** What V8 keeps of functions: it compiles each when it has run often enough, some after hours. */
const TYPES_OF_CODE = ['code', 'object shape']
/** Memory outside the heap, and roots. */
const TYPES_OUTSIDE = ['native', 'synthetic']

/**
 * Returns the bytes of the objects in a heap snapshot, without compiled code, its type feedback and hidden classes. These
 * lie in the same spaces as objects, so that the statistics of the heap do not tell them apart.
 * @param file As `v8.writeHeapSnapshot` writes it.
 */
export async function objectBytesIn(file: string): Promise<number> {
  const { snapshot, nodes }: HeapSnapshot = JSON.parse(await readFile(file, 'utf8'))
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')]
  const isCounted = types[0].map((name) => ![...TYPES_OF_CODE, ...TYPES_OUTSIDE].includes(name))
  let bytes = 0
  for (let node = 0; node < nodes.length; node += fields.length) {
    if (isCounted[nodes[node + type] as number]) bytes += nodes[node + size] as number
  }
  return bytes
}
