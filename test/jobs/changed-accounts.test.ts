import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

const HOURS_MS = 60 * 60 * 1000

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
// What the tests before have moved is then of the past.
beforeEach(() => fixture.clock.sleep(3 * HOURS_MS))
after(() => fixture.close())

let accountCount = 0

/** Unused accounts, in ascending order: two people without a `nin` and with one account would be joined. */
function newAccounts(count: number): string[] {
  accountCount += count
  return users(accountCount - count, count)
}

/** A source whose people all have a display name of their own, by which a collection finds them. */
async function newPlace() {
  const source = await fixture.newSource()
  const name = `Place ${source.id}`
  const person = (externalId: string, account: string | undefined, more: ObjectData = {}): ObjectWrite =>
    identity(`${externalId} ${name}`, {
      displayName: name,
      nin: `${externalId} ${name}`,
      ...(account === undefined ? {} : { directoryObjectId: account }),
      ...more,
    })
  return {
    source,
    name,
    person,
    write: (...writes: ObjectWrite[]) => fixture.write(source, ...writes),
    post: (externalId: string, holder: string, title = name) =>
      position(`${externalId} ${name}`, `${holder} ${name}`, { title }),
    gone: (objectType: ObjectWrite['objectType'], externalId: string) => gone(objectType, `${externalId} ${name}`),
  }
}

const membersOf = async (groupId: string) => [...(await fixture.membersOf(groupId))].sort()

async function storedMoves(sinceMs = 0) {
  return fixture.coldProcess().collections.accountChanges.since(TENANT, sinceMs)
}

describe('A group whose members change accounts, in a process that has just started', () => {
  for (const [claim, hadOne, getsOne] of [
    ['follows one account to another', true, true],
    ['gets an account that a member had not', false, true],
    ['loses an account that a member has no more, once all have one', true, false],
  ] as const) {
    it(claim, async () => {
      const place = await newPlace()
      const [first, second, third, ofBo] = newAccounts(4)
      await place.write(place.person('Ann', hadOne ? first : undefined), place.person('Bo', ofBo))
      const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'identityDisplayName', place.name))
      await place.write(place.person('Ann', getsOne ? second : undefined))
      await fixture.followed()
      if (!getsOne) {
        // No account is removed while a member has none.
        assert.deepEqual(await membersOf(groupId), [first, ofBo])
        await place.write(place.person('Ann', third))
        await fixture.followed()
      }
      assert.deepEqual(await membersOf(groupId), [getsOne ? second : third, ofBo])
    })
  }

  it('keeps the account of a person who loses one of two positions, and not that of one who loses the last', async () => {
    const place = await newPlace()
    const [ann, bo] = newAccounts(2)
    await place.write(place.person('Ann', ann), place.person('Bo', bo))
    await place.write(place.post('first', 'Ann'), place.post('second', 'Ann'), place.post('third', 'Bo'))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Relationship', 'relationshipTitle', place.name))
    await place.write(place.gone('relationship', 'first'), place.gone('relationship', 'third'))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [ann])
  })

  it('follows the person who holds a position, and a position that comes to another person', async () => {
    const place = await newPlace()
    const [first, second, third] = newAccounts(3)
    await place.write(place.person('Ann', first), place.person('Bo', second), place.post('post', 'Ann'))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Relationship', 'relationshipTitle', place.name))
    assert.deepEqual(await membersOf(groupId), [first])
    await place.write(place.person('Ann', third))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [third])
    await place.write(place.post('post', 'Bo'))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [second])
  })

  it('follows members of a joinable collection', async () => {
    const place = await newPlace()
    const [first, second, third] = newAccounts(3)
    await place.write(place.person('Ann', first), place.person('Bo', third))
    const ids = await Promise.all(
      ['Ann', 'Bo'].map((each) => fixture.coreIdOf(place.source, 'identity', `${each} ${place.name}`)),
    )
    const groupId = await fixture.linkedGroup(await fixture.joinable(ids))
    assert.deepEqual(await membersOf(groupId), [first, third])
    await place.write(place.person('Ann', second))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [second, third])
  })

  it('follows identities that are merged with others and split again', async () => {
    const place = await newPlace()
    const [first, second] = newAccounts(2)
    const accounts: Connector = await fixture.newSource()
    await place.write(place.person('Ann', undefined))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'identityDisplayName', place.name))
    const account = (nin: string) => place.person('of Ann', first, { nin: `${nin} ${place.name}`, displayName: nin })
    await fixture.write(accounts, account('Ann'))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [first])
    await fixture.write(accounts, account('somebody else'))
    await place.write(place.person('Bo', second))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [first, second])
    await place.write(place.gone('identity', 'Ann'))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [second])
  })

  it('follows an identity that is deleted and restored with another account between two evaluations', async () => {
    const place = await newPlace()
    const [first, second] = newAccounts(2)
    await place.write(place.person('Ann', first))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'identityDisplayName', place.name))
    await place.write(place.gone('identity', 'Ann'))
    await place.write(place.person('Ann', second))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [second])
  })

  it('loses the former account of a member that leaves at the same time', async () => {
    const place = await newPlace()
    const [first, second, third] = newAccounts(3)
    await place.write(place.person('Ann', first), place.person('Bo', third))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'identityDisplayName', place.name))
    await place.write(place.person('Ann', second, { displayName: 'Elsewhere' }))
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [third])
  })

  it('loses the former account of a member that leaves, and comes back with another one before either is written', async () => {
    const place = await newPlace()
    const [first, second, third] = newAccounts(3)
    await place.write(place.person('Ann', first), place.person('Bo', third))
    const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'identityDisplayName', place.name))
    const evaluating = fixture.coldProcess()
    await evaluating.evaluate()
    await place.write(place.person('Ann', undefined, { displayName: 'Elsewhere' }))
    await evaluating.evaluate()
    await place.write(place.person('Ann', second))
    await fixture.followed(evaluating)
    assert.deepEqual(await membersOf(groupId), [second, third])
  })

  it('is compared once for a change, however many processes start', async () => {
    const place = await newPlace()
    const [first, second] = newAccounts(2)
    await place.write(place.person('Ann', first))
    const collectionId = await fixture.criteria('Identity', 'identityDisplayName', place.name)
    await fixture.linkedGroup(collectionId)
    await fixture.clock.sleep(HOURS_MS)
    await place.write(place.person('Ann', second))
    const [one, other] = [fixture.coldProcess(), fixture.coldProcess()]
    await Promise.all([one.evaluate(), other.evaluate()])
    await fixture.drain(one.sync)
    await fixture.clock.sleep(HOURS_MS / 2)
    // Still dated close to the change, so compared once more for certainty; then never again.
    await fixture.followed()
    const jobCount = (await fixture.jobsOf(collectionId)).length
    await fixture.clock.sleep(HOURS_MS / 2)
    await fixture.followed()
    await fixture.followed()
    assert.equal((await fixture.jobsOf(collectionId)).length, jobCount)
    assert.ok(jobCount <= 3, `${jobCount} jobs`)
  })
})

describe('A member who joined while no message could be enqueued', () => {
  it('is in the group after the first evaluation of a process that has just started', async () => {
    const place = await newPlace()
    const [first, second] = newAccounts(2)
    await place.write(place.person('Ann', first), place.person('Bo', second))
    const coreIdOf = (name: string) => fixture.coreIdOf(place.source, 'identity', `${name} ${place.name}`)
    const collectionId = await fixture.joinable([await coreIdOf('Ann')])
    const groupId = await fixture.linkedGroup(collectionId)
    const { requests } = fixture.coldProcess()
    const enqueue = () => Promise.reject(new Error('The queue is away'))
    await fixture.join(collectionId, [await coreIdOf('Bo')], { ...requests, messageQueue: { enqueue: enqueue } })
    await fixture.drain()
    assert.deepEqual(await membersOf(groupId), [first])
    await fixture.followed()
    assert.deepEqual(await membersOf(groupId), [first, second])
    assert.equal((await fixture.jobsOf(collectionId)).length, 1)
  })
})

describe('The time at which an account changed', () => {
  it('is not stored for objects that are created with their account, in any order', async () => {
    const place = await newPlace()
    const sinceMs = fixture.clock.nowMs()
    const many = newAccounts(500).map((account, index) => place.person(`Person ${index}`, account))
    await place.write(...many)
    await place.write(...many.map((_, index) => place.post(`Post ${index}`, `Person ${index}`)))
    const collections = [
      await fixture.criteria('Identity', 'identityDisplayName', place.name),
      await fixture.criteria('Relationship', 'relationshipTitle', place.name),
    ]
    for (const id of collections) await fixture.linkedGroup(id)
    assert.deepEqual(await storedMoves(sinceMs), [])
    await fixture.followed()
    for (const id of collections) {
      assert.deepEqual(
        (await fixture.jobsOf(id)).map(({ type }) => type),
        ['LinkCreated'],
      )
    }
  })

  it('is kept by changes of other attributes, and is not part of the core object', async () => {
    const place = await newPlace()
    const [first, second] = newAccounts(2)
    const sinceMs = fixture.clock.nowMs()
    await place.write(place.person('Ann', first))
    await place.write(place.person('Ann', second))
    const [moved, ...others] = await storedMoves(sinceMs)
    const id = await fixture.coreIdOf(place.source, 'identity', `Ann ${place.name}`)
    assert.deepEqual([moved?.id, moved?.objectType, others.length], [id, 'identity', 0])
    await place.write(place.person('Ann', second, { displayName: 'Another' }))
    await place.write(place.gone('identity', 'Ann'))
    assert.deepEqual(await storedMoves(sinceMs), [moved])
    await place.write(place.person('Ann', second))
    assert.deepEqual(await storedMoves(sinceMs), [moved])
    const [shown] = await fixture.coreObjects.ofIds(TENANT, 'identity', [id])
    assert.deepEqual(Object.keys(shown ?? {}).sort(), [
      'attributes',
      'deleted',
      'externalId',
      'id',
      'lastUpdatedS',
      'objectType',
    ])
  })

  it('is found among many ids and among few', async () => {
    const place = await newPlace()
    const [first, second, third, fourth] = newAccounts(4)
    await place.write(place.person('Ann', first), place.person('Bo', third))
    await place.write(place.person('Ann', second), place.person('Bo', fourth))
    const id = await fixture.coreIdOf(place.source, 'identity', `Ann ${place.name}`)
    const { accountChanges } = fixture.coldProcess().collections
    for (const count of [0, 3000]) {
      const ids = [...Array.from({ length: count }, () => randomUUID()), id]
      assert.deepEqual(
        (await accountChanges.amongSince(TENANT, ids, 0)).map((move) => move.id),
        [id],
      )
    }
    assert.deepEqual(await accountChanges.amongSince(TENANT, [id], fixture.clock.nowMs()), [])
  })
})
