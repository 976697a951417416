import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliverEvents } from '../../shared/domain/events/deliver-events.ts'
import { publishMembers, publishOutbox } from '../../shared/domain/events/publish-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { type EventFixture, eventFixture, receiver, SUBSCRIPTIONS } from '../support/events/event-fixture.ts'

/** The function, with something else that happens before its first call. */
function after<Words extends unknown[], Result>(
  first: () => Promise<unknown>,
  then: (...words: Words) => Promise<Result>,
): (...words: Words) => Promise<Result> {
  let done: Promise<unknown> | undefined
  return async (...words) => {
    done ??= first()
    await done
    return then(...words)
  }
}

/** Delivers all that is published, also what only a sweep finds. */
async function deliverAll(fixture: EventFixture): Promise<void> {
  await fixture.drain()
  fixture.pass(3600)
  await fixture.service.sweeps.since(undefined)
  await fixture.drain()
}

describe('A subscription that is made while events are published', () => {
  it('gets the event of a record that changes afterwards', async () => {
    const fixture = await eventFixture()
    const [first, second] = [await receiver(), await receiver()]
    await fixture.subscribe(first.url, ['collection.*'])
    const { events } = fixture.service
    const change = async () => {
      await fixture.subscribe(second.url, ['collection.*'])
      fixture.pass(60)
      await fixture.joinable(OPEN)
    }
    const outbox = { ...events.outbox, first: after(change, events.outbox.first) }
    await publishOutbox(fixture.tenantId, 'collections', { ...events, outbox })
    await deliverAll(fixture)
    assert.deepEqual([first.types(), second.types()], [['collection.created'], ['collection.created']])
  })

  it('gets the events of members that change afterwards', async () => {
    const fixture = await eventFixture()
    const [first, second] = [await receiver(), await receiver()]
    await fixture.subscribe(first.url, ['member.*'])
    const collectionId = await fixture.joinable(OPEN)
    const person = await fixture.person()
    const { events } = fixture.service
    const change = async () => {
      await fixture.subscribe(second.url, ['member.*'])
      fixture.pass(60)
      await fixture.submit(person, collectionId)
    }
    const collections = { ...events.collections, summaries: after(change, events.collections.summaries) }
    await publishMembers(fixture.tenantId, [collectionId], { ...events, collections })
    await deliverAll(fixture)
    assert.deepEqual([first.types(), second.types()], [['member.added'], ['member.added']])
  })
})

describe('A subscription whose address changes during a delivery', () => {
  it('stays enabled when the former address answers that it is gone', async () => {
    const fixture = await eventFixture()
    const next = await receiver()
    const former = await receiver(async () => {
      const { status } = await fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { url: next.url })
      assert.equal(status, 200)
      return 410
    })
    const { id } = await fixture.subscribe(former.url, ['collection.*'])
    await fixture.joinable(OPEN)
    for (const { message } of fixture.sent.splice(0)) {
      if (message.queue === 'events') await fixture.service.messages.events.handle(message.message)
    }
    await deliverEvents({ tenantId: fixture.tenantId, subscriptionId: id }, fixture.service.events)
    assert.equal((await fixture.subscription(id)).state, 'Enabled')
  })

  it('gets what is due at the new address at once when the former one answers that it is gone', async () => {
    const fixture = await eventFixture()
    const next = await receiver()
    const former = await receiver(async () => {
      await fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { url: next.url })
      await fixture.joinable(OPEN, { name: 'Later' })
      await fixture.drain()
      return 410
    })
    const { id } = await fixture.subscribe(former.url, ['collection.*'])
    await fixture.joinable(OPEN)
    await fixture.drain()
    assert.deepEqual([former.delivered.length, next.delivered.length], [1, 1])
  })
})
