import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliverEvents } from '../../shared/domain/events/deliver-events.ts'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { OPEN } from '../support/api/joinable-world.ts'
import { type EventWorld, eventWorld, receiver, SUBSCRIPTIONS } from '../support/events/event-world.ts'

describe('Events after a restore of the database', () => {
  it('tell of changes whose versions come a second time, and of none twice under another id', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    await world.subscribe(hook.url, ['member.*'])
    const collectionId = await world.joinable(OPEN)
    const [one, two, three] = [await world.person(), await world.person(), await world.person()]
    await world.submit(one, collectionId)
    const requests = world.container('requests')
    const restored = await documents()
    world.pass(60)
    await world.submit(two, collectionId)
    await world.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId])
    // The requests are as they were before the second one; what was published is not.
    for (const { id } of await documents()) await requests.item(id, world.tenantId).delete()
    for (const document of restored) await requests.items.upsert(document)
    world.pass(60)
    await world.submit(three, collectionId)
    await world.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId, three.identityId])
    const ids = hook.events().map(({ id }) => id)
    assert.equal(new Set(ids).size, 3)

    function told(): string[] {
      return hook.events().map(({ data }) => data.objectId)
    }

    async function documents(): Promise<{ id: string }[]> {
      const query = 'SELECT * FROM c'
      return (await requests.items.query<{ id: string }>(query, { partitionKey: world.tenantId }).fetchAll()).resources
    }
  })
})

describe('A receiver that does not answer', () => {
  it('delays no other, and ends the invocation after a second', async () => {
    const world = await eventWorld()
    const silent = await receiver(() => new Promise(() => undefined))
    const fast = await receiver()
    for (let count = 0; count < 5; count += 1) await world.subscribe(silent.url, ['collection.*'])
    await world.subscribe(fast.url, ['collection.*'])
    await world.joinable(OPEN)
    const startMs = performance.now()
    // One invocation after the other: those before the fast receiver's cannot wait for an answer.
    await world.drain()
    const durationMs = performance.now() - startMs
    assert.equal(fast.delivered.length, 1)
    assert.ok(durationMs < 7_000, `${durationMs} ms`)
    assert.equal(silent.delivered.length, 5)
    silent.close()
  })
})

describe('Events of many collections that change in one evaluation', () => {
  it('are published together, each change once', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    await world.subscribe(hook.url, ['member.*'])
    const collectionIds: string[] = []
    for (const initial of ['A', 'B', 'C', 'D', 'E']) {
      const startsWith = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'StartsWith' }
      const conditions = [{ ...startsWith, value: initial }]
      collectionIds.push(await world.criteria('Identity', { groupOperator: 'AND', conditions }))
    }
    const evaluated = async (...names: string[]) => {
      for (const displayName of names) await world.put('identity', { displayName })
      await world.evaluator.evaluate(world.tenantId)
      await world.drain()
      const told = hook.delivered.splice(0).map(({ event }) => collectionIds.indexOf(event.data.collectionId))
      return told.sort()
    }
    assert.deepEqual(await evaluated('A1', 'B1', 'C1', 'D1', 'E1'), [0, 1, 2, 3, 4])
    assert.deepEqual(await evaluated('A2', 'A3', 'C2', 'D2', 'E2'), [0, 0, 2, 3, 4])
    assert.deepEqual(await evaluated(), [])
  })
})

/** Publishes what has happened, and loses the messages that would have it delivered. */
async function publishOnly(world: EventWorld): Promise<void> {
  for (const { message } of world.sent.splice(0)) {
    if (message.queue === 'events') await world.service.messages.events.handle(message.message)
  }
  world.sent.splice(0)
}

describe('A receiver that is slow', () => {
  it('is left to another worker in time, so that no two deliver to it at once', async () => {
    const world = await eventWorld()
    const hook = await receiver(() => {
      world.pass(9)
      return 204
    })
    const { id: subscriptionId } = await world.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3', '4', '5']) {
      await world.joinable(OPEN, { name })
      await publishOnly(world)
    }
    await world.service.messages['event-deliveries'].handle({ tenantId: world.tenantId, subscriptionId })
    assert.equal(hook.delivered.length, 2)
    await world.drain()
    assert.equal(hook.delivered.length, 5)
  })
})

describe('Events that are stored while a worker delivers others', () => {
  it('are delivered, although their message finds the subscription held', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    const { id: subscriptionId } = await world.subscribe(hook.url, ['collection.*'])
    await world.joinable(OPEN, { name: 'One' })
    await publishOnly(world)
    const { events } = world.service
    let isReleased = false
    const lanes: typeof events.lanes = {
      ...events.lanes,
      async save(tenantId, lane, version) {
        if (lane.owner === null && !isReleased) {
          isReleased = true
          await world.joinable(OPEN, { name: 'Two' })
          await world.drain()
          assert.deepEqual(world.sent, [])
        }
        return events.lanes.save(tenantId, lane, version)
      },
    }
    await deliverEvents({ tenantId: world.tenantId, subscriptionId }, { ...events, lanes })
    assert.equal(hook.delivered.length, 1)
    await world.drain()
    assert.equal(hook.delivered.length, 2)
  })

  it('leave no messages behind that wait for a receiver that does not answer', async () => {
    const world = await eventWorld()
    const silent = await receiver(() => new Promise(() => undefined))
    await world.subscribe(silent.url, ['collection.*'])
    for (const name of ['One', 'Two', 'Three']) {
      await world.joinable(OPEN, { name })
      await world.drain()
    }
    assert.deepEqual(
      world.sent.map(({ message }) => message.queue),
      ['event-deliveries'],
    )
    silent.close()
  })
})

describe('Events that wait for a receiver that fails', () => {
  it('are dropped beyond the limit, the oldest first, with an event that says so', async () => {
    const world = await eventWorld()
    let status = 500
    const hook = await receiver(() => status)
    const { id } = await world.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3', '4', '5']) {
      await world.joinable(OPEN, { name })
      await world.drain()
      world.pass(1)
    }
    await sweepEvents(world.tenantId, { ...world.service.events, backlogLimitCount: 2 })
    const path = `${SUBSCRIPTIONS}/${id}/deliveries`
    const { data } = await world.call<{ state: string; type: string }[]>(world.admin, 'GET', path)
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
    await world.passWithMessages(600)
    await sweepEvents(world.tenantId, world.service.events)
    await world.drain()
    const told = hook.events().find(({ type }) => type === 'subscription.dropped')
    const [from, to] = ['2030-06-01T08:00:00.000+00:00', '2030-06-01T08:00:02.000+00:00']
    assert.deepEqual(told?.data, { subscriptionId: id, count: 3, from, to })
    assert.deepEqual(hook.types().sort(), ['collection.created', 'collection.created', 'subscription.dropped'])
  })

  it('are never dropped without being told of, also when the process ends in between', async () => {
    const world = await eventWorld()
    let status = 500
    const hook = await receiver(() => status)
    await world.subscribe(hook.url, ['collection.*'])
    for (const name of ['1', '2', '3']) {
      await world.joinable(OPEN, { name })
      await world.drain()
      world.pass(1)
    }
    const events = { ...world.service.events, backlogLimitCount: 2 }
    const replace = () => Promise.reject(new Error('The process ends'))
    const ending = { ...events, deliveries: { ...events.deliveries, replace } }
    await assert.rejects(sweepEvents(world.tenantId, ending), /The process ends/)
    await sweepEvents(world.tenantId, events)
    status = 204
    hook.delivered.splice(0)
    await world.passWithMessages(600)
    await sweepEvents(world.tenantId, world.service.events)
    await world.drain()
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
