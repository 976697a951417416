import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { writeHeapSnapshot } from 'node:v8'
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

  it('count without code, hidden classes and memory outside the heap', () =>
    inFolder(async (file) => {
      const meta = {
        node_fields: ['type', 'name', 'self_size'],
        node_types: [['object', 'code', 'object shape', 'native', 'synthetic', 'string'], 'string', 'number'],
      }
      const nodes = [0, 0, 1, 1, 0, 20, 2, 0, 300, 3, 0, 4000, 4, 0, 50_000, 5, 0, 600_000, 0, 0, 7_000_000]
      await writeFile(file, JSON.stringify({ snapshot: { meta }, nodes }))
      assert.equal(await objectBytesIn(file), 7_600_001)
    }))

  it('grow by what this process keeps', () =>
    inFolder(async (file) => {
      await objectBytesIn(writeHeapSnapshot(file))
      const before = await objectBytesIn(writeHeapSnapshot(file))
      const kept = Array.from({ length: 100_000 }, (_, index) => ({ index }))
      const grownBytes = (await objectBytesIn(writeHeapSnapshot(file))) - before
      assert.ok(grownBytes > 20 * kept.length && grownBytes < 60 * kept.length, `${grownBytes} bytes`)
    }))
})
