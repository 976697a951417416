import assert from 'node:assert/strict'
import { it } from 'node:test'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { SnapshotReaders } from '../../../shared/domain/tenant-index/snapshot-readers.ts'

it('Rows are read until the last of several readers has ended, also when one fails', async () => {
  const readers = new SnapshotReaders()
  const rows = new RowSnapshot()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const firstRun = readers.run(rows, () => first.promise)
  const secondRun = readers.run(rows, () => second.promise)
  assert.deepEqual([readers.isRead(rows), readers.isRead(new RowSnapshot())], [true, false])
  first.reject(new Error('The first reader has failed'))
  await assert.rejects(firstRun)
  assert.equal(readers.isRead(rows), true)
  second.resolve()
  await secondRun
  assert.equal(readers.isRead(rows), false)
})
