import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameOf } from '../../infra/import/connector-space.ts'
import type { FileEntry } from '../../infra/import/import-file.ts'
import { digestOfData, planImport } from '../../infra/import/plan-import.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'

const object = (objectType: ObjectType, externalId: string) => ({ objectType, externalId })

describe('The plan of an import', () => {
  it('writes objects after those that they refer to, and deletes them before', async () => {
    const data = { displayName: 'New' }
    const position = { identity: { externalId: 'new' }, orgUnit: { externalId: 'new' } }
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('relationship', 'new'), data: position }
      yield { file: 'all', line: 2, ...object('identity', 'new'), data }
      yield { file: 'all', line: 3, ...object('orgUnit', 'new'), data }
    }
    const former = [object('orgUnit', 'old'), object('relationship', 'old'), object('identity', 'old')]
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '' }]))
    const { items, invalidLines } = await planImport(entries(), present, true)
    assert.deepEqual(invalidLines, [])
    assert.deepEqual(
      items.map(({ item }) => `${item.op} ${item.objectType}`),
      [
        'upsert orgUnit',
        'upsert identity',
        'upsert relationship',
        'delete relationship',
        'delete identity',
        'delete orgUnit',
      ],
    )
  })

  it('renames an object of the former name, which is not missing, and sends one of both names as it is', async () => {
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'new'), previousExternalId: 'old', data: {} }
      yield { file: 'all', line: 2, ...object('identity', 'first'), previousExternalId: 'unknown', data: {} }
      yield { file: 'all', line: 3, ...object('identity', 'same'), previousExternalId: 'gone', data: {} }
    }
    const former = [object('identity', 'old'), object('identity', 'same'), object('identity', 'gone')]
    const digest = digestOfData({})
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest }]))
    const { items, counts } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, externalId, previousExternalId } }) => [op, externalId, previousExternalId]),
      [
        ['upsert', 'new', 'old'],
        ['upsert', 'first', 'unknown'],
        ['delete', 'gone', undefined],
      ],
    )
    assert.deepEqual([counts.created, counts.updated, counts.unchanged, counts.deleted], [1, 1, 1, 1])
  })

  it('keeps the object of a line whose data are invalid, and deletes nothing while a line has no name', async () => {
    const former = [object('identity', 'kept'), object('identity', 'gone')]
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '' }]))
    const line = { file: 'all', line: 1 }
    async function* invalid(): AsyncGenerator<FileEntry> {
      yield { ...line, ...object('identity', 'kept'), data: { displayName: 7 } }
    }
    const { items, invalidLines } = await planImport(invalid(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, externalId } }) => [op, externalId]),
      [['delete', 'gone']],
    )
    assert.equal(invalidLines.length, 1)
    async function* unnamed(): AsyncGenerator<FileEntry> {
      yield* invalid()
      yield { ...line, reason: 'externalId is required' }
    }
    const withheld = await planImport(unnamed(), present, true)
    assert.deepEqual([withheld.items, withheld.withholdsDeletions], [[], true])
  })
})
