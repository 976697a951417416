import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { cosmosMailboxStore } from '../../shared/cosmos/events/mail-stores.ts'
import { cosmosOutboxStore, outboxOperation } from '../../shared/cosmos/events/outbox.ts'
import { newMailbox } from '../../shared/domain/mail/mailbox.ts'
import { localAccount } from '../support/contract/local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const { container } = await localAccount(() => NOW_MS)
const events = container('events')
const mailboxes = cosmosMailboxStore(events)

it('A mailbox is kept for as long as its preference is, and else for 40 days', async () => {
  const tenantId = randomUUID()
  const ttlOf = async (mail: 'Immediately' | 'Daily' | 'None') => {
    await mailboxes.save(tenantId, { ...newMailbox(mail), mail }, undefined)
    return (await events.item(`mailbox:${mail}`, tenantId).read<{ ttl?: number }>()).resource?.ttl
  }
  assert.deepEqual(
    [await ttlOf('Immediately'), await ttlOf('Daily'), await ttlOf('None')],
    [3_456_000, undefined, undefined],
  )
})

it('A tenant whose digest was due is found by the sweep of mails, until then it is not', async () => {
  const tenantId = randomUUID()
  await mailboxes.save(tenantId, { ...newMailbox('ada'), mail: 'Daily', digestAtMs: NOW_MS }, undefined)
  assert.ok(![...(await mailboxes.tenantsBehind(NOW_MS - 1))].includes(tenantId))
  assert.ok([...(await mailboxes.tenantsBehind(NOW_MS))].includes(tenantId))
})

it('Events that were stored within one second are published in the order of their times', async () => {
  const tenantId = randomUUID()
  const times = ['00.002', '00.001', '00.003'].map((seconds) => `2030-01-01T00:00:${seconds}+00:00`)
  for (const time of times) {
    const draft = { key: [time], type: 'collection.created', time, subject: '/collections/1', data: {} } as const
    const { resourceBody } = outboxOperation(tenantId, [draft]) as { resourceBody: object }
    await container('collections').items.upsert(resourceBody)
  }
  const entries = await cosmosOutboxStore(container, () => NOW_MS).first('collections', tenantId)
  assert.deepEqual(
    entries.map((entry) => entry.events.map(({ time }) => time)),
    times.toSorted().map((time) => [time]),
  )
})
