import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { SettingsError } from '../../shared/settings/parse-setting.ts'
import { readSettings, SETTINGS } from '../../shared/settings/settings.ts'

const CLOUD = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_IDENTITY_CLIENT_ID: '33333333-3333-4333-8333-333333333333',
  COSMOS_ENDPOINT: 'https://account.documents.azure.com:443/',
  ServiceBus__fullyQualifiedNamespace: 'namespace.servicebus.windows.net',
}

/** Values that are not of the form of their setting. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  AUTHORITY_URL: ['login', 'http//x', 'login.microsoftonline.com:443', 'ftp://login.example'],
  SERVICE_CLIENT_ID: ['the service', '11111111-1111-4111-8111'],
  API_SCOPE: ['two scopes', 'a,b'],
  CONSOLE_CLIENT_ID: ['the console'],
  CONSOLE_AUTHORITY_URL: ['login', 'ftp://login.example'],
  TENANTS: ['all', 'Any', '11111111-1111-4111-8111-111111111111,home', ','],
  REQUESTS_PER_CALLER_PER_MINUTE: ['-1', '1e3', 'many'],
  REQUESTS_PER_TENANT_PER_MINUTE: ['-1', '1e3', 'many'],
  HOME_TENANT_ID: ['home', '22222222222242228222222222222222'],
  GRAPH_URL: ['//', 'graph', 'graph.microsoft.com:443'],
  MANAGED_IDENTITY_CLIENT_ID: ['identity'],
  GRAPH_IDENTITY_CLIENT_ID: ['identity'],
  COSMOS_ENDPOINT: ['not a url', 'account', 'account.documents.azure.com:443/'],
  COSMOS_KEY: ['not base64!', 'a b'],
  ServiceBus: ['namespace.servicebus.windows.net', 'Endpoint=https://x'],
  ServiceBus__fullyQualifiedNamespace: ['sb://namespace.servicebus.windows.net', 'namespace', 'a b'],
  APPLICATIONINSIGHTS_CONNECTION_STRING: ['IngestionEndpoint=https://127.0.0.1/', 'a key'],
  CURSOR_KEYS: ['c2hvcnQ=', ',', 'not base64', 'neither short nor made of what base64 is!'],
  LOG_LEVEL: ['loud'],
  ROWS_MEMORY_MB: ['0', '-1', 'much'],
  EVALUATION_DELAY_MS: ['-1', '1.5', 'soon'],
  HISTORY_DAYS: ['0', 'a year'],
  SYNC_RETRY_DELAYS_S: ['15,,60', 'x', '-1'],
  SYNC_BATCH_S: ['4m', '0'],
  SYNC_LEASE_S: ['1e3', '0'],
  CLOCK_DIFFERENCE_S: ['-1', '2m'],
  DIRECTORY_WRITES_PER_TENANT: ['many', '0'],
  DIRECTORY_WRITES_TOTAL: ['0x10', '0'],
  MAIL_SENDER: ['sender', 'sender@host', 'A <sender@host.example>', 'a@b.example,c@d.example'],
  PUBLIC_URL: ['collections.example', 'ftp://collections.example'],
  EVENT_TARGETS: ['127.0.0.1', 'http://127.0.0.1,ftp://127.0.0.1'],
}

/** One line that says which setting it is. */
function assertNamed(environment: Readonly<Record<string, string | undefined>>, name: string, value?: string): void {
  assert.throws(
    () => readSettings(environment),
    (error) =>
      error instanceof SettingsError &&
      error.message.includes(name) &&
      !error.message.includes('\n') &&
      (value === undefined || value.length < 3 || !error.message.includes(value)),
  )
}

describe('settings', () => {
  it('have defaults', () => {
    const settings = readSettings(CLOUD)
    assert.equal(settings.authorityUrl, 'https://login.microsoftonline.com')
    assert.equal(settings.graphUrl, 'https://graph.microsoft.com')
    assert.equal(settings.serviceResourceUri, `api://${CLOUD.SERVICE_CLIENT_ID}`)
    assert.equal(settings.apiScope, 'user_impersonation')
    assert.equal(settings.tenants, 'any')
    assert.equal(settings.requestsPerCallerPerMinute, 6_000)
    assert.deepEqual(settings.syncRetryDelaysS, [15, 60, 240])
    assert.equal(settings.cosmosEndpoint, 'https://account.documents.azure.com:443')
  })

  it('sign people in to the console at the authority of the service, unless another one is set', () => {
    const authorityUrl = 'https://login.example'
    assert.equal(readSettings({ ...CLOUD, AUTHORITY_URL: authorityUrl }).consoleAuthorityUrl, authorityUrl)
    const ofConsole = { AUTHORITY_URL: authorityUrl, CONSOLE_AUTHORITY_URL: 'https://console.example' }
    assert.equal(readSettings({ ...CLOUD, ...ofConsole }).consoleAuthorityUrl, 'https://console.example')
    assert.equal(readSettings(CLOUD).consoleAuthorityUrl, 'https://login.microsoftonline.com')
  })

  it('lead from mails to the host name of the function app, unless another address is set', () => {
    const publicUrlOf = (more: object) => readSettings({ ...CLOUD, ...more }).publicUrl
    const host = { WEBSITE_HOSTNAME: 'collections.azurewebsites.net' }
    assert.equal(publicUrlOf(host), 'https://collections.azurewebsites.net')
    assert.equal(publicUrlOf({ ...host, PUBLIC_URL: 'https://groups.example/' }), 'https://groups.example')
    assert.equal(publicUrlOf({}), undefined)
  })

  it('convert ids to lower case, as tokens have them', () => {
    const written = { ...CLOUD, SERVICE_CLIENT_ID: 'ABCDEF01-2345-4789-8BCD-EF0123456789' }
    const { serviceClientId, serviceResourceUri } = readSettings(written)
    assert.equal(serviceClientId, 'abcdef01-2345-4789-8bcd-ef0123456789')
    assert.equal(serviceResourceUri, 'api://abcdef01-2345-4789-8bcd-ef0123456789')
    const tenants = 'ABCDEF01-2345-4789-8BCD-EF0123456789, 11111111-1111-4111-8111-111111111111'
    assert.deepEqual(readSettings({ ...CLOUD, TENANTS: tenants }).tenants, new Set(tenants.toLowerCase().split(', ')))
  })

  for (const { name } of Object.values(SETTINGS)) {
    const environment: Record<string, string | undefined> = { ...CLOUD, [name]: undefined }
    if (name in CLOUD) {
      it(`report ${name} when it is missing`, () => assertNamed(environment, name))
    } else {
      it(`do not require ${name}`, () => void readSettings(environment))
    }
    const malformed = MALFORMED[name]
    for (const value of malformed ?? []) {
      it(`report ${name} when it is ${value}, without the value`, () => {
        assertNamed({ ...CLOUD, [name]: value }, name, value)
      })
    }
  }

  it('have a test with invalid values, except those that accept any text', () => {
    const shapeless = Object.values(SETTINGS).filter(({ name }) => MALFORMED[name] === undefined)
    assert.deepEqual(
      shapeless.map(({ name }) => name),
      ['SERVICE_RESOURCE_URI', 'GRAPH_CLIENT_SECRET'],
    )
  })

  it('report all errors together, in one line', () => {
    assert.throws(
      () => readSettings({}),
      ({ message }: Error) => Object.keys(CLOUD).every((name) => message.includes(name)) && !message.includes('\n'),
    )
  })

  it('are all in the sample, without a secret', () => {
    const file = new URL('../../local.settings.sample.json', import.meta.url)
    const { Values } = JSON.parse(readFileSync(file, 'utf8')) as { Values: Record<string, string> }
    const disabled = ['AzureWebJobs.sweep.Disabled', 'AzureWebJobs.sweepAfterRestore.Disabled']
    const ofTheHost = ['FUNCTIONS_WORKER_RUNTIME', 'AzureWebJobsDisableHomepage', ...disabled]
    const known = Object.values(SETTINGS).map(({ name }) => name)
    assert.deepEqual(Object.keys(Values), [...ofTheHost, ...known])
    const secrets = known.filter((name) => /SECRET|KEY|^ServiceBus$|CONNECTION_STRING/.test(name))
    assert.deepEqual(
      secrets.filter((name) => Values[name] !== ''),
      [],
    )
    const filledIn = Object.fromEntries(Object.entries(Values).filter(([, value]) => value !== ''))
    readSettings({ ...CLOUD, ...filledIn })
  })

  it('are all documented in the operations guide', () => {
    const guide = readFileSync(new URL('../../infra/operations/settings.md', import.meta.url), 'utf8')
    const table = guide.slice(guide.indexOf('## Service'), guide.indexOf('## Local environment'))
    const named = [...table.matchAll(/^\| `(\w+)` *\| (.*?) *\|$/gm)].map(([, name, meaning]) => ({ name, meaning }))
    const known = Object.values(SETTINGS).map(({ name, meaning }) => ({ name, meaning }))
    assert.deepEqual(named, known)
  })
})
