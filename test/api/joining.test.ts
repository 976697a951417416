import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { coreDataServiceOfTests, newTenantWithHr, remove, to, upsert } from '../support/api/core-data-service.ts'

const ACCOUNT = '0a0a0a0a-0000-4000-8000-00000000000a'

const service = await coreDataServiceOfTests()

async function hrAndDirectory() {
  const { tenant, hr } = await newTenantWithHr(service)
  const directory = await tenant.addConnector('Directory')
  return { tenant, hr, directory }
}

describe('two connectors with the same person', () => {
  it('create one identity, with precedence for the older connector, in any order of writes', async () => {
    for (const isHrFirst of [true, false]) {
      const { tenant, hr, directory } = await hrAndDirectory()
      const writes = [
        () => hr.batch(upsert('identity', 'h1', { nin: '01019912345', displayName: 'Ada B', email: 'hr@example.org' })),
        () =>
          directory.batch(
            upsert('identity', 'd1', {
              nin: '01019912345',
              displayName: 'ada',
              directoryObjectId: ACCOUNT,
              mobile: '1',
            }),
          ),
      ]
      for (const write of isHrFirst ? writes : writes.toReversed()) await write()
      const [identity, ...others] = await tenant.all('identities')
      assert.equal(others.length, 0)
      const { id: _id, lastUpdated: _lastUpdated, ...rest } = identity
      assert.deepEqual(rest, {
        externalId: 'h1',
        directoryObjectId: ACCOUNT,
        displayName: 'Ada B',
        email: 'hr@example.org',
        mobile: '1',
        nin: '01019912345',
      })
    }
  })

  it('join on the directory account when one has no nin', async () => {
    const { tenant, hr, directory } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }))
    await directory.batch(upsert('identity', 'd1', { directoryObjectId: ACCOUNT.toUpperCase(), mobile: '1' }))
    assert.equal((await tenant.all('identities')).length, 1)
  })

  it('keep two identities when their nin differ', async () => {
    const { tenant, hr, directory } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1', directoryObjectId: ACCOUNT }))
    await directory.batch(upsert('identity', 'd1', { nin: '2', directoryObjectId: ACCOUNT }))
    assert.equal((await tenant.all('identities')).length, 2)
  })

  it('create one identity when both write concurrently', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const { tenant, hr, directory } = await hrAndDirectory()
      const people = Array.from({ length: 20 }, (_, index) => String(index))
      await Promise.all([
        hr.batch(...people.map((nin) => upsert('identity', `h${nin}`, { nin, displayName: nin }))),
        directory.batch(...people.map((nin) => upsert('identity', `d${nin}`, { nin, mobile: nin }))),
      ])
      const identities = await tenant.all('identities')
      assert.equal(identities.length, 20)
      assert.ok(identities.every(({ displayName, mobile }) => displayName === mobile))
    }
  })

  it('merge into one identity when the key is added later, and the older connector keeps its core object', async () => {
    const { tenant, hr, directory } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', {}), upsert('relationship', 'r1', { identity: to('h1') }))
    await directory.batch(
      upsert('identity', 'd1', { nin: '1', mobile: '1' }),
      upsert('orgUnit', 'o1', { manager: to('d1') }),
    )
    const before = await tenant.byExternalId('identities', 'h1')
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    const [identity, ...others] = await tenant.all('identities')
    assert.equal(others.length, 0)
    assert.equal(identity.id, before.id)
    assert.equal(identity.mobile, '1')
    assert.deepEqual((await tenant.byExternalId('relationships', 'r1')).identity, { objectId: before.id })
    assert.deepEqual((await tenant.byExternalId('orgunits', 'o1')).manager, { objectId: before.id })
  })

  it('split into two identities when the key changes', async () => {
    const { tenant, hr, directory } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    await directory.batch(upsert('identity', 'd1', { nin: '1', mobile: '1' }))
    const joined = await tenant.byExternalId('identities', 'h1')
    await directory.batch(upsert('identity', 'd1', { nin: '2', mobile: '1' }))
    const [alone, split] = [
      await tenant.byExternalId('identities', 'h1'),
      await tenant.byExternalId('identities', 'd1'),
    ]
    assert.equal(alone.id, joined.id)
    assert.equal(alone.mobile, undefined)
    assert.notEqual(split.id, joined.id)
    assert.equal(split.mobile, '1')
  })

  it('keep the identity when one deletes its object, and join again when it is restored', async () => {
    const { tenant, hr, directory } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1', displayName: 'Ada' }))
    await directory.batch(upsert('identity', 'd1', { nin: '1', mobile: '1' }))
    const { id } = await tenant.byExternalId('identities', 'h1')
    await hr.batch(remove('identity', 'h1'))
    const left = await tenant.byExternalId('identities', 'd1')
    assert.deepEqual([left.id, left.displayName], [id, undefined])
    await hr.batch(upsert('identity', 'h1', { nin: '1', displayName: 'Ada' }))
    const [whole, ...others] = await tenant.all('identities')
    assert.deepEqual([whole.id, whole.externalId, whole.displayName, others.length], [id, 'h1', 'Ada', 0])
  })
})
