import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { deliverEvents } from '../../shared/domain/events/deliver-events.ts'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { type EventFixture, eventFixture, receiver, SUBSCRIPTIONS } from '../support/events/event-fixture.ts'

describe('Events after a restore of the database', () => {
  it('tell of changes whose versions come a second time, and of none twice under another id', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['member.*'])
    const collectionId = await fixture.joinable(OPEN)
    const [one, two, three] = [await fixture.person(), await fixture.person(), await fixture.person()]
    await fixture.submit(one, collectionId)
    const requests = fixture.container('requests')
    const restored = await documents()
    fixture.pass(60)
    await fixture.submit(two, collectionId)
    await fixture.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId])
    // The requests are as they were before the second one; what was published is not.
    for (const { id } of await documents()) await requests.item(id, fixture.tenantId).delete()
    for (const document of restored) await requests.items.upsert(document)
    fixture.pass(60)
    await fixture.submit(three, collectionId)
    await fixture.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId, three.identityId])
    const ids = hook.events().map(({ id }) => id)
    assert.equal(new Set(ids).size, 3)

    function told(): string[] {
      return hook.events().map(({ data }) => data.objectId)
    }

    async function documents(): Promise<{ id: string }[]> {
      const query = 'SELECT * FROM c'
      return (await requests.items.query<{ id: string }>(query, { partitionKey: fixture.tenantId }).fetchAll())
        .resources
    }
  })
})

describe('A receiver that does not answer', () => {
  it('delays no other, and ends the invocation after a second', async () => {
    const fixture = await eventFixture({ overrides: { sleep: setTimeout } })
    const silent = await receiver(() => new Promise(() => undefined))
    const fast = await receiver()
    for (let count = 0; count < 5; count += 1) await fixture.subscribe(silent.url, ['collection.*'])
    await fixture.subscribe(fast.url, ['collection.*'])
    await fixture.joinable(OPEN)
    const startMs = performance.now()
    // One invocation after the other: those before the fast receiver's cannot wait for an answer.
    await fixture.drain()
    const durationMs = performance.now() - startMs
    assert.equal(fast.delivered.length, 1)
    assert.ok(durationMs < 7_000, `${durationMs} ms`)
    assert.equal(silent.delivered.length, 5)
    silent.close()
  })
})

describe('Events of many collections that change in one evaluation', () => {
  it('are published together, each change once', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['member.*'])
    const collectionIds: string[] = []
    for (const initial of ['A', 'B', 'C', 'D', 'E']) {
      const startsWith = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'StartsWith' }
      const conditions = [{ ...startsWith, value: initial }]
      collectionIds.push(await fixture.criteria('Identity', { groupOperator: 'AND', conditions }))
    }
    const evaluated = async (...names: string[]) => {
      for (const displayName of names) await fixture.put('identity', { displayName })
      await fixture.evaluator.evaluate(fixture.tenantId)
      await fixture.drain()
      const told = hook.delivered.splice(0).map(({ event }) => collectionIds.indexOf(event.data.collectionId))
      return told.sort()
    }
    assert.deepEqual(await evaluated('A1', 'B1', 'C1', 'D1', 'E1'), [0, 1, 2, 3, 4])
    assert.deepEqual(await evaluated('A2', 'A3', 'C2', 'D2', 'E2'), [0, 0, 2, 3, 4])
    assert.deepEqual(await evaluated(), [])
  })
})

/** Publishes what has happened, and loses the messages that would have it delivered. */
async function publishOnly(fixture: EventFixture): Promise<void> {
  for (const { message } of fixture.sent.splice(0)) {
    if (message.queue === 'events') await fixture.service.messages.events.handle(message.message)
  }
  fixture.sent.splice(0)
}

describe('A receiver that is slow', () => {
  it('is left to another worker in time, so that no two deliver to it at once', async () => {
    const fixture = await eventFixture()
    const hook = await receiver(() => {
      fixture.pass(9)
      return 204
    })
    const { id: subscriptionId } = await fixture.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3', '4', '5']) {
      await fixture.joinable(OPEN, { name })
      await publishOnly(fixture)
    }
    await fixture.service.messages['event-deliveries'].handle({ tenantId: fixture.tenantId, subscriptionId })
    assert.equal(hook.delivered.length, 2)
    await fixture.drain()
    assert.equal(hook.delivered.length, 5)
  })
})

describe('Events that are stored while a worker delivers others', () => {
  it('are delivered, although their message finds the subscription held', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    const { id: subscriptionId } = await fixture.subscribe(hook.url, ['collection.*'])
    await fixture.joinable(OPEN, { name: 'One' })
    await publishOnly(fixture)
    const { events } = fixture.service
    let isReleased = false
    const lanes: typeof events.lanes = {
      ...events.lanes,
      async save(tenantId, lane, version) {
        if (lane.owner === null && !isReleased) {
          isReleased = true
          await fixture.joinable(OPEN, { name: 'Two' })
          await fixture.drain()
          assert.deepEqual(fixture.sent, [])
        }
        return events.lanes.save(tenantId, lane, version)
      },
    }
    await deliverEvents({ tenantId: fixture.tenantId, subscriptionId }, { ...events, lanes })
    assert.equal(hook.delivered.length, 1)
    await fixture.drain()
    assert.equal(hook.delivered.length, 2)
  })

  it('leave no messages behind that wait for a receiver that does not answer', async () => {
    const fixture = await eventFixture({ overrides: { sleep: setTimeout } })
    const silent = await receiver(() => new Promise(() => undefined))
    await fixture.subscribe(silent.url, ['collection.*'])
    for (const name of ['One', 'Two', 'Three']) {
      await fixture.joinable(OPEN, { name })
      await fixture.drain()
    }
    assert.deepEqual(
      fixture.sent.map(({ message }) => message.queue),
      ['event-deliveries'],
    )
    silent.close()
  })
})

describe('Events that wait for a receiver that fails', () => {
  it('are dropped beyond the limit, the oldest first, with an event that says so', async () => {
    const fixture = await eventFixture()
    let status = 500
    const hook = await receiver(() => status)
    const { id } = await fixture.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3', '4', '5']) {
      await fixture.joinable(OPEN, { name })
      await fixture.drain()
      fixture.pass(1)
    }
    await sweepEvents(fixture.tenantId, { ...fixture.service.events, backlogLimitCount: 2 })
    const path = `${SUBSCRIPTIONS}/${id}/deliveries`
    const { data } = await fixture.call<{ state: string; type: string }[]>(fixture.admin, 'GET', path)
    assert.deepEqual(
      data.map(({ type, state }) => `${type} ${state}`),
      [
        'subscription.dropped Pending',
        'collection.created Pending',
        'collection.created Pending',
        'collection.created Dropped',
        'collection.created Dropped',
        'collection.created Dropped',
      ],
    )
    status = 204
    hook.delivered.splice(0)
    await fixture.passWithMessages(600)
    await sweepEvents(fixture.tenantId, fixture.service.events)
    await fixture.drain()
    const told = hook.events().find(({ type }) => type === 'subscription.dropped')
    const [from, to] = ['2030-06-01T08:00:00.000+00:00', '2030-06-01T08:00:02.000+00:00']
    assert.deepEqual(told?.data, { subscriptionId: id, count: 3, from, to })
    assert.deepEqual(hook.types().sort(), ['collection.created', 'collection.created', 'subscription.dropped'])
  })

  it('are told of once: what tells of them is dropped without being told of', async () => {
    const fixture = await eventFixture()
    const { id } = await fixture.subscribe((await receiver(() => 500)).url, ['collection.*'])
    await fixture.joinable(OPEN, { name: '1' })
    await fixture.drain()
    const events = { ...fixture.service.events, backlogLimitCount: 0 }
    for (let sweep = 1; sweep <= 3; sweep += 1) await sweepEvents(fixture.tenantId, events)
    const path = `${SUBSCRIPTIONS}/${id}/deliveries`
    const { data } = await fixture.call<{ state: string; type: string }[]>(fixture.admin, 'GET', path)
    assert.deepEqual(
      data.map(({ type, state }) => `${type} ${state}`),
      ['subscription.dropped Dropped', 'collection.created Dropped'],
    )
  })

  it('are never dropped without being told of, also when the process ends in between', async () => {
    const fixture = await eventFixture()
    let status = 500
    const hook = await receiver(() => status)
    await fixture.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3']) {
      await fixture.joinable(OPEN, { name })
      await fixture.drain()
      fixture.pass(1)
    }
    const events = { ...fixture.service.events, backlogLimitCount: 2 }
    const replace = () => Promise.reject(new Error('The process ends'))
    const ending = { ...events, deliveries: { ...events.deliveries, replace } }
    await assert.rejects(sweepEvents(fixture.tenantId, ending), /The process ends/)
    await sweepEvents(fixture.tenantId, events)
    status = 204
    hook.delivered.splice(0)
    await fixture.passWithMessages(600)
    await sweepEvents(fixture.tenantId, fixture.service.events)
    await fixture.drain()
    // What tells of the first one waits as well: the second is beyond the limit too, and both are told together.
    assert.deepEqual(
      hook
        .events()
        .map(({ type, data }) => [type, data.count])
        .sort(),
      [
        ['collection.created', undefined],
        ['subscription.dropped', 1],
        ['subscription.dropped', 2],
      ],
    )
  })
})
