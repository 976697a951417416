import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from './started-environment.ts'

describe('the probes of a started environment', () => {
  const dataFolder = newDataFolder()
  let environment: StartedEnvironment
  before(async () => {
    environment = await startedEnvironment(dataFolder, { DEMO_IDENTITIES: '0' })
  })
  after(() => environment.stop())

  const probe = async (path: string) => {
    const response = await fetch(`${environment.apiUrl}${path}`)
    return { status: response.status, headers: response.headers, json: (await response.json()) as { data: unknown } }
  }

  it('say without a token that the process answers, and that all parts can be used', async () => {
    const [health, ready] = await Promise.all([probe('/health'), probe('/ready')])
    assert.deepEqual([health.status, health.json.data], [200, { status: 'alive' }])
    assert.deepEqual(ready.json.data, { database: 'ready', queue: 'ready', directoryKeys: 'ready' })
    assert.equal(ready.status, 200)
    assert.match(ready.headers.get('x-request-id') ?? '', /^[\w.-]{1,128}$/)
  })

  it('leave no trace but the answer: nothing of hosts and keys', async () => {
    const { Values } = JSON.parse(readFileSync(join(dataFolder, 'local.settings.json'), 'utf8'))
    const told = JSON.stringify([await probe('/health'), await probe('/ready')])
    for (const name of ['COSMOS_ENDPOINT', 'COSMOS_KEY', 'ServiceBus', 'AUTHORITY_URL']) {
      assert.ok(Values[name].length > 5 && !told.includes(Values[name]), name)
    }
  })
})
