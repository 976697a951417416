import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

type Loaded = {
  readonly byCode: readonly string[]
  readonly byStart: readonly string[]
  readonly capabilities: Readonly<Record<string, string>>
}

/** Enough for the app to load: nothing connects before it is used. */
const SETTINGS = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_CLIENT_SECRET: 'not-used',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  COSMOS_KEY: Buffer.alloc(64).toString('base64'),
  ServiceBus: 'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true',
  CURSOR_KEYS: Buffer.alloc(32).toString('base64'),
  APPLICATION_INSIGHTS_NO_STATSBEAT: '1',
}

function loadedWith(settings: Readonly<Record<string, string>>): Loaded {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'loaded-modules.ts')], {
    env: { PATH: process.env.PATH, ...SETTINGS, ...settings },
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  })
  return JSON.parse(output)
}

const ofTelemetry = (urls: readonly string[]) =>
  urls.filter((url) => /@opentelemetry|monitor-opentelemetry-exporter|shared\/telemetry/.test(url))

describe('The packages of telemetry', () => {
  it('are not loaded where nothing is to be exported', () => {
    const { byCode, byStart, capabilities } = loadedWith({})
    assert.ok(byCode.length > 200, `only ${byCode.length} modules were seen`)
    assert.deepEqual(ofTelemetry([...byCode, ...byStart]), [])
    assert.equal(capabilities.WorkerOpenTelemetryEnabled, undefined)
  })

  it('are loaded when the app starts, not with its code, where something is', () => {
    const connectionString =
      'InstrumentationKey=00000000-0000-4000-8000-000000000001;IngestionEndpoint=https://127.0.0.1:9/'
    const { byCode, byStart, capabilities } = loadedWith({ APPLICATIONINSIGHTS_CONNECTION_STRING: connectionString })
    assert.deepEqual(ofTelemetry(byCode), [])
    for (const name of ['monitor-opentelemetry-exporter', '@opentelemetry/sdk-metrics', 'shared/telemetry']) {
      assert.ok(
        byStart.some((url) => url.includes(name)),
        name,
      )
    }
    assert.equal(capabilities.WorkerOpenTelemetryEnabled, 'true')
  })
})
