import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { batchedDocumentReads, readCurrentDocuments } from '../../shared/cosmos/batched-reads.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { queryAll } from '../../shared/cosmos/documents.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'
import { inProcess, localAccount, operationsDuring } from './local-database.ts'

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

  it('look for a document that is missing once more, with all writes of all instances', async () => {
    const { cosmos, newInstance } = await databaseOfInstances()
    const [one, other] = [newInstance().container('links'), newInstance().container('links')]
    const [tenantId, id] = [randomUUID(), randomUUID()]
    const read = batchedDocumentReads<Note>(other)
    assert.equal(await read(tenantId, id), undefined)
    cosmos.setReplicaLag(STOPPED)
    await one.items.create({ id, tenantId, text: 'A note', directoryGroupId: randomUUID() })
    assert.equal((await read(tenantId, id))?.text, 'A note')
  })

  for (const [lostCount, outcome] of [
    [2, 'A note'],
    [3, 'Batch request error: socket hang up'],
  ] as const) {
    it(`are sent again after a lost connection, three times at most: ${lostCount} are lost`, async () => {
      const { tenantId, notes } = await tenantOf(1, 'A note')
      const { endpoint, httpClient } = inProcess(cosmos)
      let sentCount = 0
      const sendRequest: typeof httpClient.sendRequest = (request) => {
        if (!request.headers.has('x-ms-cosmos-is-batch-request')) return httpClient.sendRequest(request)
        sentCount += 1
        const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
        return sentCount > lostCount ? httpClient.sendRequest(request) : Promise.reject(lost)
      }
      const flaky = openDatabase({ endpoint, httpClient: { sendRequest } })('links')
      const id = notes[0]?.id ?? ''
      const read = readCurrentDocuments<Note>(flaky, tenantId, [id]).then(
        (found) => found.get(id)?.text,
        ({ message }) => message,
      )
      assert.equal(await read, outcome)
      assert.equal(sentCount, 3)
    })
  }

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

  it('across partitions have a query plan, for the case that one request does not suffice', async () => {
    const operations = await operationsDuring({ cosmos }, () => links.items.query(all).fetchAll())
    assert.equal(operations.queryPlan, 1)
  })
})
