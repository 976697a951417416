import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  application,
  type Body,
  CORE,
  CURSOR_KEY,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  type Send,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const OTHER_KEY = createHash('sha256').update('two').digest('base64')

async function pages(send: Send, path: string): Promise<Body[][]> {
  const found: Body[][] = []
  let query = path.includes('?') ? path : `${path}?`
  for (;;) {
    const { status, body } = await send('GET', query)
    assert.equal(status, 200)
    found.push(body.data)
    if (body.nextCursor === undefined) return found
    const filters = (path.split('?')[1] ?? '').split('&').filter((one) => one.endsWith('=missing'))
    query = `${path.split('?')[0]}?${[...filters, `nextCursor=${body.nextCursor}`].join('&')}`
  }
}

describe('lists of core objects', () => {
  it('return each object once, ordered by id, and end without a cursor even when the last page is full', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(...Array.from({ length: 9 }, (_, index) => upsert('identity', `p${index}`, {})))
    await hr.batch(remove('identity', 'p3'), upsert('orgUnit', 'o1', {}))
    const read = await pages(tenant.admin, `${CORE}/identities?pageSize=4`)
    assert.deepEqual(
      read.map(({ length }) => length),
      [4, 4],
    )
    const ids = read.flat().map(({ id }) => id)
    assert.deepEqual(ids, [...new Set(ids)].sort())
  })

  it('can be narrowed to identities without an account, and to positions without an identity', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = (index: number) => (index % 3 === 0 ? {} : { directoryObjectId: randomUUID() })
    await hr.batch(...Array.from({ length: 9 }, (_, index) => upsert('identity', `p${index}`, account(index))))
    await hr.batch(upsert('relationship', 'held', { identity: to('p1') }), upsert('relationship', 'vacant', {}))
    const all = (await tenant.admin('GET', `${CORE}/identities`)).body.data as Body[]
    const missing = (await pages(tenant.admin, `${CORE}/identities?pageSize=2&account=missing`)).flat()
    assert.deepEqual(
      missing.map(({ id }) => id),
      all.filter(({ directoryObjectId }) => directoryObjectId === undefined).map(({ id }) => id),
    )
    assert.equal(missing.length, 3)
    const vacant = (await tenant.admin('GET', `${CORE}/relationships?identity=missing`)).body.data as Body[]
    assert.deepEqual(
      vacant.map(({ externalId }) => externalId),
      ['vacant'],
    )
    assert.equal((await tenant.admin('GET', `${CORE}/identities?account=none`)).status, 400)
    const { nextCursor } = (await tenant.admin('GET', `${CORE}/identities?pageSize=1&account=missing`)).body
    const mixed = await tenant.admin('GET', `${CORE}/identities?nextCursor=${nextCursor}`)
    assert.equal(mixed.status, 400)
  })

  it('accept cursors after restarts and key rotations, and return the same page again', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(...Array.from({ length: 6 }, (_, index) => upsert('identity', `p${index}`, {})))
    const caller = user(tenant.tenantId, randomUUID(), 'Administrator')
    const { nextCursor } = (await service.as(caller)('GET', `${CORE}/identities?pageSize=2`)).body
    assert.match(nextCursor, /^v1_[\w-]+$/)
    const path = `${CORE}/identities?nextCursor=${nextCursor}`
    const second = (await service.as(caller)('GET', path)).body
    assert.equal(second.data.length, 2)
    assert.deepEqual((await service.restarted([OTHER_KEY, CURSOR_KEY]).as(caller)('GET', path)).body.data, second.data)
    assert.equal((await service.restarted([OTHER_KEY]).as(caller)('GET', path)).status, 400)
    assert.equal((await service.as(caller)('GET', `${path}&pageSize=3`)).body.data.length, 3)
  })

  it('refuse altered, foreign and malformed cursors', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(...['a', 'b'].flatMap((name) => [upsert('identity', name, {}), upsert('orgUnit', name, {})]))
    const { nextCursor } = (await tenant.admin('GET', `${CORE}/identities?pageSize=1`)).body
    const stranger = service.as(user(randomUUID(), randomUUID(), 'Administrator'))
    const limited = service.as(user(tenant.tenantId, randomUUID(), 'User'))
    for (const [send, type, cursor] of [
      [tenant.admin, 'orgunits', nextCursor],
      [stranger, 'identities', nextCursor],
      [limited, 'identities', nextCursor],
      [tenant.admin, 'identities', ''],
      [tenant.admin, 'identities', 'v1_'],
      [tenant.admin, 'identities', 'nonsense'],
      [tenant.admin, 'identities', `${nextCursor}A`],
      [tenant.admin, 'identities', nextCursor.slice(0, -1)],
      [tenant.admin, 'identities', nextCursor.replace('v1_', 'v2_')],
      [
        tenant.admin,
        'identities',
        `${nextCursor.slice(0, 20)}${nextCursor[20] === 'A' ? 'B' : 'A'}${nextCursor.slice(21)}`,
      ],
    ] as const) {
      const { status, body } = await send('GET', `${CORE}/${type}?nextCursor=${cursor}`)
      assert.deepEqual([status, body.errors[0]?.code], [400, 'InvalidCursor'], cursor)
    }
  })

  it('accept page sizes from 1 to 10,000', async () => {
    const tenant = await newTenant(service)
    for (const [size, status] of [
      ['0', 400],
      ['1', 200],
      ['10000', 200],
      ['10001', 400],
      ['many', 400],
      ['1.5', 400],
    ] as const) {
      assert.equal((await tenant.admin('GET', `${CORE}/orgunits?pageSize=${size}`)).status, status, size)
    }
  })
})

describe('single and several core objects', () => {
  it('are found by tenant, type and role', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', {}), upsert('relationship', 'r1', { identity: to('p1') }))
    const { id } = await tenant.byExternalId('identities', 'p1')
    const reader = service.as(
      application(tenant.tenantId, randomUUID(), 'iam-core.synchronization-configuration.read.all'),
    )
    const stranger = service.as(user(randomUUID(), randomUUID(), 'Administrator'))
    assert.equal((await reader('GET', `${CORE}/identities/${id.toUpperCase()}`)).body.data.id, id)
    assert.equal((await stranger('GET', `${CORE}/identities/${id}`)).status, 404)
    assert.equal((await tenant.admin('GET', `${CORE}/orgunits/${id}`)).status, 404)
    assert.equal((await tenant.admin('GET', `${CORE}/identities/x`)).body.errors[0].code, 'InvalidId')
    assert.equal((await hr.send('GET', `${CORE}/identities/${id}`)).status, 403)
    const held = await reader('GET', `${CORE}/identities/${id}/relationships`)
    const old = await reader('GET', `${CORE}/relationships/identity/${id}`)
    assert.equal(held.body.data.length, 1)
    assert.deepEqual(old.body.data, held.body.data)
    assert.equal(old.headers.link, `<${CORE}/identities/${id}/relationships>; rel="successor-version"`)
    assert.match(old.headers.deprecation ?? '', /^@\d+$/)
    assert.equal((await reader('GET', `${CORE}/relationships/identity/${randomUUID()}`)).status, 404)
  })

  it('are returned in the requested order, each once, followed by every ancestor once', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('orgUnit', 'top', {}),
      upsert('orgUnit', 'middle', { parent: to('top') }),
      upsert('orgUnit', 'left', { parent: to('middle') }),
      upsert('orgUnit', 'right', { parent: to('middle') }),
    )
    const ids = new Map((await tenant.all('orgunits')).map(({ externalId, id }) => [externalId, id]))
    const asked = ['right', 'left', 'right'].map((name) => ids.get(name))
    const names = async (body: object) =>
      (await tenant.admin('POST', `${CORE}/orgunits/multiple`, body)).body.data.map(
        ({ externalId }: Body) => externalId,
      )
    assert.deepEqual(await names({ ids: [...asked, randomUUID()] }), ['right', 'left'])
    assert.deepEqual(await names({ ids: asked, includeParents: true }), ['right', 'left', 'middle', 'top'])
    assert.deepEqual(await names({ ids: [ids.get('top'), ids.get('left')], includeParents: true }), [
      'top',
      'left',
      'middle',
    ])
    for (const body of [{}, { ids: ['x'] }, { ids: Array.from({ length: 1001 }, () => randomUUID()) }]) {
      assert.equal((await tenant.admin('POST', `${CORE}/orgunits/multiple`, body)).status, 400)
    }
  })
})

describe('search', () => {
  it('matches by the searchable attributes, ordered by name', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = randomUUID()
    await hr.batch(
      upsert('identity', 'p1', { displayName: 'Åse Berg', nin: 'Nin1', directoryObjectId: account }),
      upsert('identity', 'p2', { displayName: 'Adaberg', directoryOnPremisesSamAccountName: 'adab' }),
      upsert('identity', 'p3', { email: 'BERG@example.org' }),
      upsert('orgUnit', 'O-7', { displayName: 'Bakery' }),
      upsert('relationship', 'r1', { title: 'Head Baker', employeeId: 'E1' }),
    )
    for (const [type, text, expected] of [
      ['identities', 'berg', ['p2', 'p1', 'p3']],
      ['identities', ' ÅSE ', ['p1']],
      ['identities', 'Nin1', ['p1']],
      ['identities', 'nin1', []],
      ['identities', account.toUpperCase(), ['p1']],
      ['identities', 'adab', ['p2']],
      ['identities', 'ada%', []],
      ['orgunits', 'O-7', ['O-7']],
      ['orgunits', 'o-7', []],
      ['orgunits', 'AKER', ['O-7']],
      ['relationships', 'bak', ['r1']],
      ['relationships', 'E1', ['r1']],
      ['relationships', 'E', ['r1']],
      ['relationships', 'e1', []],
    ] as const) {
      const { body } = await tenant.admin('GET', `${CORE}/${type}/search?text=${encodeURIComponent(text)}`)
      assert.deepEqual(
        body.data.map(({ externalId }: Body) => externalId),
        expected,
        `${type} ${text}`,
      )
    }
    for (const text of ['', '%20', 'x'.repeat(201)]) {
      assert.equal((await tenant.admin('GET', `${CORE}/identities/search?text=${text}`)).status, 400)
    }
    assert.equal((await tenant.admin('GET', `${CORE}/identities/search`)).status, 400)
  })

  it('returns at most 100 objects, the first by name', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const people = Array.from({ length: 130 }, (_, index) => String(1000 + ((index * 37) % 130)))
    await hr.batch(...people.map((name) => upsert('identity', name, { displayName: `Berg ${name}` })))
    const { body } = await tenant.admin('GET', `${CORE}/identities/search?text=berg`)
    const names = body.data.map(({ externalId }: Body) => externalId)
    assert.deepEqual(
      names,
      Array.from({ length: 100 }, (_, index) => String(1000 + index)),
    )
  })
})

describe('objects visible to a user without an administrator role', () => {
  it('are the user, their relationships, and delegated units with everything below them', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const accounts = { boss: randomUUID(), deputy: randomUUID(), worker: randomUUID() }
    await hr.batch(
      ...Object.entries(accounts).map(([name, directoryObjectId]) =>
        upsert('identity', name, { displayName: `Person ${name}`, directoryObjectId }),
      ),
      upsert('orgUnit', 'top', { displayName: 'Unit' }),
      upsert('orgUnit', 'shop', { parent: to('top'), manager: to('boss'), displayName: 'Unit' }),
      upsert('orgUnit', 'corner', { parent: to('shop'), deputies: [to('deputy')], displayName: 'Unit' }),
      upsert('relationship', 'r-boss', { identity: to('boss'), orgUnit: to('top'), title: 'Job' }),
      upsert('relationship', 'r-worker', { identity: to('worker'), orgUnit: to('corner'), title: 'Job' }),
      upsert('relationship', 'r-deputy', { identity: to('deputy'), orgUnit: to('top'), title: 'Job' }),
    )
    const nobody = randomUUID()
    for (const [account, identities, orgUnits, relationships] of [
      [accounts.boss, ['boss', 'worker'], ['corner', 'shop', 'top'], ['r-boss', 'r-worker']],
      [accounts.deputy, ['deputy', 'worker'], ['corner', 'top'], ['r-deputy', 'r-worker']],
      [accounts.worker, ['worker'], ['corner'], ['r-worker']],
      [nobody, [], [], []],
    ] as const) {
      const send = service.as(user(tenant.tenantId, account, 'User'))
      for (const [type, text, expected] of [
        ['identities', 'person', identities],
        ['orgunits', 'unit', orgUnits],
        ['relationships', 'job', relationships],
      ] as const) {
        const seen = (await pages(send, `${CORE}/${type}?pageSize=2`)).flat()
        assert.deepEqual(seen.map(({ externalId }) => externalId).sort(), expected, `${type} of ${account}`)
        const found = (await send('GET', `${CORE}/${type}/search?text=${text}`)).body.data
        assert.deepEqual(found.map(({ externalId }: Body) => externalId).sort(), expected)
        const every = (await tenant.all(type)).map(({ id }) => id)
        const several = (await send('POST', `${CORE}/${type}/multiple`, { ids: every })).body.data
        assert.deepEqual(several.map(({ externalId }: Body) => externalId).sort(), expected)
        for (const { id, externalId } of await tenant.all(type)) {
          const { status } = await send('GET', `${CORE}/${type}/${id}`)
          assert.equal(status, (expected as readonly string[]).includes(externalId) ? 200 : 404, externalId)
        }
      }
    }
  })

  it('include the unit of an own relationship, but only own relationships of it', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const account = randomUUID()
    await hr.batch(
      upsert('identity', 'one', { directoryObjectId: account }),
      upsert('identity', 'other', {}),
      upsert('orgUnit', 'shop', {}),
      upsert('relationship', 'r1', { identity: to('one'), orgUnit: to('shop') }),
      upsert('relationship', 'r2', { identity: to('other'), orgUnit: to('shop') }),
    )
    const shop = await tenant.byExternalId('orgunits', 'shop')
    const send = service.as(user(tenant.tenantId, account, 'User'))
    const { body } = await send('GET', `${CORE}/orgunits/${shop.id}/relationships`)
    assert.deepEqual(
      body.data.map(({ externalId }: Body) => externalId),
      ['r1'],
    )
  })
})
