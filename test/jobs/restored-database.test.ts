import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Container } from '@azure/cosmos'
import type { Service } from '../../functions/app/service.ts'
import { CONTAINERS, type ContainerId } from '../../shared/cosmos/containers.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { connectorObjectId } from '../../shared/domain/connectors/connector-object.ts'
import { enqueueSweeps } from '../../shared/domain/sync/sweep.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

type Documents = ReadonlyMap<ContainerId, readonly (Record<string, unknown> & { id: string })[]>

const IDS = CONTAINERS.map(({ id }) => id)
const HOUR_MS = 3_600_000

async function documentsOf(container: Container): Promise<(Record<string, unknown> & { id: string })[]> {
  const iterator = container.items.query<Record<string, unknown> & { id: string }>('SELECT * FROM c')
  const found: (Record<string, unknown> & { id: string })[] = []
  while (iterator.hasMoreResults()) found.push(...((await iterator.fetchNext()).resources ?? []))
  return found
}

async function backup(fixture: AccountFixture): Promise<Documents> {
  return new Map(await Promise.all(IDS.map(async (id) => [id, await documentsOf(fixture.container(id))] as const)))
}

/** A new account with these documents, which keep the times of their writes, and what is written from now on. */
async function restored(fixture: AccountFixture, documentsOfContainer: (id: ContainerId) => Documents) {
  let atMs: number | undefined = 0
  const account = await startDirectAccount(() => atMs ?? fixture.clock.nowMs())
  const all = IDS.flatMap((id) => (documentsOfContainer(id).get(id) ?? []).map((document) => ({ id, document })))
  for (const { id, document } of all.toSorted(
    (left, right) => Number(left.document._ts) - Number(right.document._ts),
  )) {
    atMs = Number(document._ts) * 1000
    await account.container(id).items.create(document)
  }
  atMs = undefined
  return account
}

/**
 * Delivers all messages to an instance that has just started, except those of closed queues, which stay.
 * @param delivered is called after each message.
 */
async function drain(
  fixture: AccountFixture,
  service: Service,
  { closed = [] as readonly QueueName[], delivered = async () => {} } = {},
): Promise<void> {
  const isOpen = ({ message }: (typeof fixture.sentMessages)[number]) => !closed.includes(message.queue)
  for (let count = 0; ; count += 1) {
    assert.ok(count < 300, 'The messages never end')
    const next = fixture.sentMessages.sort((left, right) => left.dueMs - right.dueMs).find(isOpen)
    if (next === undefined) return
    fixture.sentMessages.splice(fixture.sentMessages.indexOf(next), 1)
    const waitMs = next.dueMs - fixture.clock.nowMs()
    if (waitMs > 0) await fixture.clock.sleep(waitMs)
    await service.messages[next.message.queue].handle(next.message.message)
    await delivered()
  }
}

/** Until sweeps find that nothing has changed. */
async function settle(fixture: AccountFixture, service: Service): Promise<void> {
  for (let hour = 0; hour < 8; hour += 1) {
    await fixture.clock.sleep(HOUR_MS)
    await enqueueSweeps(undefined, service.links)
    await drain(fixture, service)
    const links = await service.links.links.ofTenant(TENANT)
    if (links.every(({ value }) => value.isSweptUnchanged)) return
  }
  throw new Error('The sweeps never find the links unchanged')
}

/**
 * A tenant whose groups follow a place and a choir, in two states: its people change in between, each collection once.
 * @param visitCount How often another member comes and leaves: each visit adds two versions of the members.
 */
async function tenantInTwoStates(t: TestContext, visitCount = 0) {
  const fixture = await openAccountFixture({ databaseSharesClock: true, sharesClock: true })
  t.after(() => fixture.close())
  const source = await fixture.newSource()
  const person = (index: number, isThere: boolean) =>
    identity(`${index}`, { displayName: isThere ? 'There' : 'Elsewhere', directoryObjectId: user(index) })
  await fixture.write(source, ...[0, 1, 2, 3].map((index) => person(index, index < 2)), position('Nurse', '0'))
  const idOf = async (index: number, { connectors } = fixture.newService()) => {
    const names = { connectorId: source.id, objectType: 'identity', externalId: `${index}` } as const
    const [object] = await connectors.objects.ofIds(TENANT, [connectorObjectId(names, derivedId)])
    return object?.value.coreObjectId ?? ''
  }
  const placeId = await fixture.criteria('Identity', 'identityDisplayName', 'There')
  const choirId = await fixture.joinable([await idOf(0)])
  const singersId = await fixture.criteria('Identity', 'memberOfCollection', choirId)
  const groups = {
    place: await fixture.linkedGroup(placeId),
    choir: await fixture.linkedGroup(singersId),
    requested: await fixture.linkedGroup(choirId),
  }
  const service = fixture.newService()
  await service.evaluator.evaluate(TENANT)
  await drain(fixture, service)
  await settle(fixture, service)
  const before = await backup(fixture)
  /** What HR delivers, with new people. */
  const importHr = (instance: Service, ...more: number[]) =>
    fixture.writeThrough(
      instance,
      source,
      person(2, true),
      person(1, false),
      gone('relationship', 'Nurse'),
      ...more.map((index) => person(index, true)),
    )
  const follow = async () => {
    await service.evaluator.evaluate(TENANT)
    await drain(fixture, service)
  }
  await importHr(service)
  await fixture.join(choirId, [await idOf(3)], service.requests)
  await follow()
  for (const _ of Array.from({ length: visitCount })) {
    await fixture.writeThrough(service, source, person(1, true))
    await fixture.join(choirId, [await idOf(1)], service.requests)
    await follow()
    await fixture.writeThrough(service, source, person(1, false))
    await fixture.leave(choirId, [await idOf(1)])
    await follow()
  }
  await settle(fixture, service)
  const collections = { place: placeId, choir: singersId }
  return { fixture, idOf, groups, collections, importHr, before, after: await backup(fixture) }
}

describe('After a restore', () => {
  for (const older of IDS) {
    it(`in which container ${older} is one change older, groups and members are right after one sweep`, async (t) => {
      const { fixture, idOf, groups, collections, importHr, before, after } = await tenantInTwoStates(t)
      const { cosmos, container } = await restored(fixture, (id) => (id === older ? before : after))
      t.after(() => cosmos.close())
      const service = fixture.newService({ container })
      await fixture.clock.sleep(2 * HOUR_MS)
      const startMs = fixture.clock.nowMs()
      // The first import can come before the sweep.
      for (const more of [4, 5]) {
        await importHr(service, more)
        await drain(fixture, service)
        if (more === 4) await enqueueSweeps(undefined, service.links, { afterRestore: true })
        await drain(fixture, service)
      }
      assert.ok(fixture.clock.nowMs() - startMs < HOUR_MS)
      // The second singer has joined after the time to which the requests were restored.
      const expected = { place: [0, 2, 4, 5], choir: older === 'requests' ? [0] : [0, 3] }
      for (const name of ['place', 'choir'] as const) {
        const members = await service.collections.memberships.members(TENANT, collections[name])
        const ids = await Promise.all(expected[name].map((index) => idOf(index, service)))
        assert.deepEqual(members?.ids, ids.sort(), `members of ${name}`)
        const accounts = new Set(expected[name].map((index) => user(index)))
        assert.deepEqual(await fixture.membersOf(groups[name]), accounts, `group of ${name}`)
      }
      assert.deepEqual(await fixture.membersOf(groups.requested), await fixture.membersOf(groups.choir))
      const { items } = await service.links.jobs.page(TENANT, {}, undefined, 50)
      assert.deepEqual(new Set(items.map(({ status }) => status)), new Set(['Succeeded']))
    })
  }

  it('groups are never written from old data, when syncs wait for the import and the sweep', async (t) => {
    const { fixture, groups, importHr, before } = await tenantInTwoStates(t)
    const { cosmos, container } = await restored(fixture, () => before)
    t.after(() => cosmos.close())
    const service = fixture.newService({ container })
    const isWritten = () => fixture.membersOf(groups.place)
    assert.deepEqual(await isWritten(), new Set([user(0), user(2)]))
    await fixture.clock.sleep(2 * HOUR_MS)
    const closed = ['sync-jobs', 'membership-changes'] as const
    // The hourly sweep and evaluations go on meanwhile.
    await enqueueSweeps(undefined, service.links)
    await service.evaluator.evaluate(TENANT)
    await drain(fixture, service, { closed })
    await importHr(service, 4)
    await drain(fixture, service, { closed })
    await enqueueSweeps(undefined, service.links, { afterRestore: true })
    await drain(fixture, service, { closed })
    assert.deepEqual(await isWritten(), new Set([user(0), user(2)]), 'before the queues are open again')
    const startMs = fixture.clock.nowMs()
    await drain(fixture, service, {
      async delivered() {
        const members = await isWritten()
        assert.ok(!members.has(user(1)), 'who has left is not added')
        assert.ok(members.has(user(2)), 'who has come is not removed')
      },
    })
    assert.ok(fixture.clock.nowMs() - startMs < HOUR_MS)
    assert.deepEqual(await isWritten(), new Set([user(0), user(2), user(4)]))
    // Who joined after the restore point must join again.
    assert.deepEqual(await fixture.membersOf(groups.requested), new Set([user(0)]))
  })

  for (const older of ['members', 'requests', 'links'] as const) {
    it(`in which container ${older} is several changes older, every link is synced by one sweep`, async (t) => {
      const { fixture, groups, before, after } = await tenantInTwoStates(t, 2)
      const { cosmos, container } = await restored(fixture, (id) => (id === older ? before : after))
      t.after(() => cosmos.close())
      const service = fixture.newService({ container })
      await fixture.clock.sleep(2 * HOUR_MS)
      await enqueueSweeps(undefined, service.links, { afterRestore: true })
      await drain(fixture, service)
      const singers = new Set(older === 'requests' ? [user(0)] : [user(0), user(3)])
      assert.deepEqual(await fixture.membersOf(groups.place), new Set([user(0), user(2)]))
      assert.deepEqual(await fixture.membersOf(groups.choir), singers)
      assert.deepEqual(await fixture.membersOf(groups.requested), singers)
      const links = await service.links.links.ofTenant(TENANT)
      assert.deepEqual(
        links.map(({ value }) => value.lastSyncOutcome),
        ['Succeeded', 'Succeeded', 'Succeeded'],
      )
    })
  }
})
