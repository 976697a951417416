import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosDeliveryStore } from '../../shared/cosmos/events/delivery-stores.ts'
import { storeBatches } from '../../shared/domain/events/publish-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { eventFixture, receiver, SUBSCRIPTIONS, signatureOf } from '../support/events/event-fixture.ts'

const DAY_S = 24 * 60 * 60

/** A timer that last ran an hour ago sweeps the tenants of all minutes. */
const HOUR_MS = 60 * 60 * 1000

describe('Events', () => {
  it('tell of a collection, a request and the member that it leads to, signed as Standard Webhooks says', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    const { secret } = await fixture.subscribe(hook.url)
    const collectionId = await fixture.joinable(OPEN)
    const person = await fixture.person()
    const { data: request } = await fixture.submit(person, collectionId)
    await fixture.drain()
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
    assert.deepEqual(await fixture.deps.collections.count(fixture.tenantId), 1)
  })

  it('cost a tenant without subscriptions no document and no message', async () => {
    const fixture = await eventFixture()
    const collectionId = await fixture.joinable(OPEN)
    await fixture.submit(await fixture.person(), collectionId)
    const queues = fixture.enqueued.map(({ queue }) => queue)
    assert.deepEqual(
      queues.filter((queue) => queue === 'events' || queue === 'event-deliveries'),
      [],
    )
    for (const id of ['collections', 'requests', 'events'] as const) {
      const { resources } = await fixture
        .container(id)
        .items.query('SELECT * FROM c WHERE c.isOutbox = true', { partitionKey: fixture.tenantId })
        .fetchAll()
      assert.deepEqual(resources, [])
    }
  })

  it('of a lost message are found by the sweep, those of members too', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    await fixture.subscribe(hook.url)
    const collectionId = await fixture.joinable(OPEN)
    await fixture.submit(await fixture.person(), collectionId)
    fixture.sent.splice(0)
    fixture.pass(3600)
    await fixture.service.sweeps.since(fixture.nowMs() - HOUR_MS)
    await fixture.drain()
    assert.deepEqual(hook.types().sort(), ['collection.created', 'member.added', 'request.joined', 'request.submitted'])
    hook.delivered.splice(0)
    fixture.pass(3600)
    await fixture.service.sweeps.since(fixture.nowMs() - HOUR_MS)
    await fixture.drain()
    assert.deepEqual(hook.types(), [])
  })

  it('of more than 1,000 members at once are one event with counts', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['member*'])
    await Promise.all(Array.from({ length: 1001 }, () => fixture.put('identity', { displayName: 'Kari' })))
    const collectionId = await fixture.criteria('Identity', {
      groupOperator: 'AND',
      conditions: [{ id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Kari' }],
    })
    await fixture.evaluator.evaluate(fixture.tenantId)
    await fixture.drain()
    assert.deepEqual(
      hook.events().map(({ type, data }) => ({ type, data })),
      [{ type: 'members.changed', data: { collectionId, added: 1001, removed: 0, membershipVersion: 1 } }],
    )
  })
})

describe('A failed delivery', () => {
  it('is repeated after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, then given up', async () => {
    const fixture = await eventFixture()
    const times: number[] = []
    const hook = await receiver(() => {
      times.push(fixture.nowMs())
      return 503
    })
    const { id } = await fixture.subscribe(hook.url)
    await fixture.joinable(OPEN)
    await fixture.passWithMessages(4.9 * DAY_S)
    const delays = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1000))
    assert.deepEqual(delays, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    const { data } = await fixture.call<{ state: string; attempts: { status: number }[] }[]>(
      fixture.admin,
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
    const fixture = await eventFixture()
    const [dead, other] = [await receiver(() => 500), await receiver()]
    const { id } = await fixture.subscribe(dead.url)
    await fixture.subscribe(other.url, ['subscription.*'])
    const collectionId = await fixture.joinable(OPEN)
    for (let day = 0; day < 6; day += 1) {
      await fixture.passWithMessages(DAY_S)
      await fixture.submit(await fixture.person(), collectionId)
    }
    const { state, disabledReason } = await fixture.subscription(id)
    assert.deepEqual([state, disabledReason], ['Disabled', 'Failing'])
    assert.deepEqual(
      other.events().map(({ type, data }) => [type, data]),
      [['subscription.disabled', { subscriptionId: id, reason: 'Failing', actorId: 'system' }]],
    )
    // Enabled again, it gets what waited.
    dead.close()
  })

  it('with 410 disables the subscription at once; enabled again, it gets what happens from then on', async () => {
    const fixture = await eventFixture()
    let status = 410
    const hook = await receiver(() => status)
    const { id } = await fixture.subscribe(hook.url, ['collection.*'])
    await fixture.joinable(OPEN)
    await fixture.drain()
    assert.deepEqual((await fixture.subscription(id)).disabledReason, 'Gone')
    await fixture.joinable(OPEN, { name: 'Unheard' })
    await fixture.drain()
    assert.equal(hook.delivered.length, 1)
    status = 204
    fixture.pass(60)
    await fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { state: 'Enabled' })
    const heard = await fixture.joinable(OPEN, { name: 'Heard' })
    await fixture.drain()
    assert.deepEqual(
      hook
        .events()
        .slice(-1)
        .map(({ data }) => data.collectionId),
      [heard],
    )
  })

  it('by a redirect is not followed', async () => {
    const fixture = await eventFixture()
    const hook = await receiver(() => 302)
    const { id } = await fixture.subscribe(hook.url)
    await fixture.joinable(OPEN)
    await fixture.drain()
    const { data } = await fixture.call<{ attempts: object[] }[]>(
      fixture.admin,
      'GET',
      `${SUBSCRIPTIONS}/${id}/deliveries`,
    )
    assert.deepEqual(
      data[0]?.attempts.map((attempt) => ({ ...attempt, durationMs: 0 })),
      [{ at: '2030-06-01T08:00:00.000+00:00', status: 302, durationMs: 0, error: null }],
    )
  })
})

describe('A subscription', () => {
  it('can be tested, and its secret replaced: for a day both secrets sign', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    const { id, secret } = await fixture.subscribe(hook.url, ['link.*'])
    const { data: replaced } = await fixture.call<{ secret: string }>(
      fixture.admin,
      'POST',
      `${SUBSCRIPTIONS}/${id}/rotate-secret`,
    )
    await fixture.call(fixture.admin, 'POST', `${SUBSCRIPTIONS}/${id}/test`)
    await fixture.drain()
    fixture.pass(DAY_S)
    const { data: test } = await fixture.call<{ eventId: string }>(fixture.admin, 'POST', `${SUBSCRIPTIONS}/${id}/test`)
    await fixture.drain()
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

  it('signs with the first secret also after it was replaced twice in a day', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    const { id, secret } = await fixture.subscribe(hook.url)
    for (let count = 0; count < 2; count += 1) {
      await fixture.call(fixture.admin, 'POST', `${SUBSCRIPTIONS}/${id}/rotate-secret`)
    }
    await fixture.joinable(OPEN)
    await fixture.drain()
    const [first] = hook.delivered
    assert.ok(first && String(first.headers['webhook-signature']).split(' ')[2] === signatureOf(secret, first))
  })

  it('gets events again, by id and by time, with the same ids', async () => {
    const fixture = await eventFixture()
    const hook = await receiver()
    const { id } = await fixture.subscribe(hook.url, ['collection.*'])
    await fixture.joinable(OPEN, { name: 'One' })
    fixture.pass(60)
    await fixture.joinable(OPEN, { name: 'Two' })
    await fixture.drain()
    const [one, two] = hook.events()
    const path = `${SUBSCRIPTIONS}/${id}/redeliver`
    const byId = await fixture.call(fixture.admin, 'POST', path, { eventIds: [two?.id] })
    assert.deepEqual([byId.status, byId.data], [202, { queued: 1 }])
    await fixture.drain()
    const times = { from: '2030-06-01T08:00:00Z', to: '2030-06-01T08:00:59Z' }
    const byTime = await fixture.call(fixture.admin, 'POST', path, times)
    assert.deepEqual(byTime.data, { queued: 1 })
    await fixture.drain()
    assert.deepEqual(
      hook.events().map((event) => event.id),
      [one?.id, two?.id, two?.id, one?.id],
    )
    const list = `${SUBSCRIPTIONS}/${id}/deliveries?pageSize=3`
    const first = await fixture.call<{ eventId: string }[]>(fixture.admin, 'GET', list)
    const rest = await fixture.call<{ eventId: string }[]>(
      fixture.admin,
      'GET',
      `${SUBSCRIPTIONS}/${id}/deliveries?nextCursor=${encodeURIComponent(first.nextCursor ?? '')}`,
    )
    assert.deepEqual([first.data.length, rest.data.length, rest.nextCursor], [3, 1, undefined])
  })

  it('are all listed, page by page, when the clocks of instances differ', async () => {
    const fixture = await eventFixture()
    const { id: subscriptionId } = await fixture.subscribe((await receiver()).url, ['collection.deleted'])
    const deliveries = cosmosDeliveryStore(fixture.container('events'))
    const eventIds = [randomUUID(), randomUUID(), randomUUID()]
    // The clock of the second instance is ahead.
    for (const [index, at] of ['2030-06-01T08:00:00Z', '2030-06-01T08:01:05Z', '2030-06-01T08:01:00Z'].entries()) {
      const nowMs = Date.parse(at)
      const event = {
        id: eventIds[index] ?? '',
        type: 'collection.deleted',
        time: '2030-06-01T08:00:00Z',
        subject: '/',
        data: {},
      }
      const to = { tenantId: fixture.tenantId, subscriptionId }
      await storeBatches([event], to, { deliveries, deriveId: derivedId, nowMs: () => nowMs })
    }
    const listed: string[] = []
    let query = 'pageSize=1'
    for (let page = 1; page <= 4; page += 1) {
      const path = `${SUBSCRIPTIONS}/${subscriptionId}/deliveries?${query}`
      const { data, nextCursor } = await fixture.call<{ eventId: string }[]>(fixture.admin, 'GET', path)
      listed.push(...data.map(({ eventId }) => eventId))
      if (nextCursor === undefined) break
      query = `nextCursor=${encodeURIComponent(nextCursor)}`
    }
    assert.deepEqual(listed, eventIds.toReversed())
  })

  it('is refused for an unknown type, another scheme, credentials and an address that is not public', async () => {
    const fixture = await eventFixture()
    const refused = async (body: object) => {
      const { status, targets } = await fixture.call(fixture.admin, 'POST', SUBSCRIPTIONS, { types: ['*'], ...body })
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
    const fixture = await eventFixture()
    const { id } = await fixture.subscribe('https://example.com')
    const queuesOfSweep = async () => {
      await fixture.service.sweeps.since(undefined)
      return fixture.sent.splice(0).map(({ message }) => message.queue)
    }
    assert.ok((await queuesOfSweep()).includes('events'))
    const { status } = await fixture.call(fixture.admin, 'DELETE', `${SUBSCRIPTIONS}/${id}`)
    assert.equal(status, 200)
    assert.ok(!(await queuesOfSweep()).includes('events'))
    await fixture.subscribe('https://example.com')
    assert.ok((await queuesOfSweep()).includes('events'))
  })

  it('is one of at most 20', async () => {
    const fixture = await eventFixture()
    for (let count = 0; count < 20; count += 1) await fixture.subscribe('https://example.com')
    const { status, codes } = await fixture.call(fixture.admin, 'POST', SUBSCRIPTIONS, {
      url: 'https://example.com',
      types: ['*'],
    })
    assert.deepEqual([status, ...codes], [409, 'QuotaExceeded'])
  })
})
