import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { APP_SETTINGS } from '../support/architecture/settings-to-load.ts'

type Loaded = {
  readonly byCode: readonly string[]
  /** By the first request. */
  readonly byAnswer: readonly string[]
  readonly byExport: readonly string[]
  readonly status: number
  readonly capabilities: Readonly<Record<string, string>>
}

/** Disables the exporter's own telemetry. */
const SETTINGS = { ...APP_SETTINGS, APPLICATION_INSIGHTS_NO_STATSBEAT: '1' }

function loadedWith(settings: Readonly<Record<string, string>>): Loaded {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, '../support/telemetry/loaded-modules.ts')], {
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
    const { byCode, byAnswer, byExport, capabilities, status } = loadedWith({})
    assert.ok(byCode.some((url) => url.endsWith('functions/app/telemetry.ts')))
    assert.equal(status, 200)
    const later = [...byAnswer, ...byExport]
    // Log lines have the context of their invocation, also when nothing is exported.
    const ofContexts = /@opentelemetry\/(api|context-async-hooks|core|semantic-conventions)\//
    assert.deepEqual(
      ofTelemetry([...byCode, ...later]).filter((url) => !ofContexts.test(url)),
      [],
    )
    assert.equal(capabilities.WorkerOpenTelemetryEnabled, undefined)
  })

  it('are loaded by the first request, and the exporter after its answer, when telemetry is exported', () => {
    const connectionString =
      'InstrumentationKey=00000000-0000-4000-8000-000000000001;IngestionEndpoint=https://127.0.0.1:9/'
    const settings = { APPLICATIONINSIGHTS_CONNECTION_STRING: connectionString }
    const { byCode, byAnswer, byExport, capabilities, status } = loadedWith(settings)
    assert.deepEqual(ofTelemetry(byCode), [])
    assert.equal(status, 200)
    const isLoaded = (urls: readonly string[], name: string) => urls.some((url) => url.includes(name))
    for (const name of [
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/sdk-trace-base',
      'shared/telemetry/azure-monitor',
    ]) {
      assert.ok(isLoaded(byAnswer, name), name)
    }
    assert.ok(!isLoaded(byAnswer, 'monitor-opentelemetry-exporter'))
    assert.ok(isLoaded(byExport, 'monitor-opentelemetry-exporter'))
    assert.equal(capabilities.WorkerOpenTelemetryEnabled, 'true')
  })
})
