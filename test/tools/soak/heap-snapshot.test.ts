import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { writeHeapSnapshot } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { objectBytesIn } from './heap-snapshot.ts'

describe('The objects in a heap snapshot', () => {
  const inFolder = async (use: (file: string) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), 'heap-snapshot-'))
    try {
      await use(join(folder, 'heap'))
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  it('count without memory outside the heap, and without what only code, hidden classes and caches lead to', () =>
    inFolder(async (file) => {
      const meta = {
        node_fields: ['type', 'name', 'self_size', 'edge_count'],
        node_types: [['object', 'code', 'object shape', 'native', 'synthetic', 'string'], 'string'],
        edge_fields: ['type', 'name_or_index', 'to_node'],
      }
      const strings = ['', '<symbol Symbol.toStringTag>', 'LRUCache', 'other']
      const [object, code, shape, native, root, string] = [0, 1, 2, 3, 4, 5]
      // The tag of a class is the last edge of a node.
      const rows: [type: number, name: number, bytes: number, targets: number[], tag?: number][] = [
        [root, 0, 1, [1, 2, 3, 4, 5, 7]],
        [object, 0, 10, [9]],
        [code, 0, 200, [8, 9]],
        [shape, 0, 200, [8]],
        [native, 0, 200, [10]],
        [object, 3, 200, [8, 9], 6],
        [string, 2, 1000, []],
        [object, 0, 4000, [6], 11],
        [object, 0, 200, []],
        [object, 0, 20_000, []],
        [object, 0, 100_000, []],
        [string, 3, 600_000, []],
      ]
      const edgesOf = rows.map(([, , , targets, tag]) => [
        ...targets.map((to) => [0, 0, to * 4]),
        ...(tag === undefined ? [] : [[0, 1, tag * 4]]),
      ])
      const nodes = rows.flatMap(([type, name, bytes], row) => [type, name, bytes, edgesOf[row]?.length])
      const edges = edgesOf.flat(2)
      await writeFile(file, JSON.stringify({ snapshot: { meta }, nodes, edges, strings }))
      assert.equal(await objectBytesIn(file), 725_010)
    }))

  it('grow by what this process keeps, and not by what a cache of a bounded size keeps', () =>
    inFolder(async (file) => {
      const objects = () => Array.from({ length: 100_000 }, (_, index) => ({ index }))
      const grownBytes = async (kept: (objects: object[]) => void) => {
        await objectBytesIn(writeHeapSnapshot(file))
        const before = await objectBytesIn(writeHeapSnapshot(file))
        kept(objects())
        return (await objectBytesIn(writeHeapSnapshot(file))) - before
      }
      const lists: object[][] = []
      const cache = new LRUCache<string, object[]>({ max: 10 })
      const [listBytes, cacheBytes] = [
        await grownBytes((list) => lists.push(list)),
        await grownBytes((list) => cache.set('list', list)),
      ]
      assert.ok(listBytes > 2_000_000 && listBytes < 6_000_000, `${listBytes} bytes`)
      assert.ok(cacheBytes < 100_000 && cache.size === 1 && lists.length === 1, `${cacheBytes} bytes`)
    }))
})
