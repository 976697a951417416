import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import type { IdempotencyRecord } from '../../shared/domain/idempotency/idempotency-record.ts'
import { localAccount } from '../support/contract/local-database.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let nowMs = Date.parse('2030-01-01T00:00:00Z')
const { container } = await localAccount(() => nowMs)
const keys = cosmosIdempotencyStore(container('idempotencyKeys'))

const newRecord = (change: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  tenantId: randomUUID(),
  callerId: randomUUID(),
  key: '#1: "a/b\\c?"',
  fingerprint: 'fingerprint',
  seed: 'seed',
  inProgressUntilMs: 1,
  result: null,
  ...change,
})

describe('the store of idempotency keys', () => {
  it('finds what was added, whatever the key is made of', async () => {
    const record = newRecord()
    const version = await keys.add(record)
    assert.deepEqual(await keys.find(record), { value: record, version })
  })

  it('keeps a key to its caller and tenant', async () => {
    const record = newRecord()
    await keys.add(record)
    assert.equal(await keys.find({ ...record, callerId: randomUUID() }), undefined)
    assert.equal(await keys.find({ ...record, tenantId: randomUUID() }), undefined)
  })

  it('lets one of many adds of a key win', async () => {
    const record = newRecord()
    const versions = await Promise.all(Array.from({ length: 20 }, () => keys.add(record)))
    assert.equal(versions.filter((version) => version !== undefined).length, 1)
  })

  it('replaces and removes the current version only', async () => {
    const record = newRecord()
    const first = (await keys.add(record)) ?? ''
    const second = (await keys.replace({ ...record, result: '{}' }, first)) ?? ''
    assert.equal(await keys.replace(record, first), undefined)
    assert.equal(await keys.remove(record, first), false)
    assert.equal((await keys.find(record))?.value.result, '{}')
    assert.equal(await keys.remove(record, second), true)
    assert.equal(await keys.find(record), undefined)
    assert.equal(await keys.replace(record, second), undefined)
    assert.equal(await keys.remove(record, second), false)
  })

  it('forgets a key 24 hours after its last write', async () => {
    const record = newRecord()
    const version = (await keys.add(record)) ?? ''
    nowMs += DAY_MS - 1000
    await keys.replace(record, version)
    nowMs += DAY_MS - 1000
    assert.notEqual(await keys.find(record), undefined)
    nowMs += 1000
    assert.equal(await keys.find(record), undefined)
  })

  it('holds neither the key nor anything that was not handed to it', async () => {
    const record = newRecord({ key: 'secret of the caller' })
    await keys.add(record)
    const { resources } = await container('idempotencyKeys').items.readAll({ partitionKey: record.tenantId }).fetchAll()
    const own = Object.keys(resources[0] ?? {}).filter((name) => !name.startsWith('_'))
    const members = ['callerId', 'fingerprint', 'id', 'inProgressUntilMs', 'result', 'seed', 'tenantId', 'ttl']
    assert.deepEqual(own.sort(), members)
    assert.ok(!JSON.stringify(resources).includes(record.key))
  })
})
