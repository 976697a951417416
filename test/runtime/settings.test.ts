import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { readSettings, SETTINGS, SettingsError } from '../../shared/runtime/settings.ts'

const CLOUD = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  MANAGED_IDENTITY_CLIENT_ID: '33333333-3333-4333-8333-333333333333',
  COSMOS_ENDPOINT: 'https://account.documents.azure.com:443/',
  ServiceBus__fullyQualifiedNamespace: 'namespace.servicebus.windows.net',
  CURSOR_KEYS: Buffer.alloc(32, 1).toString('base64'),
}

describe('settings', () => {
  it('fill what is left out', () => {
    const settings = readSettings(CLOUD)
    assert.equal(settings.authorityUrl, 'https://login.microsoftonline.com')
    assert.equal(settings.graphUrl, 'https://graph.microsoft.com')
    assert.equal(settings.serviceResourceUri, `api://${CLOUD.SERVICE_CLIENT_ID}`)
    assert.deepEqual(settings.syncRetryDelaysS, [15, 60, 240])
    assert.equal(settings.cosmosEndpoint, 'https://account.documents.azure.com:443')
  })

  for (const missing of Object.keys(CLOUD) as (keyof typeof CLOUD)[]) {
    it(`name ${missing} when it is missing`, () => {
      const environment: Record<string, string | undefined> = { ...CLOUD, [missing]: undefined }
      assert.throws(
        () => readSettings(environment),
        (error) => error instanceof SettingsError && error.message.includes(missing),
      )
    })
  }

  for (const [name, value] of [
    ['COSMOS_ENDPOINT', 'not a url'],
    ['GRAPH_URL', '//'],
    ['LOG_LEVEL', 'loud'],
    ['APPLICATIONINSIGHTS_CONNECTION_STRING', 'IngestionEndpoint=https://127.0.0.1/'],
    ['CURSOR_KEYS', 'c2hvcnQ='],
    ['EVALUATION_DELAY_MS', '-1'],
    ['SYNC_RETRY_DELAYS_S', '15,,60'],
    ['SYNC_SLICE_S', '4m'],
  ] as const) {
    it(`name ${name} when it is ${value}, and do not repeat a value that may be secret`, () => {
      assert.throws(
        () => readSettings({ ...CLOUD, [name]: value }),
        ({ message }: Error) => message.includes(name) && !message.includes(value),
      )
    })
  }

  it('tell everything that is wrong at once, in one line', () => {
    assert.throws(
      () => readSettings({}),
      ({ message }: Error) => Object.keys(CLOUD).every((name) => message.includes(name)) && !message.includes('\n'),
    )
  })

  it('stand in the README, every one and no other', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const table = readme.slice(readme.indexOf('## Settings'), readme.indexOf('Only on one machine'))
    const named = [...table.matchAll(/^\| `(\w+)` *\| (.*?) *\|$/gm)].map(([, name, meaning]) => ({ name, meaning }))
    const known = Object.values(SETTINGS).map(({ name, meaning }) => ({ name, meaning }))
    assert.deepEqual(named, known)
  })
})
