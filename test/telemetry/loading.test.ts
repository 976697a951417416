import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { APP_SETTINGS } from '../architecture/app-settings.ts'

type Loaded = {
  readonly byCode: readonly string[]
  readonly byStart: readonly string[]
  readonly capabilities: Readonly<Record<string, string>>
}

/** Disables the exporter's own telemetry. */
const SETTINGS = { ...APP_SETTINGS, APPLICATION_INSIGHTS_NO_STATSBEAT: '1' }

function loadedWith(settings: Readonly<Record<string, string>>): Loaded {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'loaded-modules.ts')], {
    env: { PATH: process.env.PATH, ...SETTINGS, ...settings },
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  })
  return JSON.parse(output)
}

const ofTelemetry = (urls: readonly string[]) =>
  urls.filter((url) => /@opentelemetry|monitor-opentelemetry-exporter|shared\/telemetry\/azure-monitor/.test(url))

describe('The packages of telemetry', () => {
  it('are not loaded when nothing is exported', () => {
    const { byCode, byStart, capabilities } = loadedWith({})
    assert.ok(byCode.some((url) => url.endsWith('functions/app/telemetry.ts')))
    assert.deepEqual(ofTelemetry([...byCode, ...byStart]), [])
    assert.equal(capabilities.WorkerOpenTelemetryEnabled, undefined)
  })

  it('are loaded at the start of the app, not with its code, when telemetry is exported', () => {
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
