import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { demoEnvironment } from '../../infra/local/demo/demo-environment.ts'
import {
  demoRun,
  failedStart,
  newDataFolder,
  type StartedEnvironment,
  startedEnvironment,
} from '../support/journeys/started-environment.ts'

/** One line without a stack. */
function assertOneLine(stderr: string, expected: RegExp): void {
  assert.match(stderr, /^Cannot start: [^\n]+\n$/)
  assert.match(stderr, expected)
}

describe('npm start', () => {
  const folder = join(newDataFolder(), 'state')
  const modeOf = (path: string) => statSync(path).mode & 0o777
  const readable = () => readdirSync(folder).filter((name) => (modeOf(join(folder, name)) & 0o077) !== 0)
  let environment: StartedEnvironment
  before(async () => {
    environment = await startedEnvironment(folder, { DEMO_IDENTITIES: '0' })
  })
  after(() => environment.stop())

  it('keeps its state where only its owner can read it', () => {
    assert.equal(modeOf(folder), 0o700)
    assert.ok(readdirSync(folder).includes('directory.sqlite-wal'))
    assert.deepEqual(readable(), ['ca.pem'])
  })

  it('stops within 5 s of SIGTERM, with code 0', async () => {
    const beforeMs = performance.now()
    assert.equal(await environment.stop('SIGTERM'), 0)
    assert.ok(performance.now() - beforeMs < 5_000)
  })

  it('takes from others what an earlier version let them read', async () => {
    chmodSync(join(folder, 'directory.sqlite'), 0o644)
    await (await startedEnvironment(folder, { DEMO_IDENTITIES: '0' })).stop()
    assert.deepEqual(readable(), ['ca.pem'])
  })

  it('loads demo data for the tenants of the settings only, which the service serves', async () => {
    const [first, second] = demoEnvironment({ identityCount: 0, seed: 'collections-service' }).municipalities
    const started = await startedEnvironment(newDataFolder(), {
      DEMO_IDENTITIES: '0',
      TENANTS: second?.tenantId ?? '',
    })
    const listed = async (tenantId = '') => {
      const tenant = started.demo.tenants.find((tenant) => tenant.tenantId === tenantId)
      const operator = tenant?.apps.find(({ name }) => name === 'operator')
      const { json } = await started.directory('POST', `/${tenantId}/oauth2/v2.0/token`, {
        form: {
          grant_type: 'client_credentials',
          client_id: operator?.clientId ?? '',
          client_secret: operator?.clientSecret ?? '',
          scope: started.demo.scope,
        },
      })
      const token = (json as { access_token: string }).access_token
      const response = await fetch(`${started.apiUrl}/iamcore/beta/sync/coreobjects/identities`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const { data, errors } = (await response.json()) as { data: unknown[] | null; errors: { code: string }[] }
      return { hasData: data !== null && data.length > 0, codes: errors.map(({ code }) => code) }
    }
    assert.deepEqual(await listed(first?.tenantId), { hasData: false, codes: ['TenantNotAllowed'] })
    assert.deepEqual(await listed(second?.tenantId), { hasData: true, codes: [] })
    await started.stop()
  })

  for (const variable of ['PORT', 'DIRECTORY_PORT', 'DIRECTORY_HTTP_PORT', 'COSMOS_PORT', 'SERVICE_BUS_PORT']) {
    it(`reports the port of ${variable} if it is in use`, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const port = String((server.address() as { port: number }).port)
      const { code, stderr } = await failedStart({ DATA_DIR: newDataFolder(), DEMO_IDENTITIES: '0', [variable]: port })
      server.close()
      assert.equal(code, 1)
      assertOneLine(stderr, new RegExp(port))
    })
  }

  for (const file of ['secrets.json', 'cosmos.sqlite', 'service-bus.sqlite', 'directory.sqlite', 'demo.sqlite']) {
    it(`reports ${file} if it is damaged`, async () => {
      const folder = newDataFolder()
      writeFileSync(join(folder, file), 'this is not what it should be'.repeat(100))
      const { code, stderr } = await failedStart({ DATA_DIR: folder, DEMO_IDENTITIES: '0' })
      assert.equal(code, 1)
      assertOneLine(stderr, new RegExp(file.replace('.', '\\.')))
    })
  }

  for (const [variable, value] of [
    ['SYNC_BATCH_S', 'soon'],
    ['SYNC_RETRY_DELAYS_S', '1,x'],
    ['LOG_LEVEL', 'loud'],
    ['TENANTS', 'all'],
    ['DEMO_IDENTITIES', 'many'],
    ['PORT', '70000'],
  ] as const) {
    it(`reports ${variable} if it is invalid`, async () => {
      const { code, stderr } = await failedStart({ DATA_DIR: newDataFolder(), [variable]: value })
      assert.equal(code, 1)
      assertOneLine(stderr, new RegExp(variable))
    })
  }
})

describe('npm run demo', () => {
  it('brings everything up, runs the main use case and names its link in the console', async () => {
    const { code, output } = await demoRun({ DATA_DIR: newDataFolder(), DEMO_IDENTITIES: '40' })
    assert.equal(code, 0, output)
    const added = /^Sync job \S+: Succeeded, ([1-9]\d*) added, 0 removed\.$/m.exec(output)?.[1]
    assert.match(output, new RegExp(`^Directory group Demo security-1: ${added} members, ${added} added by`, 'm'))
    assert.match(output, /^console {4}http:\/\/localhost:\d+\/console\/links\/[\da-f-]{36}$/m)
  })
})
