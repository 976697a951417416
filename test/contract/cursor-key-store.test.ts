import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { storedCursorKeys } from '../../shared/cosmos/tenants/cursor-key-store.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenants/tenant-store.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const container = await localDatabase()
const tenants = container('tenants')
const makeKey = () => randomBytes(32).toString('base64')
const START_MS = Date.parse('2030-01-01T00:00:00Z')

describe('cursor keys in the database', () => {
  it('are created once by concurrent instances', async () => {
    const instances = Array.from({ length: 10 }, () => storedCursorKeys(tenants, makeKey, () => START_MS))
    const all = await Promise.all(instances.map((keys) => keys()))
    const [first = []] = all
    assert.equal(first.length, 1)
    assert.equal(Buffer.from(first[0] ?? '', 'base64').byteLength, 32)
    for (const keys of all) assert.deepEqual(keys, first)
  })

  it('survive a restart, and a change applies after ten minutes', async () => {
    let nowMs = START_MS
    const keys = storedCursorKeys(tenants, makeKey, () => nowMs)
    const [old = ''] = await keys()
    const changed = [makeKey(), old]
    await tenants.items.upsert({ id: 'cursor-keys', tenantId: 'application', keys: changed })
    nowMs += 9 * 60_000
    assert.deepEqual(await keys(), [old])
    nowMs += 60_000
    assert.deepEqual(await keys(), changed)
  })

  it('are read again after a failure', async () => {
    let isAway = true
    const away = new Proxy(tenants, {
      get(target, name) {
        if (name === 'item' && isAway) throw new Error('The database is away')
        return Reflect.get(target, name)
      },
    })
    const keys = storedCursorKeys(away, makeKey, () => START_MS)
    await assert.rejects(keys(), /The database is away/)
    isAway = false
    assert.equal((await keys()).length, 2)
  })

  it('are not listed as a tenant by the sweep', async () => {
    const listed: string[] = []
    for await (const page of cosmosTenantStore(tenants).list(undefined)) {
      listed.push(...page.map(({ tenantId }) => tenantId))
    }
    assert.deepEqual(listed, [])
  })
})
