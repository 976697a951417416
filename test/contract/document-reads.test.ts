import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Container } from '@azure/cosmos'
import { batchedDocumentReads, readDocuments } from '../../shared/cosmos/batched-reads.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { countDocuments, queryAll } from '../../shared/cosmos/documents.ts'
import { inProcess, localAccount, operationsDuring } from '../support/contract/local-database.ts'

type Note = { readonly id: string; readonly tenantId: string; readonly text: string }

const { cosmos, container } = await localAccount()
const links = container('links')

/** A tenant with this number of documents, numbered unless all have the same text. */
async function tenantOf(count: number, text?: string) {
  const tenantId = randomUUID()
  const notes = Array.from({ length: count }, (_, index): Note & { directoryGroupId: string } => ({
    id: randomUUID(),
    tenantId,
    text: text ?? `Note ${index}`,
    directoryGroupId: randomUUID(),
  }))
  for (const note of notes) await links.items.create(note)
  return { tenantId, notes }
}

describe('batched document reads', () => {
  it('use a point read for one document', async () => {
    const { tenantId, notes } = await tenantOf(1)
    const read = batchedDocumentReads<Note>(links)
    const operations = await operationsDuring({ cosmos }, async () => {
      assert.equal((await read(tenantId, notes[0]?.id ?? ''))?.text, 'Note 0')
    })
    assert.deepEqual(operations, { read: 1 })
  })

  it('use point reads, which are sent again, when the connection of a request for several is lost', async () => {
    const { tenantId, notes } = await tenantOf(2, 'A note')
    const { endpoint, httpClient } = inProcess(cosmos)
    const sendRequest: typeof httpClient.sendRequest = (request) => {
      if (!request.headers.has('x-ms-cosmos-is-batch-request')) return httpClient.sendRequest(request)
      return Promise.reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    }
    const flaky = openDatabase({ endpoint, httpClient: { sendRequest } })('links')
    const ids = notes.map(({ id }) => id)
    assert.deepEqual([...(await readDocuments<Note>(flaky, tenantId, ids)).keys()], ids)
  })

  it('read fifty documents at once with two requests, each with its version', async () => {
    const { tenantId, notes } = await tenantOf(50)
    const read = batchedDocumentReads<Note>(links)
    const operations = await operationsDuring({ cosmos }, async () => {
      const found = await Promise.all(notes.map(({ id }) => read(tenantId, id)))
      assert.deepEqual(
        found.map((note) => note?.text),
        notes.map(({ text }) => text),
      )
      const alone = await links.item(notes[7]?.id ?? '', tenantId).read<Note>()
      assert.equal(found[7]?._etag, alone.resource?._etag)
    })
    assert.deepEqual(operations, { read: 2, batch: 1 })
  })

  it('return the other documents when one is missing', async () => {
    const { tenantId, notes } = await tenantOf(3)
    const read = batchedDocumentReads<Note>(links)
    const ids = [...notes.map(({ id }) => id), randomUUID()]
    const found = await Promise.all(ids.map((id) => read(tenantId, id)))
    assert.deepEqual(
      found.map((note) => note?.text),
      ['Note 0', 'Note 1', 'Note 2', undefined],
    )
  })

  it('return documents that are together too large for one response', async () => {
    const { tenantId, notes } = await tenantOf(4, 'x'.repeat(1_500_000))
    const read = batchedDocumentReads<Note>(links)
    const found = await Promise.all(notes.map(({ id }) => read(tenantId, id)))
    assert.ok(found.every((note) => note?.text.length === 1_500_000))
  })

  it('use point reads when the database refuses a request for several because its response is too large', async () => {
    const { tenantId, notes } = await tenantOf(2)
    const batch = () => Promise.reject(Object.assign(new Error('The response is too large'), { code: 413 }))
    const refusing = new Proxy(links, {
      get: (target, name) => (name === 'items' ? { batch } : Reflect.get(target, name)),
    })
    const ids = notes.map(({ id }) => id)
    assert.deepEqual([...(await readDocuments<Note>(refusing, tenantId, ids)).keys()].sort(), ids.sort())
  })

  it('never return a document of another partition', async () => {
    const mine = await tenantOf(2)
    const theirs = await tenantOf(2)
    const read = batchedDocumentReads<Note>(links)
    const ids = [...mine.notes, ...theirs.notes].map(({ id }) => id)
    const found = await Promise.all(ids.map((id) => read(mine.tenantId, id)))
    assert.deepEqual(
      found.map((note) => note?.tenantId),
      [mine.tenantId, mine.tenantId, undefined, undefined],
    )
  })

  it('are retried when the database throttles them', async () => {
    const { tenantId, notes } = await tenantOf(3)
    const read = batchedDocumentReads<Note>(links)
    const lift = cosmos.throttleNext({ count: 2, operation: 'batch' })
    const found = await Promise.all(notes.map(({ id }) => read(tenantId, id)))
    lift()
    assert.equal(found.filter((note) => note !== undefined).length, 3)
  })
})

describe('queries', () => {
  const all = 'SELECT * FROM c'

  it('in one partition take one request for each page, and none for a query plan', async () => {
    const { tenantId } = await tenantOf(3)
    const options = { maxItemCount: 2 }
    const operations = await operationsDuring({ cosmos }, async () => {
      assert.equal((await queryAll(links, tenantId, { query: all }, options)).length, 3)
    })
    assert.deepEqual(operations, { query: 2 })
  })

  it('in one partition fail as ever when the database refuses them', async () => {
    await assert.rejects(queryAll(links, randomUUID(), { query: 'SELECT * FROM c GROUP BY c.id' }), { code: 400 })
  })

  it('that count add up the counts of all pages', async () => {
    const pages = [[0], [70_000], [50_000]]
    const query = () => ({
      hasMoreResults: () => pages.length > 0,
      fetchNext: async () => ({ resources: pages.shift() }),
    })
    assert.equal(await countDocuments({ items: { query } } as unknown as Container, randomUUID()), 120_000)
  })

  it('across partitions have a query plan, for the case that one request does not suffice', async () => {
    const operations = await operationsDuring({ cosmos }, () => links.items.query(all).fetchAll())
    assert.equal(operations.queryPlan, 1)
  })
})
