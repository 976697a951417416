import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { type VersionedWrite, writeVersioned } from '../../shared/cosmos/versioned-writes.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'

/** Documents of one transaction, and of all that are sent at once. */
const [TRANSACTION_COUNT, DOCUMENTS_COUNT] = [100, 400]

const { cosmos, container } = await startDirectAccount()
cosmos.unref()

it('Writes of many documents begin their transactions in different rounds of the event loop', async () => {
  const counts: number[] = []
  let isOver = false
  const countRounds = () => {
    counts.push(0)
    if (!isOver) setImmediate(countRounds)
  }
  countRounds()
  function* writes(): Generator<VersionedWrite> {
    for (let index = 0; index < DOCUMENTS_COUNT; index += 1) {
      counts.push((counts.pop() ?? 0) + 1)
      yield { document: { id: String(index), tenantId: 'tenant', directoryGroupId: randomUUID() }, version: undefined }
    }
  }
  const conflicts = await writeVersioned(container('links'), 'tenant', writes())
  isOver = true
  assert.equal(conflicts.size, 0)
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    DOCUMENTS_COUNT,
  )
  // The next transaction of one lane can meet the first one of another.
  assert.ok(Math.max(...counts) <= 2 * TRANSACTION_COUNT + 1, counts.join(', '))
})

it('Writes of a transaction with a conflict all count as not written, and those of others as written', async () => {
  const write = (id: string) => ({ document: { id, tenantId: 'tenant', directoryGroupId: id }, version: undefined })
  assert.equal((await writeVersioned(container('links'), 'tenant', [write('present')])).size, 0)
  const others = Array.from({ length: TRANSACTION_COUNT }, (_, index) => write(`other ${index}`))
  const writes = [write('first'), write('present'), write('last')]
  const conflicts = await writeVersioned(container('links'), 'tenant', [...others, ...writes])
  assert.deepEqual(conflicts, new Set(['first', 'present', 'last']))
})

it('Writes fail when the database refuses one of them for another reason than a conflict', async () => {
  const document = { id: randomUUID(), tenantId: 'another tenant', directoryGroupId: randomUUID() }
  const written = writeVersioned(container('links'), 'tenant', [{ document, version: undefined }])
  await assert.rejects(written, /Operation 0 of a transaction failed: 400/)
})

it('Writes with companions of companions begin no transaction that is too large', async () => {
  const write = (companion?: VersionedWrite): VersionedWrite => ({
    document: { id: randomUUID(), tenantId: 'tenant', directoryGroupId: randomUUID() },
    version: undefined,
    ...(companion && { companion }),
  })
  const writes = Array.from({ length: 50 }, () => write(write(write())))
  assert.equal((await writeVersioned(container('links'), 'tenant', writes)).size, 0)
})
