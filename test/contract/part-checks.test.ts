import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { startServiceBus } from '../../infra/local/service-bus/broker.ts'
import { authorityKeys } from '../../shared/auth/signing-keys.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { databaseCheck } from '../../shared/cosmos/database-check.ts'
import { queueCheck } from '../../shared/messaging/message-sender.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const unlimited = () => new AbortController().signal
const soon = () => AbortSignal.timeout(500)

describe('the check of the database', () => {
  it('succeeds on an empty database', async () => {
    await databaseCheck((await localDatabase())('tenants'))(unlimited())
  })

  it('fails where nothing listens, and stops when it is aborted', async () => {
    const container = openDatabase({ endpoint: 'http://127.0.0.1:9', key: Buffer.alloc(64).toString('base64') })
    await assert.rejects(databaseCheck(container('tenants'))(soon()))
  })
})

describe('the check of the queue', () => {
  it('succeeds on an empty queue, fails when the broker is gone, and succeeds when it is back', async () => {
    const options = { file: ':memory:', queues: QUEUES }
    const bus = await startServiceBus({ ...options, port: 0 })
    const check = queueCheck({ connectionString: bus.connectionString })
    await check(unlimited())
    await check(unlimited())
    await bus.close()
    await assert.rejects(check(soon()))
    const port = Number(/:(\d+);/.exec(bus.connectionString)?.[1])
    const restarted = await startServiceBus({ ...options, port })
    try {
      await check(AbortSignal.timeout(5_000))
    } finally {
      await restarted.close()
    }
  })
})

describe('the check of the keys', () => {
  it('fails while the keys are unavailable, succeeds when they are loaded, and loads them once', async () => {
    let servedCount = 0
    let isUp = false
    const authority = createServer((_request, response) => {
      servedCount++
      response.writeHead(isUp ? 200 : 500, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [] }))
    }).listen(0, '127.0.0.1')
    await new Promise((listening) => authority.once('listening', listening))
    const keys = authorityKeys(`http://127.0.0.1:${(authority.address() as AddressInfo).port}`, () => 0)
    await assert.rejects(keys.ready(), { name: 'KeysUnavailable' })
    isUp = true
    await keys.ready()
    const countWhenKnown = servedCount
    await keys.ready()
    assert.equal(servedCount, countWhenKnown)
    authority.close()
  })
})
