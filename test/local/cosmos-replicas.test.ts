import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { CosmosClient } from '@azure/cosmos'
import type { ReplicaLag } from '../../infra/local/cosmos/replicas.ts'
import { KEY, openAccount } from './cosmos-account.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')

/** An account with a lagging replica, and clients with separate sessions. */
async function openLagging(t: TestContext, replicaLag: ReplicaLag) {
  const clock = { nowMs: START_MS }
  const account = await openAccount(t, { replicaLag, nowMs: () => clock.nowMs })
  await account.container('things', { defaultTtl: -1 })
  await account.container('others')
  const session = (id = 'things') => {
    const client = new CosmosClient({ endpoint: account.cosmos.endpoint, key: KEY, consistencyLevel: 'Session' })
    t.after(() => client.dispose())
    const container = client.database('tests').container(id)
    const query = { query: 'SELECT VALUE c.amount FROM c ORDER BY c.id' }
    return {
      container,
      write: (key: string, value: number) => container.items.upsert({ id: key, tenantId: 't1', amount: value }),
      read: async (key: string) => (await container.item(key, 't1').read()).resource?.amount as number | undefined,
      all: async () => (await container.items.query<number>(query, { partitionKey: 't1' }).fetchAll()).resources,
    }
  }
  return { ...account, clock, session }
}

it('shows a write to other sessions after the configured number of writes, and to its own session at once', async (t) => {
  const { session } = await openLagging(t, { behindWrites: 2 })
  const [writer, reader] = [session(), session()]
  await writer.write('a', 1)
  await writer.write('a', 2)
  assert.equal(await reader.read('a'), undefined)
  await writer.write('a', 3)
  assert.equal(await reader.read('a'), 1)
  assert.deepEqual(await reader.all(), [1])
  assert.equal(await writer.read('a'), 3)
  assert.deepEqual(await writer.all(), [3])
})

it('shows a write to other sessions after the configured time', async (t) => {
  const { session, clock } = await openLagging(t, { behindMs: 500 })
  const [writer, reader] = [session(), session()]
  await writer.write('a', 1)
  clock.nowMs += 499
  assert.equal(await reader.read('a'), undefined)
  clock.nowMs += 1
  assert.equal(await reader.read('a'), 1)
})

it('never shows a session an older state than it has seen', async (t) => {
  const { session } = await openLagging(t, { behindWrites: 100 })
  const [writer, reader] = [session(), session()]
  await writer.write('a', 1)
  await assert.rejects(reader.container.items.create({ id: 'a', tenantId: 't1' }), { code: 409 })
  assert.equal(await reader.read('a'), 1)
  assert.equal(await session().read('a'), undefined)
})

it('runs batches on the primary, and later reads of the session include what a batch has read', async (t) => {
  const { session } = await openLagging(t, { behindWrites: 100 })
  const [writer, reader] = [session(), session()]
  await writer.write('a', 1)
  const { result } = await reader.container.items.batch([{ operationType: 'Read', id: 'a' }], 't1')
  assert.equal(result?.[0]?.resourceBody?.amount, 1)
  assert.equal(await reader.read('a'), 1)
})

it('answers a read with the token of a write of another session', async (t) => {
  const { session } = await openLagging(t, { behindWrites: 100 })
  const { headers } = await session().write('a', 1)
  const reader = session()
  assert.equal(await reader.read('a'), undefined)
  const read = await reader.container.item('a', 't1').read({ sessionToken: String(headers['x-ms-session-token']) })
  assert.equal(read.resource?.amount, 1)
})

it('shows deletions, recreated items and whole batches in the order of the writes', async (t) => {
  const { session, clock } = await openLagging(t, { behindMs: 1_000 })
  const [writer, reader] = [session(), session()]
  for (const [key, value] of Object.entries({ a: 1, b: 2 })) await writer.write(key, value)
  clock.nowMs += 1_000
  assert.deepEqual(await reader.all(), [1, 2])
  await writer.container.item('a', 't1').delete()
  clock.nowMs += 100
  await writer.container.items.batch(
    [
      { operationType: 'Create', resourceBody: { id: 'a', tenantId: 't1', amount: 3 } },
      { operationType: 'Delete', id: 'b' },
    ],
    't1',
  )
  assert.deepEqual(await reader.all(), [1, 2])
  clock.nowMs += 900
  assert.deepEqual(await reader.all(), [2])
  clock.nowMs += 100
  assert.deepEqual(await reader.all(), [3])
})

it('expires documents on the replica as well, also before a new document with the same id', async (t) => {
  const { session, clock } = await openLagging(t, { behindMs: 10_000 })
  const [writer, reader] = [session(), session()]
  await writer.container.items.create({ id: 'a', tenantId: 't1', amount: 1, ttl: 5 })
  clock.nowMs += 6_000
  await writer.container.items.create({ id: 'a', tenantId: 't1', amount: 2 })
  clock.nowMs += 4_000
  assert.equal(await reader.read('a'), undefined)
  clock.nowMs += 6_000
  assert.equal(await reader.read('a'), 2)
})

it('lags only for the configured containers, and can be changed at run time', async (t) => {
  const { session, cosmos } = await openLagging(t, { behindWrites: 5, containers: ['others'] })
  await session().write('a', 1)
  assert.equal(await session().read('a'), 1)
  await session('others').write('a', 1)
  assert.equal(await session('others').read('a'), undefined)
  const control = (lag: object) =>
    fetch(`${cosmos.endpoint}/local/replicas`, { method: 'POST', body: JSON.stringify(lag) })
  assert.equal((await control({})).status, 204)
  assert.equal(await session('others').read('a'), 1)
  assert.equal((await control({ behindWrites: 1 })).status, 204)
  await session().write('a', 2)
  assert.equal(await session().read('a'), 1)
  for (const lag of [{ behindMs: '5' }, { behindWrites: -1 }, { containers: 'a' }, { behind: 5 }]) {
    assert.equal((await control(lag)).status, 400, JSON.stringify(lag))
  }
})
