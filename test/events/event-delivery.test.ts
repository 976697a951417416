import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OPEN } from '../support/api/joinable-world.ts'
import { eventWorld, receiver, SUBSCRIPTIONS, signatureOf } from '../support/events/event-world.ts'

const DAY_S = 24 * 60 * 60

describe('Events', () => {
  it('tell of a collection, a request and the member that it leads to, signed as Standard Webhooks says', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    const { secret } = await world.subscribe(hook.url)
    const collectionId = await world.joinable(OPEN)
    const person = await world.person()
    const { data: request } = await world.submit(person, collectionId)
    await world.drain()
    assert.deepEqual(hook.types().sort(), ['collection.created', 'member.added', 'request.joined', 'request.submitted'])
    const added = hook.events().find(({ type }) => type === 'member.added')
    assert.deepEqual(added?.data, {
      collectionId,
      at: '2030-06-01T08:00:00.000+00:00',
      objectId: person.identityId,
      relationshipId: null,
      change: 'Added',
      cause: 'Request',
      actorId: person.identityId,
      requestId: request.id,
      until: null,
      membershipVersion: 1,
    })
    const requestEvents = hook.types().filter((type) => type.startsWith('request.'))
    assert.deepEqual(requestEvents, ['request.submitted', 'request.joined'])
    for (const each of hook.delivered) {
      assert.equal(each.headers['content-type'], 'application/cloudevents+json')
      assert.equal(each.headers['webhook-id'], each.event.id)
      assert.equal(each.headers['webhook-signature'], signatureOf(secret, each))
    }
    assert.deepEqual(await world.deps.collections.count(world.tenantId), 1)
  })

  it('cost a tenant without subscriptions no document and no message', async () => {
    const world = await eventWorld()
    const collectionId = await world.joinable(OPEN)
    await world.submit(await world.person(), collectionId)
    const queues = world.enqueued.map(({ queue }) => queue)
    assert.deepEqual(
      queues.filter((queue) => queue === 'events' || queue === 'event-deliveries'),
      [],
    )
    for (const id of ['collections', 'requests', 'events'] as const) {
      const { resources } = await world
        .container(id)
        .items.query('SELECT * FROM c WHERE c.isOutbox = true', { partitionKey: world.tenantId })
        .fetchAll()
      assert.deepEqual(resources, [])
    }
  })

  it('of a lost message are found by the sweep, those of members too', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    await world.subscribe(hook.url)
    const collectionId = await world.joinable(OPEN)
    await world.submit(await world.person(), collectionId)
    world.sent.splice(0)
    world.pass(600)
    await world.service.sweeps.since(undefined)
    await world.drain()
    assert.deepEqual(hook.types().sort(), ['collection.created', 'member.added', 'request.joined', 'request.submitted'])
    hook.delivered.splice(0)
    world.pass(600)
    await world.service.sweeps.since(undefined)
    await world.drain()
    assert.deepEqual(hook.types(), [])
  })

  it('of more than 1,000 members at once are one event with counts', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    await world.subscribe(hook.url, ['member*'])
    await Promise.all(Array.from({ length: 1001 }, () => world.put('identity', { displayName: 'Kari' })))
    const collectionId = await world.criteria('Identity', {
      groupOperator: 'AND',
      conditions: [{ id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Kari' }],
    })
    await world.evaluator.evaluate(world.tenantId)
    await world.drain()
    assert.deepEqual(
      hook.events().map(({ type, data }) => ({ type, data })),
      [{ type: 'members.changed', data: { collectionId, added: 1001, removed: 0, membershipVersion: 1 } }],
    )
  })
})

describe('A failed delivery', () => {
  it('is repeated after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, then given up', async () => {
    const world = await eventWorld()
    const times: number[] = []
    const hook = await receiver(() => {
      times.push(world.nowMs())
      return 503
    })
    const { id } = await world.subscribe(hook.url)
    await world.joinable(OPEN)
    await world.passWithMessages(4.9 * DAY_S)
    const delays = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1000))
    assert.deepEqual(delays, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    const { data } = await world.call<{ state: string; attempts: { status: number }[] }[]>(
      world.admin,
      'GET',
      `${SUBSCRIPTIONS}/${id}/deliveries`,
    )
    assert.deepEqual(
      data.map(({ state, attempts }) => [state, attempts.length]),
      [['GivenUp', 10]],
    )
    assert.deepEqual(new Set(hook.events().map((event) => event.id)).size, 1)
  })

  it('disables the subscription after five days without a success and tells the others', async () => {
    const world = await eventWorld()
    const [dead, other] = [await receiver(() => 500), await receiver()]
    const { id } = await world.subscribe(dead.url)
    await world.subscribe(other.url, ['subscription.*'])
    const collectionId = await world.joinable(OPEN)
    for (let day = 0; day < 6; day += 1) {
      await world.passWithMessages(DAY_S)
      await world.submit(await world.person(), collectionId)
    }
    const { state, disabledReason } = await world.subscription(id)
    assert.deepEqual([state, disabledReason], ['Disabled', 'Failing'])
    assert.deepEqual(
      other.events().map(({ type, data }) => [type, data]),
      [['subscription.disabled', { subscriptionId: id, reason: 'Failing', actorId: 'system' }]],
    )
    // Enabled again, it gets what waited.
    dead.close()
  })

  it('with 410 disables the subscription at once; enabled again, it gets what happens from then on', async () => {
    const world = await eventWorld()
    let status = 410
    const hook = await receiver(() => status)
    const { id } = await world.subscribe(hook.url, ['collection.*'])
    await world.joinable(OPEN)
    await world.drain()
    assert.deepEqual((await world.subscription(id)).disabledReason, 'Gone')
    await world.joinable(OPEN, { name: 'Unheard' })
    await world.drain()
    assert.equal(hook.delivered.length, 1)
    status = 204
    world.pass(60)
    await world.call(world.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { state: 'Enabled' })
    const heard = await world.joinable(OPEN, { name: 'Heard' })
    await world.drain()
    assert.deepEqual(
      hook
        .events()
        .slice(-1)
        .map(({ data }) => data.collectionId),
      [heard],
    )
  })

  it('by a redirect is not followed', async () => {
    const world = await eventWorld()
    const hook = await receiver(() => 302)
    const { id } = await world.subscribe(hook.url)
    await world.joinable(OPEN)
    await world.drain()
    const { data } = await world.call<{ attempts: object[] }[]>(world.admin, 'GET', `${SUBSCRIPTIONS}/${id}/deliveries`)
    assert.deepEqual(
      data[0]?.attempts.map((attempt) => ({ ...attempt, durationMs: 0 })),
      [{ at: '2030-06-01T08:00:00.000+00:00', status: 302, durationMs: 0, error: null }],
    )
  })
})

describe('A subscription', () => {
  it('can be tested, and its secret replaced: for a day both secrets sign', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    const { id, secret } = await world.subscribe(hook.url, ['link.*'])
    const { data: replaced } = await world.call<{ secret: string }>(
      world.admin,
      'POST',
      `${SUBSCRIPTIONS}/${id}/rotate-secret`,
    )
    await world.call(world.admin, 'POST', `${SUBSCRIPTIONS}/${id}/test`)
    await world.drain()
    world.pass(DAY_S)
    const { data: test } = await world.call<{ eventId: string }>(world.admin, 'POST', `${SUBSCRIPTIONS}/${id}/test`)
    await world.drain()
    assert.deepEqual(hook.types(), ['subscription.test', 'subscription.test'])
    const [first, second] = hook.delivered
    assert.ok(first && second)
    assert.equal(
      first.headers['webhook-signature'],
      `${signatureOf(replaced.secret, first)} ${signatureOf(secret, first)}`,
    )
    assert.equal(second.headers['webhook-signature'], signatureOf(replaced.secret, second))
    assert.equal(second.event.id, test.eventId)
  })

  it('gets events again, by id and by time, with the same ids', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    const { id } = await world.subscribe(hook.url, ['collection.*'])
    await world.joinable(OPEN, { name: 'One' })
    world.pass(60)
    await world.joinable(OPEN, { name: 'Two' })
    await world.drain()
    const [one, two] = hook.events()
    const path = `${SUBSCRIPTIONS}/${id}/redeliver`
    const byId = await world.call(world.admin, 'POST', path, { eventIds: [two?.id] })
    assert.deepEqual([byId.status, byId.data], [202, { queued: 1 }])
    await world.drain()
    const times = { from: '2030-06-01T08:00:00Z', to: '2030-06-01T08:00:59Z' }
    const byTime = await world.call(world.admin, 'POST', path, times)
    assert.deepEqual(byTime.data, { queued: 1 })
    await world.drain()
    assert.deepEqual(
      hook.events().map((event) => event.id),
      [one?.id, two?.id, two?.id, one?.id],
    )
    const list = `${SUBSCRIPTIONS}/${id}/deliveries?pageSize=3`
    const first = await world.call<{ eventId: string }[]>(world.admin, 'GET', list)
    const rest = await world.call<{ eventId: string }[]>(
      world.admin,
      'GET',
      `${SUBSCRIPTIONS}/${id}/deliveries?nextCursor=${encodeURIComponent(first.nextCursor ?? '')}`,
    )
    assert.deepEqual([first.data.length, rest.data.length, rest.nextCursor], [3, 1, undefined])
  })

  it('is refused for an unknown type, another scheme, credentials and an address that is not public', async () => {
    const world = await eventWorld()
    const refused = async (body: object) => {
      const { status, targets } = await world.call(world.admin, 'POST', SUBSCRIPTIONS, { types: ['*'], ...body })
      return [status, ...targets]
    }
    assert.deepEqual(await refused({ url: 'https://example.com', types: ['members'] }), [400, '/types'])
    assert.deepEqual(await refused({ url: 'http://example.com' }), [400, '/url'])
    assert.deepEqual(await refused({ url: 'https://a:b@example.com' }), [400, '/url'])
    assert.deepEqual(await refused({ url: 'https://10.0.0.1/' }), [400, '/url'])
    assert.deepEqual(await refused({ url: 'ftp://example.com' }), [400, '/url'])
    assert.deepEqual(await refused({ url: 'nothing', types: ['x'] }), [400, '/types', '/url'])
  })

  it('leaves nothing to sweep once the last one of a tenant is deleted, and can be made again', async () => {
    const world = await eventWorld()
    const { id } = await world.subscribe('https://example.com')
    const queuesOfSweep = async () => {
      await world.service.sweeps.since(undefined)
      return world.sent.splice(0).map(({ message }) => message.queue)
    }
    assert.ok((await queuesOfSweep()).includes('events'))
    const { status } = await world.call(world.admin, 'DELETE', `${SUBSCRIPTIONS}/${id}`)
    assert.equal(status, 200)
    assert.ok(!(await queuesOfSweep()).includes('events'))
    await world.subscribe('https://example.com')
    assert.ok((await queuesOfSweep()).includes('events'))
  })

  it('is one of at most 20', async () => {
    const world = await eventWorld()
    for (let count = 0; count < 20; count += 1) await world.subscribe('https://example.com')
    const { status, codes } = await world.call(world.admin, 'POST', SUBSCRIPTIONS, {
      url: 'https://example.com',
      types: ['*'],
    })
    assert.deepEqual([status, ...codes], [409, 'QuotaExceeded'])
  })
})
