import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { IdentityChange } from '../../shared/domain/connectors/identity-change.ts'
import {
  application,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

async function hrAndDirectory() {
  const tenant = await newTenant(service)
  const [hr, directory] = [await tenant.addConnector('HR'), await tenant.addConnector('Directory')]
  const names = new Map<string | null, string>([
    [hr.id, 'HR'],
    [directory.id, 'Directory'],
  ])
  const entries = async (id: string, query = '') =>
    (await tenant.admin('GET', `${CORE}/identities/${id}/audit${query}`)).body.data as IdentityChange[]
  const changes = async (id: string) =>
    (await entries(id)).map(({ action, connectorId }) => `${action} ${names.get(connectorId)}`)
  return { tenant, hr, directory, entries, changes }
}

describe('The audit of an identity', () => {
  it('says which connectors made it, the newest change first', async () => {
    const { tenant, hr, directory, changes } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    const { id } = await tenant.byExternalId('identities', 'h1')
    await directory.batch(upsert('identity', 'd1', { nin: '1', directoryObjectId: randomUUID() }))
    const joined = ['AccountBound Directory', 'Merged Directory', 'Created HR']
    assert.deepEqual(await changes(id), joined)
    await directory.batch(upsert('identity', 'd1', { nin: '2', directoryObjectId: randomUUID() }))
    const split = ['AccountReleased Directory', 'Split Directory', ...joined]
    assert.deepEqual(await changes(id), split)
    const other = await tenant.byExternalId('identities', 'd1')
    assert.deepEqual(await changes(other.id), ['AccountBound Directory', 'Created Directory'])
    await hr.batch(upsert('identity', 'h1', { nin: '1', displayName: 'Kari' }))
    assert.deepEqual(await changes(id), split)
    await hr.batch(remove('identity', 'h1'))
    assert.deepEqual(await changes(id), ['Deleted HR', ...split])
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    assert.deepEqual(await changes(id), ['Restored HR', 'Deleted HR', ...split])
  })

  it('says that it was merged into another one', async () => {
    const { tenant, hr, directory, changes } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { displayName: 'Kari' }))
    await directory.batch(upsert('identity', 'd1', { nin: '1' }))
    const { id } = await tenant.byExternalId('identities', 'd1')
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    assert.deepEqual(await changes(id), ['Merged Directory', 'Created Directory'])
    assert.deepEqual(await changes((await tenant.byExternalId('identities', 'h1')).id), [
      'Merged Directory',
      'Created HR',
    ])
  })

  for (const [how, items] of [
    ['deleted first', [remove('identity', 'h1'), upsert('identity', 'h2', { nin: '1' })]],
    ['created first', [upsert('identity', 'h2', { nin: '1' }), remove('identity', 'h1')]],
    ['renamed', [{ ...upsert('identity', 'h2', { nin: '1' }), previousExternalId: 'h1' }]],
  ] as const) {
    for (const isJoined of [false, true]) {
      it(`says that it was re-keyed: ${how}${isJoined ? ', with another source' : ''}`, async () => {
        const { tenant, hr, directory, changes } = await hrAndDirectory()
        await hr.batch(upsert('identity', 'h1', { nin: '1' }))
        if (isJoined) await directory.batch(upsert('identity', 'd1', { nin: '1' }))
        const { id } = await tenant.byExternalId('identities', 'h1')
        const before = isJoined ? ['Merged Directory', 'Created HR'] : ['Created HR']
        assert.deepEqual(await changes(id), before)
        await hr.batch(...items)
        assert.equal((await tenant.byExternalId('identities', 'h2')).id, id)
        assert.deepEqual(await changes(id), ['Rekeyed HR', ...before])
        await hr.batch(upsert('identity', 'h2', { nin: '1', displayName: 'Kari' }))
        assert.deepEqual(await changes(id), ['Rekeyed HR', ...before])
      })
    }
  }

  it('says that it was re-keyed when the new external id comes later, after the deletion', async () => {
    const { tenant, hr, changes } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    const { id } = await tenant.byExternalId('identities', 'h1')
    await hr.batch(remove('identity', 'h1'))
    await hr.batch(upsert('identity', 'h2', { nin: '1' }))
    assert.equal((await tenant.byExternalId('identities', 'h2')).id, id)
    assert.deepEqual(await changes(id), ['Rekeyed HR', 'Restored HR', 'Deleted HR', 'Created HR'])
  })

  it('comes in pages, for readers of all core objects only', async () => {
    const { tenant, hr, entries } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { directoryObjectId: randomUUID() }))
    await hr.batch(upsert('identity', 'h1', {}))
    const { id } = await tenant.byExternalId('identities', 'h1')
    const path = `${CORE}/identities/${id}/audit`
    const all = await entries(id)
    const first = await tenant.admin('GET', `${path}?pageSize=2`)
    const rest = await tenant.admin('GET', `${path}?pageSize=2&nextCursor=${first.body.nextCursor}`)
    assert.equal(all.length, 3)
    assert.deepEqual([...first.body.data, ...rest.body.data], all)
    assert.equal(rest.body.nextCursor, undefined)
    assert.equal((await tenant.admin('GET', `${CORE}/identities/${randomUUID()}/audit`)).status, 404)
    for (const [caller, status] of [
      [user(tenant.tenantId, randomUUID(), 'User'), 403],
      [application(tenant.tenantId, randomUUID(), 'iam-core.connector-data.readwrite.self'), 403],
      [application(tenant.tenantId, randomUUID(), 'iam-core.synchronization-configuration.read.all'), 200],
    ] as const) {
      assert.equal((await service.as(caller)('GET', path)).status, status)
    }
  })

  it('has the last 100 changes', async () => {
    const { tenant, hr, entries } = await hrAndDirectory()
    for (let round = 0; round < 35; round += 1) {
      const data = { directoryObjectId: randomUUID() }
      await hr.batch(upsert('identity', 'h1', data))
      await hr.batch(upsert('identity', 'h1', {}))
      if (round % 2 === 0) {
        await hr.batch(remove('identity', 'h1'))
        await hr.batch(upsert('identity', 'h1', {}))
      }
    }
    const { id } = await tenant.byExternalId('identities', 'h1')
    assert.equal((await entries(id, '?pageSize=1000')).length, 100)
  })
})
