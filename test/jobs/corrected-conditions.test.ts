import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Service } from '../../functions/app/service.ts'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { Directory } from '../../shared/domain/group-links/directory.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { type AccountFixture, CALLER, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { SERVICE, TENANT, user } from '../support/jobs/link-directory.ts'

const MINUTE_MS = 60_000
/** Longer than the times of comparisons and of account changes are uncertain. */
const QUIET_MS = 10 * MINUTE_MS
const FIELD = 'identityDisplayName'

let fixture: AccountFixture
/** Evaluates all the time, as an instance does. */
let evaluating: Service
before(async () => {
  fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true, isDirect: true })
  evaluating = fixture.newService()
})
after(() => fixture.close())

let placeCount = 0

/**
 * A linked collection of two people. One of them has just left it, because the condition no longer includes the name:
 * the group does not know yet. Or that one has just joined it, because the condition now includes the name.
 */
async function newPlace({ isJoining = false } = {}) {
  placeCount += 1
  const source = await fixture.newSource()
  const name = `Place ${placeCount}`
  const [one, both] = [[name], [name, `${name} East`]]
  const [right, wrong] = isJoining ? [one, both] : [both, one]
  const [account, other] = [user(placeCount * 2), user(placeCount * 2 + 1)]
  const person = (externalId: string, displayName: string, directoryObjectId: string) =>
    identity(`${externalId} of ${name}`, { displayName, nin: `${externalId} ${name}`, directoryObjectId })
  const define = async (value: readonly string[]) => {
    const conditions = [{ id: FIELD, field: FIELD, operator: 'In', value: [...value] }]
    const body = { objectType: 'Identity', condition: { groupOperator: 'AND', conditions } } as const
    const update = { id: collectionId, body, ifMatch: undefined, caller: CALLER }
    await updateCriteriaCollection(update, evaluating.collections)
  }
  await fixture.writeThrough(evaluating, source, person('who leaves', `${name} East`, account))
  await fixture.writeThrough(evaluating, source, person('who stays', name, other))
  const collectionId = await fixture.criteria('Identity', FIELD, name)
  await define(right)
  const groupId = await fixture.linkedGroup(collectionId)
  await fixture.clock.sleep(QUIET_MS)
  await define(wrong)
  await evaluating.evaluator.evaluate(TENANT)
  return {
    collectionId,
    groupId,
    account,
    other,
    /** The condition is as it was before. Another instance has begun to evaluate it. */
    async correct(): Promise<void> {
      await define(right)
      await fixture.evaluateElsewhere()
    },
  }
}

type Place = Awaited<ReturnType<typeof newPlace>>

/** Delivers messages until none of this queue waits. */
async function deliver(queue: 'membership-changes' | 'sync-jobs', { links }: Service): Promise<void> {
  while (fixture.sentMessages.some(({ message }) => message.queue === queue)) await fixture.deliverNext(links)
}

async function assertNever(kind: 'added' | 'removed', { groupId, account, other }: Place): Promise<void> {
  await fixture.clock.sleep(MINUTE_MS)
  await evaluating.evaluator.evaluate(TENANT)
  await fixture.drain(fixture.newService().links)
  assert.deepEqual(await fixture.membersOf(groupId), new Set(kind === 'added' ? [other] : [account, other]))
  const changes = fixture.server
    .membershipChanges(0)
    .filter((change) => change.kind === kind && change.clientId === SERVICE && change.memberId === account)
  assert.deepEqual(changes, [])
}

/** An instance that has just started. A call of the directory takes as long as the correction of the condition. */
function instanceWhile(call: 'checkChange' | 'listMembers', { correct }: Place) {
  const { directory } = fixture
  let isCorrected = false
  const slow = async () => {
    if (!isCorrected) await correct()
    isCorrected = true
  }
  const slowDirectory: Directory = {
    ...directory,
    async [call](...args: never) {
      await slow()
      return (directory[call] as (...args: never) => Promise<never>)(...args)
    },
  }
  return { service: fixture.newService({ directory: slowDirectory }), isCorrected: () => isCorrected }
}

describe('A member whom a corrected condition includes again is not removed while another instance evaluates it', () => {
  it('by the change of the former condition, which comes late', async () => {
    const place = await newPlace()
    await place.correct()
    await deliver('membership-changes', fixture.newService())
    await assertNever('removed', place)
  })

  it('by a change that was read before the correction', async () => {
    const place = await newPlace()
    const { service, isCorrected } = instanceWhile('checkChange', place)
    await deliver('membership-changes', service)
    assert.ok(isCorrected())
    await assertNever('removed', place)
  })

  it('by a job whose plan is older than the correction', async () => {
    const place = await newPlace()
    fixture.sentMessages.length = 0
    const { service, isCorrected } = instanceWhile('listMembers', place)
    await requestSync(TENANT, place.collectionId, service.links)
    await deliver('sync-jobs', service)
    assert.ok(isCorrected())
    await assertNever('removed', place)
  })
})

describe('A person whom a corrected condition leaves out again is not added while another instance evaluates it', () => {
  for (const [claim, accepted] of [
    ['', []],
    [', where the link accepts members without an account', ['eeeeeeee-0000-4000-8000-000000000001']],
  ] as const) {
    it(`by the change of the former condition, which comes late${claim}`, async () => {
      const place = await newPlace({ isJoining: true })
      const { links } = fixture.deps
      const { value, version } = (await links.ofGroup(TENANT, place.groupId)) ?? assert.fail()
      await links.replace({ ...value, acceptedWithoutAccount: accepted }, version)
      await place.correct()
      await deliver('membership-changes', fixture.newService())
      await assertNever('added', place)
    })
  }
})
