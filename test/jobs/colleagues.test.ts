import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { DAY_MS } from '../../shared/kernel/timestamp.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

let fixture: AccountFixture
beforeEach(async () => {
  fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
})
afterEach(() => fixture.close())

/** The state and the last entry's notes of the requests of a collection. */
async function requestsOf(collectionId: string) {
  const query = { newestFirst: true, collectionId }
  const { items } = await fixture.coldProcess().requests.requests.page(TENANT, query, undefined, 10)
  return items.map(({ status, lifecycle }) => [status, lifecycle.at(-1)?.notes])
}

const JOIN_ON = ['nin', 'directoryObjectId', 'employeeNumber', 'email']

describe('A person who is created in the batch that deletes a colleague', () => {
  const cases = {
    'an address': { of: ['nin', 'directoryObjectId', 'email'], key: 'email', value: 'post@one.example' },
    'an account': { of: undefined, key: 'directoryObjectId', value: users(0, 1)[0] as string },
  }
  for (const [what, { of, key, value }] of Object.entries(cases)) {
    it(`stays another person, and in no group of the colleague, when ${what} is handed over later`, async () => {
      const hr = await fixture.newSource(of)
      await fixture.write(hr, identity('ada', { displayName: 'Ada', [key]: value }))
      const collectionId = await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'ada')])
      const group = await fixture.linkedGroup(collectionId)
      await fixture.write(hr, gone('identity', 'ada'), identity('bo', { displayName: 'Bo' }))
      await fixture.followed()
      const bo = await fixture.coreIdOf(hr, 'identity', 'bo')
      for (const days of [10, 1]) {
        await fixture.clock.sleep(days * DAY_MS)
        await fixture.write(hr, identity('bo', { displayName: `Bo ${days}`, [key]: value }))
        await fixture.followed()
        assert.equal(await fixture.coreIdOf(hr, 'identity', 'bo'), bo)
        assert.deepEqual([...(await fixture.membersOf(group))], [])
        assert.equal((await requestsOf(collectionId))[0]?.[0], 'Left')
      }
    })
  }
})

describe('A person who is created in the night in which a colleague leaves', () => {
  const email = 'office@one.example'
  const person = (name: string, position: number, more = {}) =>
    identity(name, { displayName: name, directoryObjectId: users(position, 1)[0] as string, ...more })

  /** Ada, who leaves, is in a group; Cy and Di stay. Bo is new. */
  async function newNight({ theyHave, boHas }: { readonly theyHave: object; readonly boHas: object }) {
    const hr = await fixture.newSource(JOIN_ON)
    for (const each of [person('ada', 0, { email }), person('cy', 2, theyHave), person('di', 3, theyHave)]) {
      await fixture.write(hr, each)
    }
    const group = await fixture.linkedGroup(await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'ada')]))
    await fixture.clock.sleep(DAY_MS)
    return { hr, group, leaving: gone('identity', 'ada'), arriving: person('bo', 1, boHas) }
  }

  async function assertIsNobodyElse({ hr, group }: Awaited<ReturnType<typeof newNight>>, bo: string) {
    for (let times = 0; times < 2; times += 1) await fixture.followed()
    assert.equal(await fixture.coreIdOf(hr, 'identity', 'bo'), bo)
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  }

  for (const [how, days] of [
    ['in one batch', 0],
    ['who loses it a day later', 1],
  ] as const) {
    it(`stays another person when that address comes from a third one, ${how}`, async () => {
      const night = await newNight({ theyHave: {}, boHas: {} })
      const { hr, leaving, arriving } = night
      await fixture.write(hr, leaving, arriving)
      await fixture.followed()
      const bo = await fixture.coreIdOf(hr, 'identity', 'bo')
      await fixture.clock.sleep(5 * DAY_MS)
      await fixture.write(hr, person('cy', 2, { email }))
      await fixture.followed()
      await fixture.clock.sleep(5 * DAY_MS)
      const [boHas, cyHas] = [person('bo', 1, { email }), person('cy', 2)]
      await fixture.write(hr, boHas, ...(days === 0 ? [cyHas] : []))
      await fixture.clock.sleep(days * DAY_MS)
      if (days > 0) await fixture.write(hr, cyHas)
      await assertIsNobodyElse(night, bo)
    })
  }

  it('stays another person when an earlier leaver had the address as well', async () => {
    const night = await newNight({ theyHave: { email }, boHas: { email } })
    const { hr, leaving, arriving } = night
    const ada = await fixture.coreIdOf(hr, 'identity', 'ada')
    await fixture.write(hr, gone('identity', 'di'))
    await fixture.followed()
    await fixture.write(hr, person('cy', 2))
    await fixture.followed()
    await fixture.write(hr, leaving, arriving)
    await fixture.followed()
    assert.notEqual(await fixture.coreIdOf(hr, 'identity', 'bo'), ada)
  })

  it('stays another person when a third one has the address from before the deletion until days after it', async () => {
    const night = await newNight({ theyHave: {}, boHas: { email } })
    const { hr, leaving, arriving } = night
    for (const each of [arriving, person('cy', 2, { email }), leaving]) await fixture.write(hr, each)
    await fixture.followed()
    const bo = await fixture.coreIdOf(hr, 'identity', 'bo')
    await fixture.clock.sleep(10 * DAY_MS)
    await fixture.write(hr, person('cy', 2))
    await assertIsNobodyElse(night, bo)
  })

  for (const [what, before] of [
    ['is deleted and restored', [gone('identity', 'bo')]],
    ['loses the address before the deletion, and gets it again', [person('bo', 1)]],
  ] as const) {
    it(`stays another person who ${what} while a third one has the address`, async () => {
      const night = await newNight({ theyHave: {}, boHas: { email } })
      const { hr, leaving, arriving } = night
      await fixture.write(hr, arriving)
      for (const each of [...before, leaving]) await fixture.write(hr, each)
      await fixture.followed()
      await fixture.clock.sleep(5 * DAY_MS)
      await fixture.write(hr, person('cy', 2, { email }))
      await fixture.write(hr, arriving)
      await fixture.followed()
      const bo = await fixture.coreIdOf(hr, 'identity', 'bo')
      await fixture.clock.sleep(5 * DAY_MS)
      await fixture.write(hr, person('cy', 2))
      await assertIsNobodyElse(night, bo)
    })
  }

  for (const how of ['in one batch', 'in two batches, the creation first'] as const) {
    it(`stays another person when others lose the address that all had, after both came ${how}`, async () => {
      const night = await newNight({ theyHave: { email }, boHas: { email } })
      const { hr, leaving, arriving } = night
      const batches = how === 'in one batch' ? [[leaving, arriving]] : [[arriving], [leaving]]
      for (const batch of batches) await fixture.write(hr, ...batch)
      await fixture.followed()
      const bo = await fixture.coreIdOf(hr, 'identity', 'bo')
      await fixture.clock.sleep(10 * DAY_MS)
      await fixture.write(hr, person('cy', 2), person('di', 3))
      await assertIsNobodyElse(night, bo)
    })
  }
})

describe('A membership for a position that goes to a colleague with the same address', () => {
  /** Ann is in a group with her position. Ben has the same address. */
  async function holdingColleague() {
    const hr = await fixture.newSource(JOIN_ON)
    const [first, second] = users(1, 2) as [string, string]
    const shared = { email: 'office@one.example' }
    await fixture.write(
      hr,
      identity('ann', { displayName: 'Ann', directoryObjectId: first, ...shared }),
      identity('ben', { displayName: 'Ben', directoryObjectId: second, ...shared }),
      position('job', 'ann', { title: 'Head' }),
    )
    const collectionId = await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'ann')], 'Relationship')
    return { hr, first, collectionId, group: await fixture.linkedGroup(collectionId) }
  }

  it('ends within weeks although the position changes in each of them', async () => {
    const { hr, group } = await holdingColleague()
    for (let week = 0; week < 5; week += 1) {
      await fixture.clock.sleep(6 * DAY_MS)
      await fixture.write(hr, position('job', 'ben', { title: `Head ${week}` }))
      await fixture.followed()
    }
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  })

  it('ends when both records and the position have not changed for a week', async () => {
    const { hr, first, collectionId, group } = await holdingColleague()
    await fixture.clock.sleep(10 * DAY_MS)
    await fixture.write(hr, position('job', 'ben', { title: 'Head' }))
    for (const days of [0, 6]) {
      await fixture.clock.sleep(days * DAY_MS)
      await fixture.followed()
      assert.deepEqual([...(await fixture.membersOf(group))], [first])
    }
    await fixture.clock.sleep(DAY_MS)
    await fixture.followed()
    assert.deepEqual(await requestsOf(collectionId), [['Left', 'The position was handed over to another person']])
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  })

  for (const [what, key, value, days] of [
    ['national identity number', 'nin', '02029012345', 10],
    ['employee number', 'employeeNumber', '4711', 10],
    ['address, and the former one goes within a week of the position', 'email', 'eva@one.example', 6],
  ] as const) {
    it(`stays, however old the records are, when both have the same ${what}`, async () => {
      const hr = await fixture.newSource(JOIN_ON)
      const data = { displayName: 'Eva', [key]: value }
      const withAccount = { ...data, directoryObjectId: users(3, 1)[0] as string }
      await fixture.write(hr, identity('eva', withAccount), position('post', 'eva', { title: 'Head' }))
      const collectionId = await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'eva')], 'Relationship')
      const group = await fixture.linkedGroup(collectionId)
      await fixture.write(hr, identity('eva again', data))
      await fixture.clock.sleep(10 * DAY_MS)
      await fixture.write(hr, position('post', 'eva again', { title: 'Head' }))
      await fixture.followed()
      await fixture.clock.sleep(days * DAY_MS)
      await fixture.followed()
      await fixture.write(hr, gone('identity', 'eva'), identity('eva again', withAccount))
      await fixture.followed()
      await fixture.followed()
      assert.deepEqual(await requestsOf(collectionId), [['Joined', undefined]])
      assert.deepEqual([...(await fixture.membersOf(group))], [withAccount.directoryObjectId])
    })
  }
})
