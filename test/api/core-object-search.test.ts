import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type Body,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

type Tenant = Awaited<ReturnType<typeof newTenant>>

async function found({ admin }: Tenant, type: string, text: string): Promise<string[]> {
  const { status, body } = await admin('GET', `${CORE}/${type}/search?text=${encodeURIComponent(text)}`)
  assert.equal(status, 200, text)
  return body.data.map(({ externalId }: Body) => externalId)
}

describe('the text of a search', () => {
  it('is literal: no character has a special meaning', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const odd = ['%', '_', '*', '?', "'", '"', '\\', '.*', '[a-z]', '@text', "') OR 1=1 --", '\\n', '{}', '+', 'a.b']
    await hr.batch(
      ...odd.map((text, index) => upsert('identity', `odd${index}`, { displayName: `x${text}y` })),
      upsert('identity', 'plain', { displayName: 'xy xzy ab' }),
      upsert('orgUnit', 'o%', { displayName: 'Unit' }),
      upsert('relationship', 'r1', { title: 'Job', employeeId: '%' }),
    )
    for (const [index, text] of odd.entries()) {
      const inOthers = odd.flatMap((other, position) => (other.includes(text) ? [`odd${position}`] : []))
      assert.deepEqual((await found(tenant, 'identities', text)).sort(), inOthers.sort(), text)
      assert.ok(inOthers.includes(`odd${index}`))
    }
    assert.deepEqual(await found(tenant, 'orgunits', 'o%'), ['o%'])
    assert.deepEqual(await found(tenant, 'orgunits', 'o_'), [])
    assert.deepEqual(await found(tenant, 'relationships', '%'), ['r1'])
  })

  it('is not a field selector, and matches searchable attributes only', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('identity', 'p1', { displayName: 'Ada', mobile: '5551', firstName: 'Augusta', 'custom/x': 'badge' }),
      upsert('relationship', 'r1', { title: 'Job', officeLocation: 'Attic' }),
    )
    for (const text of ['displayName:Ada', '5551', 'augusta', 'badge', 'p1']) {
      assert.deepEqual(await found(tenant, 'identities', text), [], text)
    }
    assert.deepEqual(await found(tenant, 'relationships', 'attic'), [])
  })

  it('finds names whatever their case and however their letters are composed', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('identity', 'p1', { displayName: 'İpek STRASSE' }),
      upsert('identity', 'p2', { displayName: 'A\u030ase' }),
    )
    for (const text of ['ipek', 'İPEK', 'strasse']) assert.deepEqual(await found(tenant, 'identities', text), ['p1'])
    for (const text of ['Åse', 'åSE', 'a\u030ase']) assert.deepEqual(await found(tenant, 'identities', text), ['p2'])
  })

  it('finds names in the order of the root locale, objects without a name last', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const titles = ['zebra', 'Ärlig', 'apple', 'Zorro', 'ärlig b', 'Apricot', 'øl', 'Olga']
    await hr.batch(
      ...titles.map((title) => upsert('relationship', title, { title, employeeId: 'x' })),
      upsert('relationship', 'nameless', { employeeId: 'x' }),
    )
    const ordered = ['apple', 'Apricot', 'Ärlig', 'ärlig b', 'øl', 'Olga', 'zebra', 'Zorro', 'nameless']
    assert.deepEqual(await found(tenant, 'relationships', 'x'), ordered)
  })

  it('has 1 to 200 characters, counted as code points', async () => {
    const tenant = await newTenant(service)
    for (const [text, status] of [
      ['', 400],
      [' ', 400],
      [` ${'😀'.repeat(200)} `, 200],
      ['😀'.repeat(201), 400],
    ] as const) {
      const answer = await tenant.admin('GET', `${CORE}/identities/search?text=${encodeURIComponent(text)}`)
      assert.equal(answer.status, status, text)
    }
  })

  it('matches current attributes, not former ones or those of deleted objects', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada', nin: '77' }))
    await hr.batch(upsert('identity', 'p1', { displayName: 'Eva', nin: '78' }))
    assert.deepEqual(await found(tenant, 'identities', 'ada'), [])
    assert.deepEqual(await found(tenant, 'identities', '77'), [])
    assert.deepEqual(await found(tenant, 'identities', 'eva'), ['p1'])
    await hr.batch(remove('identity', 'p1'))
    for (const text of ['eva', '78']) assert.deepEqual(await found(tenant, 'identities', text), [])
    await hr.batch(upsert('identity', 'p1', { displayName: 'Eva', nin: '78' }))
    for (const text of ['eva', '78']) assert.deepEqual(await found(tenant, 'identities', text), ['p1'])
  })
})

describe('The national identity number, for a user without an administrator role,', () => {
  it('finds only the user, and nobody else whom the user may read', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = randomUUID()
    await hr.batch(
      upsert('identity', 'boss', { displayName: 'Boss', nin: '01019012345', directoryObjectId: account }),
      upsert('identity', 'worker', { displayName: 'Worker', nin: '02029012345' }),
      upsert('orgUnit', 'shop', { manager: to('boss') }),
      upsert('relationship', 'job', { identity: to('worker'), orgUnit: to('shop') }),
    )
    const boss = { ...tenant, admin: service.as(user(tenant.tenantId, account, 'User')) }
    assert.deepEqual(await found(boss, 'identities', 'worker'), ['worker'])
    assert.deepEqual(await found(boss, 'identities', '02029012345'), [])
    assert.deepEqual(await found(boss, 'identities', '01019012345'), ['boss'])
  })
})

describe('relationships of others, for a user without an administrator role', () => {
  it('are those of delegated units, in both routes and the deprecated one; others are not found', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = randomUUID()
    await hr.batch(
      upsert('identity', 'boss', { directoryObjectId: account }),
      upsert('identity', 'worker', {}),
      upsert('identity', 'stranger', {}),
      upsert('orgUnit', 'shop', { manager: to('boss') }),
      upsert('orgUnit', 'else', {}),
      upsert('relationship', 'in', { identity: to('worker'), orgUnit: to('shop') }),
      upsert('relationship', 'out', { identity: to('worker'), orgUnit: to('else') }),
      upsert('relationship', 'far', { identity: to('stranger'), orgUnit: to('else') }),
    )
    const boss = service.as(user(tenant.tenantId, account, 'User'))
    const idOf = async (type: string, name: string) => (await tenant.byExternalId(type, name)).id
    const [worker, stranger] = [await idOf('identities', 'worker'), await idOf('identities', 'stranger')]
    for (const path of [
      `identities/${worker}/relationships`,
      `relationships/identity/${worker}`,
      `orgunits/${await idOf('orgunits', 'shop')}/relationships`,
    ]) {
      const { status, body } = await boss('GET', `${CORE}/${path}`)
      assert.deepEqual([status, body.data.map(({ externalId }: Body) => externalId)], [200, ['in']], path)
    }
    for (const path of [
      `identities/${stranger}/relationships`,
      `relationships/identity/${stranger}`,
      `orgunits/${await idOf('orgunits', 'else')}/relationships`,
      `relationships/${await idOf('relationships', 'far')}`,
    ]) {
      assert.equal((await boss('GET', `${CORE}/${path}`)).status, 404, path)
    }
  })

  it('include the ancestors of a unit only as far as these are delegated', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = randomUUID()
    await hr.batch(
      upsert('identity', 'boss', { directoryObjectId: account }),
      upsert('orgUnit', 'top', {}),
      upsert('orgUnit', 'middle', { parent: to('top'), manager: to('boss') }),
      upsert('orgUnit', 'below', { parent: to('middle') }),
    )
    const boss = service.as(user(tenant.tenantId, account, 'User'))
    const { id } = await tenant.byExternalId('orgunits', 'below')
    const { body } = await boss('POST', `${CORE}/orgunits/multiple`, { ids: [id], includeParents: true })
    assert.deepEqual(
      body.data.map(({ externalId }: Body) => externalId),
      ['below', 'middle'],
    )
  })
})
