import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AccountChangeStore } from '../../shared/domain/core/core-object-store.ts'
import { syncStateOf } from '../../shared/domain/group-links/sync-state.ts'
import { type AccountFixture, gone, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

const HOUR_MS = 60 * 60_000

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true, isDirect: true })
})
after(() => fixture.close())

let placeCount = 0

/** Two people, and their linked collection, by condition or by request. */
async function newPlace(kind: 'criteria' | 'joinable' = 'criteria') {
  placeCount += 1
  const source = await fixture.newSource()
  const name = `Place ${placeCount}`
  const [former = '', account = '', other = ''] = users(placeCount * 10, 3)
  const write = (...writes: Parameters<AccountFixture['write']>[1][]) => fixture.write(source, ...writes)
  const person = (who: string, directoryObjectId: string, displayName = name) =>
    identity(`${who} of ${name}`, { displayName, nin: `${who} ${name}`, directoryObjectId })
  await write(person('Ann', former), person('Bo', other))
  const coreIdOf = (who: string) => fixture.coreIdOf(source, 'identity', `${who} of ${name}`)
  const collectionId =
    kind === 'criteria'
      ? await fixture.criteria('Identity', 'identityDisplayName', name)
      : await fixture.joinable([await coreIdOf('Ann'), await coreIdOf('Bo')])
  const groupId = await fixture.linkedGroup(collectionId)
  await fixture.clock.sleep(HOUR_MS)
  await fixture.followed()
  return {
    collectionId,
    groupId,
    account,
    other,
    /** Ann gets another account. */
    change: (displayName = name) => write(person('Ann', account, displayName)),
    leave: () => write(gone('identity', `Ann of ${name}`)),
    members: () => fixture.membersOf(groupId),
  }
}

/** All instances are lost, with their messages, until this number of hours has passed. */
async function outage(hours: number): Promise<void> {
  fixture.sentMessages.length = 0
  await fixture.clock.sleep(hours * HOUR_MS)
}

describe('An account that changed before an outage of three hours', () => {
  for (const kind of ['criteria', 'joinable'] as const) {
    it(`is followed after it, in a ${kind} collection`, async () => {
      const { change, account, other, members, collectionId } = await newPlace(kind)
      await change()
      await outage(3)
      await fixture.followed()
      assert.deepEqual(await members(), new Set([account, other]))
      const [link] = await fixture.deps.links.ofCollection(TENANT, collectionId)
      assert.ok(link !== undefined)
      assert.equal(syncStateOf(link.value), 'InSync')
    })
  }

  it('is followed after it when an instance was lost while it evaluated the change', async () => {
    const { change, account, other, members } = await newPlace()
    await change()
    await fixture.evaluateElsewhere()
    await outage(3)
    await fixture.followed()
    assert.deepEqual(await members(), new Set([account, other]))
  })

  it('leaves no former account in the group when the person leaves after it', async () => {
    const { change, leave, other, members } = await newPlace()
    await change()
    await outage(3)
    await fixture.followed()
    await leave()
    await fixture.followed()
    assert.deepEqual(await members(), new Set([other]))
  })

  it('leaves no former account in the group when the person has left during it', async () => {
    const { change, other, members } = await newPlace()
    await change('Elsewhere')
    await outage(3)
    await fixture.followed()
    assert.deepEqual(await members(), new Set([other]))
  })

  it('leaves no former account in the group when only the messages of links were lost for so long', async () => {
    const { change, other, members } = await newPlace()
    const evaluating = fixture.coldProcess()
    await evaluating.evaluate()
    await change('Elsewhere')
    await evaluating.evaluate()
    await fixture.clock.sleep(3 * HOUR_MS)
    await fixture.drain(fixture.coldProcess().sync)
    assert.deepEqual(await members(), new Set([other]))
  })
})

it('An evaluation by an instance that has just started reads only the account changes since the last evaluation', async () => {
  const { change } = await newPlace()
  await change()
  await fixture.clock.sleep(HOUR_MS)
  await fixture.followed()
  await fixture.clock.sleep(HOUR_MS)
  const { accountChanges } = fixture.coldProcess().collections
  const counts: number[] = []
  const counted: AccountChangeStore = {
    ...accountChanges,
    async since(tenantId, sinceMs) {
      const changes = await accountChanges.since(tenantId, sinceMs)
      counts.push(changes.length)
      return changes
    },
  }
  await fixture.coldProcess(undefined, { collections: { accountChanges: counted } }).evaluate()
  assert.deepEqual(counts, [0])
})
