import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Service } from '../../functions/app/service.ts'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import {
  type AccountFixture,
  CALLER,
  gone,
  identity,
  openAccountFixture,
  position,
} from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

const MINUTE_MS = 60_000
/** Longer than the times of comparisons and of account changes are uncertain. */
const QUIET_MS = 10 * MINUTE_MS

let fixture: AccountFixture
/** Evaluates all the time, as an instance does. */
let evaluating: Service
before(async () => {
  fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true, isDirect: true })
  evaluating = fixture.newService()
})
after(() => fixture.close())

let placeCount = 0
const ACCOUNTS_PER_PLACE = 5

/** People by number, with accounts of their own, and a linked collection of those with a name. */
async function newPlace(objectType: 'Identity' | 'Relationship' = 'Identity') {
  placeCount += 1
  const source = await fixture.newSource()
  const [name, first] = [`Place ${placeCount}`, placeCount * ACCOUNTS_PER_PLACE]
  const account = (number: number) => user(first + number)
  const externalId = (number: number) => `${number} of ${name}`
  const person = (number: number, data: ObjectData = { directoryObjectId: account(number) }) =>
    identity(externalId(number), { displayName: name, nin: externalId(number), ...data })
  const elsewhere = (number: number) => person(number, { displayName: 'Elsewhere', directoryObjectId: account(number) })
  const write = (...writes: Parameters<AccountFixture['write']>[1][]) =>
    fixture.writeThrough(evaluating, source, ...writes)
  const post = (number: number, holder: number, title = name) =>
    position(externalId(number), externalId(holder), { title })
  await write(person(0))
  if (objectType === 'Relationship') await write(post(0, 0))
  const field = objectType === 'Identity' ? 'identityDisplayName' : 'relationshipTitle'
  const collectionId = await fixture.criteria(objectType, field, name)
  const groupId = await fixture.linkedGroup(collectionId)
  // The evaluator finds the link with the next change.
  await write(person(1))
  if (objectType === 'Relationship') await write(post(1, 1))
  await evaluating.evaluator.evaluate(TENANT)
  await fixture.drain(evaluating.links)
  await fixture.clock.sleep(QUIET_MS)
  return {
    name,
    collectionId,
    groupId,
    account,
    person,
    elsewhere,
    post,
    write,
    goneFrom: (of: 'identity' | 'relationship', number: number) => gone(of, externalId(number)),
    members: async () => [...(await fixture.membersOf(groupId))].sort(),
  }
}

/** Evaluates, then delivers all messages to an instance that has just started. @returns That instance. */
async function follow(): Promise<Service> {
  await evaluating.evaluator.evaluate(TENANT)
  const syncing = fixture.newService()
  await fixture.drain(syncing.links)
  return syncing
}

async function followedWithoutRows(): Promise<void> {
  const { collections } = await follow()
  assert.equal(collections.snapshots.holds(TENANT), false)
}

describe('An incremental sync by an instance without the rows', () => {
  it('writes who joins and leaves, with the accounts that the evaluator has stored', async () => {
    const { write, person, elsewhere, account, members, goneFrom, collectionId } = await newPlace()
    await write(person(2), elsewhere(0))
    await followedWithoutRows()
    assert.deepEqual(await members(), [account(1), account(2)])
    await write(goneFrom('identity', 1))
    await followedWithoutRows()
    assert.deepEqual(await members(), [account(2)])
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ type }) => type),
      ['LinkCreated'],
    )
  })

  it('keeps the account of a person who loses one of two positions', async () => {
    const { write, post, account, members, goneFrom } = await newPlace('Relationship')
    await write(post(2, 0))
    await followedWithoutRows()
    await write(goneFrom('relationship', 0), goneFrom('relationship', 1))
    await followedWithoutRows()
    assert.deepEqual(await members(), [account(0)])
    await write(goneFrom('relationship', 2))
    await followedWithoutRows()
    assert.deepEqual(await members(), [])
  })

  it('applies several changes at once: who left and came back stays', async () => {
    const { write, person, elsewhere, account, members } = await newPlace()
    await write(elsewhere(0))
    await evaluating.evaluator.evaluate(TENANT)
    await write(person(0), person(2))
    await evaluating.evaluator.evaluate(TENANT)
    await write(elsewhere(1))
    await followedWithoutRows()
    assert.deepEqual(await members(), [account(0), account(2)])
  })

  it('removes none while a member has no account', async () => {
    const { write, person, elsewhere, account, members } = await newPlace()
    await write(person(2, {}), elsewhere(0))
    await followedWithoutRows()
    assert.deepEqual(await members(), [account(0), account(1)])
    await write(person(2))
    await follow()
    assert.deepEqual(await members(), [account(1), account(2)])
  })
})

describe('Stored accounts', () => {
  it('lack a change in which a member left whose account had just changed: the group is compared', async () => {
    const { name, write, person, account, members } = await newPlace()
    await write(person(0, { displayName: `Not ${name}`, directoryObjectId: account(3) }))
    await follow()
    assert.deepEqual(await members(), [account(1)])
  })

  it('that are older than the last comparison of the link are determined again', async () => {
    const { write, person, account, members, collectionId } = await newPlace()
    await write(person(2))
    await evaluating.evaluator.evaluate(TENANT)
    await write(person(2, { directoryObjectId: account(3) }))
    const [link] = await fixture.deps.links.ofCollection(TENANT, collectionId)
    assert.ok(link !== undefined)
    await fixture.deps.links.replace({ ...link.value, comparedAtMs: fixture.clock.nowMs() }, link.version)
    await fixture.drain(fixture.newService().links)
    assert.deepEqual(await members(), [account(0), account(1), account(3)])
  })

  it('of a former condition are not written before the new one is evaluated', async () => {
    const { name, write, elsewhere, account, members, collectionId } = await newPlace()
    await write(elsewhere(0))
    await evaluating.evaluator.evaluate(TENANT)
    const field = 'identityDisplayName'
    const conditions = [{ id: field, field, operator: 'In', value: [name, 'Elsewhere'] }]
    const body = { objectType: 'Identity', condition: { groupOperator: 'AND', conditions } } as const
    const update = { id: collectionId, body, ifMatch: undefined, caller: CALLER }
    await updateCriteriaCollection(update, evaluating.collections)
    await fixture.drain(fixture.newService().links)
    assert.ok((await members()).includes(account(0)))
  })
})

type Step =
  | {
      readonly kind: 'person'
      readonly person: number
      readonly isMember: boolean
      readonly account: number | undefined
    }
  | { readonly kind: 'gone'; readonly person: number }
  | { readonly kind: 'evaluate' | 'deliver' | 'sync' }
  | { readonly kind: 'pass'; readonly minutes: number }

const person = fc.nat({ max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('person' as const),
      person,
      isMember: fc.boolean(),
      // Two people can claim one account. Some people have none.
      account: fc.option(fc.nat({ max: ACCOUNTS_PER_PLACE - 1 }), { nil: undefined, freq: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), person }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('evaluate' as const, 'deliver' as const, 'sync' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), minutes: fc.constantFrom(1, 6, 180) }) },
)

/** The environment gives other runs and another seed. */
const RUNS_COUNT = Number(process.env.STORED_ACCOUNTS_RUNS ?? 5)
const SEED = Number(process.env.STORED_ACCOUNTS_SEED ?? 7)

it('A group has the accounts of the members after any changes of people and accounts, evaluated and synced in any order', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const place = await newPlace()
      for (const step of steps) {
        if (step.kind === 'person') {
          const { account } = step
          const data = account === undefined ? {} : { directoryObjectId: place.account(account) }
          const displayName = step.isMember ? {} : { displayName: 'Elsewhere' }
          await place.write(place.person(step.person, { ...displayName, ...data }))
        } else if (step.kind === 'gone') await place.write(place.goneFrom('identity', step.person))
        else if (step.kind === 'evaluate') await evaluating.evaluator.evaluate(TENANT)
        else if (step.kind === 'deliver') await fixture.deliverNext(fixture.newService().links)
        else if (step.kind === 'pass') await fixture.clock.sleep(step.minutes * MINUTE_MS)
        else await follow()
      }
      await follow()
      const { accounts, withoutAccountCount } = await fixture
        .newService()
        .links.collections.accountsOf(TENANT, place.collectionId)
      const group = await fixture.membersOf(place.groupId)
      assert.deepEqual([...accounts.difference(group)], [])
      if (withoutAccountCount === 0) assert.deepEqual([...group.difference(accounts)], [])
    }),
    { numRuns: RUNS_COUNT, seed: SEED },
  ))
