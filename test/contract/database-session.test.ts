import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { createContainers } from '../../infra/local/cosmos/local-account.ts'
import { startCosmos } from '../../infra/local/cosmos/server.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession } from '../../shared/cosmos/database-session.ts'
import { inProcess } from './local-database.ts'

const key = randomBytes(64).toString('base64')
const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, replicaLag: { behindWrites: 1_000 } })
cosmos.unref()
await createContainers(cosmos.endpoint, key, cosmos.httpClient)

/** An instance of the service with its own session. */
function instance() {
  const session = new DatabaseSession()
  const container = openDatabase(inProcess(cosmos), session)
  return {
    session,
    write: (id: string) => container('links').items.upsert({ id, tenantId: 't1', directoryGroupId: id }),
    create: (id: string) => container('links').items.create({ id, tenantId: 't1', directoryGroupId: `another ${id}` }),
    batch: () => container('links').items.batch([{ operationType: 'Read', id: 'none' }], 't1'),
    has: async (id: string) => (await container('links').item(id, 't1').read()).resource !== undefined,
    count: async () =>
      (await container('links').items.query('SELECT * FROM c', { partitionKey: 't1' }).fetchAll()).resources.length,
  }
}

describe('The session of an instance with a lagging replica', () => {
  it('sees its own writes in point reads and queries', async () => {
    const [one, other] = [instance(), instance()]
    await one.write('a')
    assert.equal(await one.has('a'), true)
    assert.equal(await one.count(), 1)
    assert.equal(await other.has('a'), false)
  })

  it('sees what another instance has seen once it has the tokens of that instance', async () => {
    const [one, other] = [instance(), instance()]
    await one.write('b')
    const before = other.session.tokens()
    other.session.advance(one.session.tokens())
    assert.equal(await other.has('b'), true)
    other.session.advance(before)
    assert.equal(await other.has('b'), true)
    const third = instance()
    third.session.advance(JSON.parse(JSON.stringify(other.session.tokens())))
    assert.equal(await third.has('b'), true)
  })

  it('sees a write that conflicted with its own, and what a batch has read', async () => {
    const [one, other, third] = [instance(), instance(), instance()]
    await one.write('c')
    await other.batch()
    assert.equal(await other.has('c'), true)
    await assert.rejects(third.create('c'), { code: 409 })
    assert.equal(await third.has('c'), true)
  })

  it('ignores invalid tokens, and keeps the newest token of each range', () => {
    const session = new DatabaseSession()
    session.advance({ links: '0:-1#5,1:-1#7', jobs: 'no token', tenants: '' })
    session.advance({ links: '1:-1#6,0:-1#9,2:3#1#4=7' })
    session.advance({ links: '2:2#100' })
    assert.deepEqual(session.tokens(), { links: '0:-1#9,1:-1#7,2:3#1#4=7' })
  })

  it('drops a token whose writes no replica has', async () => {
    const one = instance()
    await one.write('e')
    one.session.advance({ links: '0:-1#999999' })
    await one.count()
    assert.ok(!one.session.tokens().links?.includes('999999'))
  })
})
