import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, describe, it } from 'node:test'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { deleteLink, requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { minuteOfTenant } from '../../shared/domain/group-links/tenant-store.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { enqueueSweeps, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { observedCalls } from '../../shared/graph/observed-calls.ts'
import { METRICS, type MetricName } from '../../shared/kernel/metrics.ts'
import { openTelemetry } from '../../shared/telemetry/telemetry.ts'
import { criteriaTenant, named, startCriteriaService } from '../support/api/criteria-service.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'
import { recordedTelemetry } from '../support/telemetry/recorded.ts'

describe('The metrics of a sync', () => {
  const telemetry = recordedTelemetry()
  const { metrics } = telemetry
  let fixture: LinkFixture
  let deps: SyncDependencies

  before(async () => {
    fixture = await openFixture()
    const directory = fixture.directoryOver((send) => observedCalls(send, metrics))
    deps = { ...fixture.deps, directory, metrics }
  })
  after(async () => {
    await fixture.close()
    await telemetry.close()
  })
  afterEach(async () => {
    await telemetry.values()
    telemetry.clear()
    fixture.server.setFaults([])
    fixture.sentMessages.length = 0
  })

  /** Name, value and dimensions of the recorded metrics, except those with values that depend on the clock. */
  async function measured(...but: MetricName[]): Promise<[string, number, object][]> {
    const values = await telemetry.values()
    return values
      .filter(({ name }) => !but.includes(name as MetricName))
      .map(({ name, value, dimensions }) => [name, value, { ...dimensions }])
  }

  async function syncedLink(): Promise<{ collectionId: string; groupId: string; linkId: string }> {
    const linked = await fixture.linked(users(0, 5))
    await fixture.drain()
    return linked
  }

  it('count accounts that a job adds and removes, and members that it skips', async () => {
    const { collectionId } = await fixture.linked(users(0, 5), users(3, 4))
    await fixture.drain(deps)
    assert.deepEqual(await measured('sync.job.duration'), [
      ['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Succeeded' }],
      ['members.added', 3, { cause: 'job' }],
      ['members.removed', 2, { cause: 'job' }],
    ])
    telemetry.clear()
    fixture.collections.change(collectionId, users(0, 6), 2)
    await requestSync(TENANT, collectionId, deps)
    await fixture.drain(deps)
    assert.deepEqual(await measured('sync.job.duration'), [
      ['sync.jobs', 1, { type: 'ManualSync', outcome: 'Succeeded' }],
      ['members.added', 1, { cause: 'job' }],
      ['members.skipped', 2, {}],
    ])
  })

  it('count a failed job after its last run', async () => {
    const { groupId } = await fixture.linked(users(0, 5))
    fixture.server.setFaults([{ path: groupId, status: 503 }])
    await fixture.drain(deps)
    const measuredOnce = await measured('sync.job.duration')
    assert.deepEqual(measuredOnce, [['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Failed' }]])
  })

  it('include retries in the duration of a job', async () => {
    const { groupId } = await fixture.linked(users(0, 5))
    fixture.server.setFaults([{ path: groupId, status: 503, times: 4 }])
    await fixture.drain(deps)
    const [duration] = (await telemetry.values()).filter(({ name }) => name === 'sync.job.duration')
    assert.ok(duration !== undefined && duration.value > 15_000 && duration.value < 30_000, `${duration?.value} ms`)
  })

  it('count a job that ends because its link is deleted', async () => {
    const { linkId } = await fixture.linked(users(0, 5))
    await deleteLink({ tenantId: TENANT, linkId, ifMatch: undefined }, deps)
    const ended = await measured('sync.job.duration')
    assert.deepEqual(ended, [['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Ended' }]])
  })

  it('have the latency of an incremental sync from its request to the write', async () => {
    const { collectionId } = await syncedLink()
    fixture.collections.change(collectionId, users(1, 5))
    const changedAtMs = fixture.clock.nowMs() - 700
    await syncIncrementally({ tenantId: TENANT, collectionId }, deps, changedAtMs)
    const values = await measured('sync.change.latency')
    assert.deepEqual(values, [
      ['members.added', 1, { cause: 'change' }],
      ['members.removed', 1, { cause: 'change' }],
    ])
    const [latency] = (await telemetry.values()).filter(({ name }) => name === 'sync.change.latency')
    assert.ok(latency !== undefined && latency.value >= 700 && latency.value < 800, `${latency?.value} ms`)
  })

  it('have no latency when nothing was written', async () => {
    const { collectionId } = await syncedLink()
    await syncIncrementally({ tenantId: TENANT, collectionId }, deps, fixture.clock.nowMs())
    assert.deepEqual(await measured(), [])
  })

  it('count throttled calls by operation', async () => {
    const { groupId, collectionId } = await syncedLink()
    fixture.server.setFaults([{ method: 'PATCH', path: groupId, status: 429, retryAfterS: 1, times: 2 }])
    fixture.collections.change(collectionId, users(0, 7))
    await syncIncrementally({ tenantId: TENANT, collectionId }, deps)
    assert.deepEqual(await measured('members.added'), [['directory.throttled', 2, { operation: 'PATCH /groups/{id}' }]])
    telemetry.clear()
    fixture.server.setFaults([{ method: 'DELETE', path: groupId, status: 429, retryAfterS: 1, times: 2 }])
    fixture.collections.change(collectionId, users(0, 4))
    await syncIncrementally({ tenantId: TENANT, collectionId }, deps)
    const operation = 'DELETE /groups/{id}/members/{id}/$ref'
    assert.deepEqual(await measured('members.removed'), [['directory.throttled', 2, { operation }]])
  })

  async function recordSweepOf(startMs: number): Promise<void> {
    const begun = await deps.jobs.beginSweep(TENANT)
    await begun.record({ tenantId: TENANT, startMs, endMs: startMs, links: [] })
  }

  it('have the age of the oldest sweep among the tenants of this minute', async () => {
    await syncedLink()
    await deps.tenants.register(TENANT)
    await recordSweepOf(fixture.clock.nowMs() - 7_200_000)
    const minute = minuteOfTenant(TENANT)
    await enqueueSweeps([(minute + 1) % 60], deps)
    assert.deepEqual(await measured(), [['sweep.age', 0, {}]])
    telemetry.clear()
    await enqueueSweeps([minute], deps)
    const [[name, ageS] = []] = await measured()
    assert.equal(name, 'sweep.age')
    assert.ok(ageS !== undefined && ageS >= 7_200 && ageS < 7_210, `${ageS} s`)
    telemetry.clear()
    await sweepTenant(TENANT, deps)
    assert.deepEqual(await measured(), [
      ['links.paused', 1, {}],
      ['sweep.completed', 1, { outcome: 'Succeeded' }],
    ])
  })

  it('count a failed sweep, which does not change the age', async () => {
    await recordSweepOf(fixture.clock.nowMs() - 7_200_000)
    const links = { ...deps.links, ofTenant: () => Promise.reject(new Error('The database is away')) }
    await assert.rejects(sweepTenant(TENANT, { ...deps, links }), /The database is away/)
    assert.deepEqual(await measured(), [['sweep.completed', 1, { outcome: 'Failed' }]])
    telemetry.clear()
    await enqueueSweeps(undefined, deps)
    const [age] = await measured()
    assert.ok((age?.[1] ?? 0) >= 7_200)
  })
})

describe('The metrics of an evaluation', () => {
  it('count each one of a tenant that does not fit into the memory for rows', async () => {
    const service = await startCriteriaService()
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const [ann = ''] = await tenant.members(id)
    await tenant.put('identity', {}, ann, true)
    const telemetry = recordedTelemetry()
    const { evaluator } = service.newProcess({}, { rowsMemoryMB: 0.001 }, { metrics: telemetry.metrics })
    await evaluator.evaluate(tenant.tenantId)
    await evaluator.evaluate(tenant.tenantId)
    const values = (await telemetry.values()).map(({ name, value }) => [name, value])
    await telemetry.close()
    assert.deepEqual(values, [['evaluation.refused', 2]])
    assert.deepEqual(await tenant.members(id), [ann])
  })

  it('have an alert of severity 1 for a tenant that does not fit, which looks back over two sweeps', () => {
    const alerts = readFileSync(new URL('../../infra/modules/alerts.bicep', import.meta.url), 'utf8')
    const alert = alerts.split(/^ {2}\{$/m).find((text) => text.includes("Name == 'evaluation.refused'"))
    assert.match(alert ?? '', /severity: 1\n[^}]*lookBack: 'PT2H'/)
  })
})

describe('The metrics of an instance', () => {
  it('that it has not exported yet are exported when it ends', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
    const { metrics, close } = openTelemetry([], new PeriodicExportingMetricReader({ exporter }))
    metrics.record('evaluation.refused', 1, {})
    assert.deepEqual(exporter.getMetrics(), [])
    await close()
    const exported = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    assert.deepEqual(
      exported.map(({ descriptor }) => descriptor.name),
      ['evaluation.refused'],
    )
  })
})

describe('The list of metrics', () => {
  it('is documented in the operations guide, with unit and meaning', () => {
    const guide = readFileSync(new URL('../../infra/operations/telemetry.md', import.meta.url), 'utf8')
    const section = guide.slice(guide.indexOf('## Metrics'))
    const rows = section.matchAll(/^\| `([\w.]+)` *\| (\S+) *\| (.*?) *\| (.*?) *\|$/gm)
    const documented = [...rows].map(([, name, unit, meaning, by]) => ({ name, unit, meaning, by }))
    const known = Object.entries(METRICS).map(([name, { unit, meaning, by }]) => ({
      name,
      unit: unit.replace(/[{}]/g, ''),
      meaning,
      by: by.join(', '),
    }))
    assert.deepEqual(documented, known)
  })
})
