import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Container } from '@azure/cosmos'
import { cosmosNoticeStore } from '../../shared/cosmos/events/mail-stores.ts'
import { cosmosOutboxStore, outboxOperation } from '../../shared/cosmos/events/outbox.ts'
import { publishMembers, publishOutbox } from '../../shared/domain/events/publish-events.ts'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { type EventFixture, eventFixture, receiver } from '../support/events/event-fixture.ts'

/** The dependencies of publishing, where a change takes fifty seconds. */
function slowEvents({ service, pass }: EventFixture): EventFixture['service']['events'] {
  const { outbox, recordedChanges } = service.events
  return {
    ...service.events,
    outbox: {
      ...outbox,
      async first(source, tenantId) {
        const [first] = await outbox.first(source, tenantId)
        if (first === undefined) return []
        pass(50)
        return [first]
      },
    },
    recordedChanges: {
      ...recordedChanges,
      async next(...words) {
        const { changes } = await recordedChanges.next(...words)
        if (changes.length > 0) pass(50)
        return { changes: changes.slice(0, 1), isMore: changes.length > 1 }
      },
    },
  }
}

/** How long it takes (s). */
async function durationOf({ nowMs }: EventFixture, run: () => Promise<void>): Promise<number> {
  const startMs = nowMs()
  await run()
  return (nowMs() - startMs) / 1000
}

const messages = ({ sent }: EventFixture) =>
  sent.splice(0).flatMap(({ message }) => (message.queue === 'events' ? [message.message] : []))

describe('Publishing', () => {
  it('leaves events that do not fit into two minutes to another message', async () => {
    const fixture = await eventFixture()
    const { tenantId } = fixture
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['collection.*'])
    for (let count = 0; count < 5; count += 1) await fixture.joinable(OPEN)
    messages(fixture)
    const publish = () => publishOutbox(tenantId, 'collections', slowEvents(fixture))
    assert.equal(await durationOf(fixture, publish), 150)
    assert.deepEqual(messages(fixture), [{ tenantId, source: 'collections' }])
    assert.equal(await durationOf(fixture, publish), 150)
    await fixture.drain()
    assert.deepEqual(hook.types(), Array(5).fill('collection.created'))
  })

  it('leaves changes of members that do not fit into two minutes to another message', async () => {
    const fixture = await eventFixture()
    const { tenantId } = fixture
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['member.*'])
    const collectionId = await fixture.joinable(OPEN)
    for (let count = 0; count < 5; count += 1) await fixture.submit(await fixture.person(), collectionId)
    messages(fixture)
    const publish = () => publishMembers(tenantId, [collectionId], slowEvents(fixture))
    assert.equal(await durationOf(fixture, publish), 150)
    assert.deepEqual(messages(fixture), [{ tenantId, collectionIds: [collectionId] }])
    await publish()
    await fixture.drain()
    assert.deepEqual(hook.types(), Array(5).fill('member.added'))
  })

  it('by a sweep leaves what does not fit into its time to other messages', async () => {
    const fixture = await eventFixture()
    const { tenantId } = fixture
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['collection.*', 'member.*', 'request.joined'])
    const collectionId = await fixture.joinable(OPEN)
    for (let count = 0; count < 3; count += 1) await fixture.joinable(OPEN)
    for (let count = 0; count < 5; count += 1) await fixture.submit(await fixture.person(), collectionId)
    messages(fixture)
    assert.equal(await durationOf(fixture, () => sweepEvents(tenantId, slowEvents(fixture))), 350)
    const left = messages(fixture)
    assert.deepEqual(left, [
      { tenantId, source: 'collections' },
      { tenantId, source: 'requests' },
      { tenantId, collectionIds: [collectionId] },
    ])
    for (const message of left) await fixture.service.messages.events.handle(message)
    await fixture.drain()
    const counts = ['collection.created', 'member.added', 'request.joined'].map(
      (type) => hook.types().filter((other) => other === type).length,
    )
    assert.deepEqual([counts, new Set(hook.events().map(({ id }) => id)).size], [[4, 5, 5], 14])
  })
})

const TIME = '2030-06-01T08:00:00.000+00:00'
const draft = (index: number) => ({
  key: [`${index}`],
  type: 'link.failed' as const,
  time: TIME,
  subject: '/',
  data: {},
})

describe('Many events', () => {
  it('are removed from the outbox a hundred at a time, also when some are removed already', async () => {
    const { container, tenantId, nowMs } = await eventFixture()
    const links = container('links')
    const drafts = Array.from({ length: 130 }, (_, index) => draft(index))
    await links.items.batch(
      drafts.slice(0, 65).map((event) => outboxOperation(tenantId, [event])),
      tenantId,
    )
    await links.items.batch(
      drafts.slice(65).map((event) => outboxOperation(tenantId, [event])),
      tenantId,
    )
    const requests: string[] = []
    const counted = {
      items: {
        query: links.items.query.bind(links.items),
        batch: (...words: Parameters<typeof links.items.batch>) => {
          requests.push('batch')
          return links.items.batch(...words)
        },
      },
      item: (id: string, partition: string) => {
        requests.push(id)
        return links.item(id, partition)
      },
    } as Container
    const outbox = cosmosOutboxStore(() => counted, nowMs)
    const entries = await outbox.first('links', tenantId)
    assert.equal(entries.length, 130)
    await links.item(entries[70]?.id ?? assert.fail(), tenantId).delete()
    await outbox.remove('links', tenantId, entries)
    assert.deepEqual(await outbox.first('links', tenantId), [])
    assert.deepEqual(requests, ['batch', 'batch', 'batch'])
  })

  it('become notices four at a time', async () => {
    const { container, tenantId, nowMs } = await eventFixture()
    const events = container('events')
    const counts: number[] = []
    let count = 0
    const counted = {
      items: {
        query: events.items.query.bind(events.items),
        create: async (document: object) => {
          count += 1
          counts.push(count)
          try {
            return await events.items.create(document)
          } finally {
            count -= 1
          }
        },
      },
    } as Container
    const notices = cosmosNoticeStore(counted)
    const added = Array.from({ length: 20 }, (_, index) => ({ ...draft(index), id: `event${index}` }))
    await notices.add(tenantId, added)
    assert.equal(Math.max(...counts), 4)
    assert.equal((await notices.due(tenantId, nowMs())).length, 20)
  })
})
