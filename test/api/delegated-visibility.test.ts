import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  type Body,
  CORE,
  coreDataServiceOfTests,
  newTenantWithHr,
  remove,
  type Send,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const startedMs = Date.now()
let passedMs = 0
const service = await coreDataServiceOfTests(() => startedMs + passedMs)

const names = async (send: Send, path: string): Promise<string[]> => {
  const { status, body } = await send('GET', `${CORE}/${path}`)
  assert.equal(status, 200, path)
  return body.data.map(({ externalId }: Body) => externalId).sort()
}

/** A tenant whose `boss` leads the unit `shop`; `branch` lies below it, `else` nowhere. */
async function shopOf(boss: string, areRowsInMemory = false) {
  const { tenant, hr } = await newTenantWithHr(service)
  await hr.batch(
    upsert('identity', 'boss', { directoryObjectId: boss, displayName: 'Berg' }),
    upsert('identity', 'worker', { displayName: 'Berg' }),
    upsert('orgUnit', 'shop', { manager: to('boss') }),
    upsert('orgUnit', 'branch', { parent: to('shop') }),
    upsert('orgUnit', 'else', {}),
    upsert('relationship', 'job', { identity: to('worker'), orgUnit: to('branch') }),
  )
  if (areRowsInMemory) await service.loadRows(tenant.tenantId)
  const send = service.as(user(tenant.tenantId, boss, 'User'))
  return { tenant, hr, send }
}

for (const areRowsInMemory of [false, true]) {
  describe(`the object access of a manager, ${areRowsInMemory ? 'by the rows in memory' : 'by the database'}`, () => {
    for (const [claim, change, identities, relationships] of [
      ['a position moves out', upsert('relationship', 'job', { identity: to('worker'), orgUnit: to('else') }), [], []],
      ['a position is deleted', remove('relationship', 'job'), [], []],
      ['its holder is deleted', remove('identity', 'worker'), [], ['job']],
      ['its unit moves away', upsert('orgUnit', 'branch', { parent: to('else') }), [], []],
      ['the unit between is deleted', remove('orgUnit', 'shop'), [], []],
      ['somebody else leads', upsert('orgUnit', 'shop', { manager: to('worker') }), [], []],
      ['a new position arrives', upsert('relationship', 'own', { identity: to('boss') }), ['worker'], ['job', 'own']],
      [
        'a position has ended, or is to begin: both are theirs to see',
        upsert('relationship', 'job', {
          identity: to('worker'),
          orgUnit: to('branch'),
          startDate: '2090-01-01',
          endDate: '2020-01-01',
        }),
        ['worker'],
        ['job'],
      ],
    ] as const) {
      it(`changes with the next call when ${claim}`, async () => {
        const { hr, send } = await shopOf(randomUUID(), areRowsInMemory)
        assert.deepEqual(await names(send, 'identities'), ['boss', 'worker'])
        assert.deepEqual(await names(send, 'relationships'), ['job'])
        await hr.batch(change)
        assert.deepEqual(await names(send, 'identities'), ['boss', ...identities])
        assert.deepEqual(await names(send, 'identities/search?text=berg'), ['boss', ...identities])
        assert.deepEqual(await names(send, 'relationships'), relationships)
      })
    }

    it('lists those without an account among them, and only these', async () => {
      const { send } = await shopOf(randomUUID(), areRowsInMemory)
      assert.deepEqual(await names(send, 'identities?account=missing'), ['worker'])
    })

    it('leaves out what is private to other people', async () => {
      const boss = randomUUID()
      const { hr, send } = await shopOf(boss, areRowsInMemory)
      const secret = { nin: '01019012345', privateMobile: '+47 1', privateEmail: 'a@private.example', mobile: '2' }
      await hr.batch(
        upsert('identity', 'boss', { directoryObjectId: boss, displayName: 'Berg', ...secret, nin: '02' }),
        upsert('identity', 'worker', { displayName: 'Berg', ...secret }),
      )
      const { body } = await send('GET', `${CORE}/identities`)
      const found = new Map<string, Body>(body.data.map((one: Body) => [one.externalId, one]))
      const one = (await send('GET', `${CORE}/identities/${found.get('worker')?.id}`)).body.data
      const several = (await send('POST', `${CORE}/identities/multiple`, { ids: [found.get('worker')?.id] })).body.data
      const searched = (await send('GET', `${CORE}/identities/search?text=berg`)).body.data
      const others = [
        found.get('worker'),
        one,
        ...several,
        ...searched.filter((each: Body) => each.externalId !== 'boss'),
      ]
      assert.equal(others.length, 4)
      for (const other of others) {
        assert.deepEqual([other.nin, other.privateMobile, other.privateEmail], [undefined, undefined, undefined])
        assert.equal(other.mobile, '2')
      }
      assert.deepEqual([found.get('boss')?.nin, found.get('boss')?.privateMobile], ['02', '+47 1'])
    })

    it('finds nobody else by a national identity number, whatever else matches', async () => {
      const boss = randomUUID()
      const { hr, send, tenant } = await shopOf(boss, areRowsInMemory)
      await hr.batch(
        upsert('identity', 'boss', { directoryObjectId: boss, displayName: 'Berg', nin: '02' }),
        upsert('identity', 'worker', { displayName: 'Dahl', nin: '01019012345' }),
        upsert('identity', 'named', { displayName: 'Nurse 01019012345', nin: '4711' }),
        upsert('relationship', 'named', { identity: to('named'), manager: to('boss') }),
      )
      const readable = await names(send, 'identities')
      assert.ok(['boss', 'worker', 'named'].every((name) => readable.includes(name)))
      assert.deepEqual(await names(send, 'identities/search?text=01019012345'), ['named'])
      assert.deepEqual(await names(send, 'identities/search?text=4711'), [])
      assert.deepEqual(await names(send, 'identities/search?text=02'), ['boss'])
      const all = await names(tenant.admin, 'identities/search?text=01019012345')
      assert.deepEqual(all.sort(), ['named', 'worker'])
    })

    it('includes the people whose active positions name the manager, with these positions', async () => {
      const { hr, send } = await shopOf(randomUUID(), areRowsInMemory)
      const led = (name: string, more: object) => [
        upsert('identity', name, { displayName: name }),
        upsert('relationship', `of ${name}`, { identity: to(name), orgUnit: to('else'), manager: to('boss'), ...more }),
      ]
      await hr.batch(...led('report', {}), ...led('former', { endDate: '2020-01-01' }))
      await hr.batch(upsert('relationship', 'second job', { identity: to('report'), orgUnit: to('else') }))
      assert.deepEqual(await names(send, 'identities'), ['boss', 'report', 'worker'])
      assert.deepEqual(await names(send, 'relationships'), ['job', 'of report'])
      assert.deepEqual(await names(send, 'orgunits'), ['branch', 'shop'])
    })

    it('changes with the next call when the account moves to another identity', async () => {
      const account = randomUUID()
      const { hr, send } = await shopOf(account, areRowsInMemory)
      assert.deepEqual(await names(send, 'orgunits'), ['branch', 'shop'])
      await hr.batch(upsert('identity', 'boss', { directoryObjectId: randomUUID() }))
      assert.deepEqual(await names(send, 'identities'), [])
      await hr.batch(upsert('identity', 'worker', { directoryObjectId: account }))
      assert.deepEqual(await names(send, 'orgunits'), ['branch'])
    })

    it('includes the ancestors of a readable unit, also above unreadable ones, and none of an unreadable unit', async () => {
      const { tenant, hr, send } = await shopOf(randomUUID(), areRowsInMemory)
      await hr.batch(
        upsert('orgUnit', 'top', {}),
        upsert('orgUnit', 'hidden', { parent: to('top') }),
        upsert('orgUnit', 'shop', { manager: to('boss'), parent: to('hidden') }),
        upsert('orgUnit', 'other', { parent: to('top') }),
        upsert('relationship', 'own', { identity: to('boss'), orgUnit: to('top') }),
      )
      const idOf = new Map((await tenant.all('orgunits')).map(({ externalId, id }) => [externalId, id]))
      for (const [asked, expected] of [
        [['branch'], ['branch', 'shop', 'top']],
        [
          ['hidden', 'branch'],
          ['branch', 'shop', 'top'],
        ],
        [['hidden', 'other', 'else'], []],
      ] as const) {
        const ids = asked.map((name) => idOf.get(name))
        const { body } = await send('POST', `${CORE}/orgunits/multiple`, { ids, includeParents: true })
        assert.deepEqual(
          body.data.map(({ externalId }: Body) => externalId),
          expected,
        )
      }
    })
  })
}

describe('the cost of the object access of a manager', () => {
  it('is a few queries for a manager of few, for any size of the tenant, and no rows are loaded', async () => {
    const { hr, send } = await shopOf(randomUUID())
    const operationCount = () => Object.values(service.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const costOf = async (path: string): Promise<number> => {
      const before = operationCount()
      await send('GET', `${CORE}/${path}`)
      return operationCount() - before
    }
    // Reads the settings of the tenant, which are cached for a while.
    await send('GET', `${CORE}/identities`)
    const countBefore = await costOf('identities')
    await hr.batch(...Array.from({ length: 900 }, (_, index) => upsert('identity', `stranger ${index}`, {})))
    assert.equal(await costOf('identities'), countBefore)
    // Account, positions, positions led, units managed and deputised for, two levels below, positions there, people,
    // and the page.
    assert.equal(countBefore, 10)
  })

  /** Two thirds of them are more than go with one query. */
  const PEOPLE_COUNT = 3200
  const people = Array.from({ length: PEOPLE_COUNT }, (_, index) => String(index).padStart(4, '0'))
  const isElsewhere = (name: string): boolean => Number(name) % 3 === 0

  it('is that of the page with rows in memory, for a manager of any number; a search returns readable objects only', async () => {
    const [boss, helper] = [randomUUID(), randomUUID()]
    const { hr, send, tenant } = await shopOf(boss)
    await hr.batch(
      upsert('identity', 'helper', { directoryObjectId: helper }),
      upsert('orgUnit', 'corner', { parent: to('shop'), deputies: [to('helper')] }),
    )
    const few = service.as(user(tenant.tenantId, helper, 'User'))
    for (let start = 0; start < PEOPLE_COUNT; start += 400) {
      const group = people.slice(start, start + 400)
      await hr.batch(
        ...group.map((name) => upsert('identity', name, { displayName: `Person ${name}`, nin: name })),
        ...group.map((name) =>
          upsert('relationship', name, { identity: to(name), orgUnit: to(isElsewhere(name) ? 'else' : 'branch') }),
        ),
      )
    }
    for (const each of [send, few]) await each('GET', `${CORE}/identities?pageSize=50`)
    // What was written just now is read again by each look, for the store counts whole seconds.
    passedMs += 60_000
    for (const each of [send, few]) await each('GET', `${CORE}/identities?pageSize=50`)
    const operationCount = () => Object.values(service.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    for (const each of [send, few]) {
      const before = operationCount()
      await each('GET', `${CORE}/identities?pageSize=50`)
      // What has changed, and the page.
      assert.equal(operationCount() - before, 2)
    }

    const { body } = await send('GET', `${CORE}/identities/search?text=person`)
    assert.deepEqual(
      body.data.map(({ externalId }: Body) => externalId),
      people.filter((name) => !isElsewhere(name)).slice(0, 100),
    )
    assert.deepEqual(await names(send, 'identities/search?text=0001'), ['0001'])
    assert.deepEqual(await names(send, 'identities/search?text=0003'), [])
    assert.deepEqual(await names(few, 'identities/search?text=person'), [])
  })
})
