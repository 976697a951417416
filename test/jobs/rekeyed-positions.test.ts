import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

type Write = ReturnType<typeof identity>

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

let accountCount = 0

/** A nurse who has joined a linked collection of positions, and whom HR is about to give a new external id. */
async function memberAtPosition() {
  const hr = await fixture.newSource()
  accountCount += 1
  const account = users(accountCount - 1, 1)[0] as string
  const data = { displayName: `Cy ${account}`, directoryObjectId: account, nin: account }
  await fixture.write(hr, identity('cy', data), position('job', 'cy', { title: 'Nurse' }))
  const coreId = await fixture.coreIdOf(hr, 'identity', 'cy')
  const collectionId = await fixture.joinable([coreId], 'Relationship')
  const group = await fixture.linkedGroup(collectionId)
  assert.deepEqual([...(await fixture.membersOf(group))], [account])
  fixture.server.clearRequests()
  const renamed = identity('renamed cy', data)
  const ofRenamed = position('job', 'renamed cy', { title: 'Nurse' })
  return { hr, account, data, coreId, collectionId, group, renamed, ofRenamed }
}

/** The state and the last entry's notes of the requests of a collection. */
async function requestsOf(collectionId: string) {
  const query = { newestFirst: true, collectionId }
  const { items } = await fixture.coldProcess().requests.requests.page(TENANT, query, undefined, 10)
  return items.map(({ status, lifecycle }) => [status, lifecycle.at(-1)?.notes])
}

describe('A membership for a position, when HR gives the person a new external id', () => {
  const old = gone('identity', 'cy')
  const orders: Readonly<Record<string, (renamed: Write, ofRenamed: Write) => readonly (readonly Write[])[]>> = {
    'in one batch': (renamed, ofRenamed) => [[renamed, ofRenamed, old]],
    'and deletes the former record later': (renamed, ofRenamed) => [[renamed, ofRenamed], [old]],
    'and sends the position later': (renamed, ofRenamed) => [[renamed, old], [ofRenamed]],
    'and sends the position first': (renamed, ofRenamed) => [[ofRenamed], [renamed], [old]],
    'and sends the position last': (renamed, ofRenamed) => [[renamed], [old], [ofRenamed]],
  }
  for (const [order, batches] of Object.entries(orders)) {
    it(`stays all the time, ${order}`, async () => {
      const { hr, account, coreId, collectionId, group, renamed, ofRenamed } = await memberAtPosition()
      for (const batch of batches(renamed, ofRenamed)) {
        await fixture.write(hr, ...batch)
        await fixture.followed()
      }
      assert.equal(await fixture.coreIdOf(hr, 'identity', 'renamed cy'), coreId)
      assert.deepEqual([fixture.removalsSent(), [...(await fixture.membersOf(group))]], [0, [account]])
      assert.deepEqual(await requestsOf(collectionId), [['Joined', undefined]])
    })
  }

  it('ends when the new record turns out to be another person', async () => {
    const { hr, data, collectionId, group, renamed, ofRenamed } = await memberAtPosition()
    await fixture.write(hr, renamed, ofRenamed)
    await fixture.followed()
    assert.deepEqual(await requestsOf(collectionId), [['Joined', undefined]])
    const other = { displayName: 'Di', nin: `other than ${data.nin}` }
    await fixture.write(hr, identity('renamed cy', other))
    await fixture.followed()
    assert.deepEqual(await requestsOf(collectionId), [['Left', 'The position was handed over to another person']])
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  })

  it('ends at once when the position goes to another person', async () => {
    const { hr, collectionId, group } = await memberAtPosition()
    await fixture.write(hr, identity('di', { displayName: 'Di' }), position('job', 'di', { title: 'Nurse' }))
    await fixture.followed()
    assert.deepEqual(await requestsOf(collectionId), [['Left', 'The position was handed over to another person']])
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  })
})
