import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosOutbox, cosmosOutboxStore } from '../../shared/cosmos/events/outbox.ts'
import { cosmosLinkStore } from '../../shared/cosmos/links/link-store.ts'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import { faultLog } from '../support/api/built-service.ts'
import { localAccount, localDatabase } from '../support/contract/local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const IDS = { collectionId: randomUUID(), directoryGroupId: randomUUID() }
const LINK = newLink({ id: randomUUID(), tenantId: randomUUID(), directoryGroupDisplayName: null, ...IDS }, NOW_MS)
const failed: GroupLink = { ...LINK, lastSyncOutcome: 'Failed', lastSyncError: 'No group' }

describe('The store of links', () => {
  it('writes what a change tells in its transaction: none of a write that is refused', async () => {
    const container = await localDatabase()
    const messageQueue = { enqueue: async () => undefined }
    const outbox = cosmosOutbox({ isWanted: async () => true, messageQueue, log: faultLog(), newId: randomUUID })
    const links = cosmosLinkStore(container('links'), outbox, () => NOW_MS)
    const { value, version } = await links.add(LINK)
    const entries = () => cosmosOutboxStore(container, () => NOW_MS).first('links', LINK.tenantId)
    await assert.rejects(links.replace(failed, '"stale"', undefined, value), { code: 'StaleVersion' })
    assert.deepEqual(await entries(), [])
    await links.replace(failed, version, undefined, value)
    const [entry] = await entries()
    assert.deepEqual(
      entry?.events.map(({ type, data }) => [type, data.error]),
      [['link.failed', 'No group']],
    )
    assert.equal((await links.ofTenant(LINK.tenantId)).length, 1)
  })
})

describe('The outbox', () => {
  it('gives the events of one second in their order, also when they are more than it reads at once', async () => {
    const { container } = await localAccount(() => NOW_MS)
    const { tenantId } = LINK
    const times = Array.from({ length: 120 }, (_, index) => `2030-01-01T00:00:00.${String(index).padStart(3, '0')}Z`)
    for (const [index, time] of times.entries()) {
      // The ids are in the opposite order.
      const event = { id: String(999 - index), type: 'link.updated', time, subject: '/', data: {} }
      const document = { id: `outbox:${event.id}`, tenantId, directoryGroupId: event.id, isOutbox: true }
      await container('links').items.create({ ...document, entry: JSON.stringify([event]) })
    }
    const outbox = cosmosOutboxStore(container, () => NOW_MS)
    const told: (string | undefined)[] = []
    for (;;) {
      const entries = await outbox.first('links', tenantId)
      if (entries.length === 0) break
      told.push(...entries.map(({ events }) => events[0]?.time))
      await outbox.remove('links', tenantId, entries)
    }
    assert.deepEqual(told, times)
  })
})
