import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, describe, it } from 'node:test'
import { observedCalls } from '../../shared/directory/observed-calls.ts'
import { applyMembershipChanges } from '../../shared/domain/links/apply-membership-changes.ts'
import { deleteLink } from '../../shared/domain/links/change-link.ts'
import type { SyncDependencies } from '../../shared/domain/links/link-dependencies.ts'
import { requestSync } from '../../shared/domain/links/request-sync.ts'
import { ringForSweeps, sweepTenant } from '../../shared/domain/links/sweep.ts'
import { minuteOfTenant } from '../../shared/domain/links/sweep-minute.ts'
import { MEASURES, type MeasureName } from '../../shared/domain/measures.ts'
import { trackedActivities } from '../../shared/runtime/activities.ts'
import { TENANT, users } from '../jobs/link-directory.ts'
import { type LinkWorld, openWorld } from '../jobs/link-world.ts'
import { recordedTelemetry } from './recorded.ts'

describe('What is measured', () => {
  const telemetry = recordedTelemetry()
  const { measures, tracer } = telemetry
  let world: LinkWorld
  let deps: SyncDependencies

  before(async () => {
    world = await openWorld()
    const activities = trackedActivities(tracer, world.clock.nowMs)
    const directory = world.directoryOver((send) => observedCalls(send, { activities, measures }))
    deps = { ...world.deps, directory, measures }
  })
  after(async () => {
    await world.close()
    await telemetry.close()
  })
  afterEach(async () => {
    await telemetry.values()
    telemetry.clear()
    world.server.setFaults([])
    world.rings.length = 0
  })

  /** Name, value and dimensions of what was measured, but for these whose values depend on the clock. */
  async function measured(...but: MeasureName[]): Promise<[string, number, object][]> {
    const values = await telemetry.values()
    return values
      .filter(({ name }) => !but.includes(name as MeasureName))
      .map(({ name, value, dimensions }) => [name, value, { ...dimensions }])
  }

  async function syncedLink(): Promise<{ collectionId: string; groupId: string; linkId: string }> {
    const linked = await world.linked(users(0, 5))
    await world.drain()
    return linked
  }

  it('is each account that a job adds or removes, and each member that it skips', async () => {
    const { collectionId } = await world.linked(users(0, 5), users(3, 4))
    await world.drain(deps)
    assert.deepEqual(await measured('sync.job.duration'), [
      ['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Succeeded' }],
      ['members.added', 3, { cause: 'job' }],
      ['members.removed', 2, { cause: 'job' }],
    ])
    telemetry.clear()
    world.collections.change(collectionId, users(0, 6), 2)
    await requestSync(TENANT, collectionId, deps)
    await world.drain(deps)
    assert.deepEqual(await measured('sync.job.duration'), [
      ['sync.jobs', 1, { type: 'ManualSync', outcome: 'Succeeded' }],
      ['members.added', 1, { cause: 'job' }],
      ['members.skipped', 2, {}],
    ])
  })

  it('is a job that failed, once its last run has', async () => {
    const { groupId } = await world.linked(users(0, 5))
    world.server.setFaults([{ path: groupId, status: 503 }])
    await world.drain(deps)
    const measuredOnce = await measured('sync.job.duration')
    assert.deepEqual(measuredOnce, [['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Failed' }]])
  })

  it('is how long a job took, retries included', async () => {
    const { groupId } = await world.linked(users(0, 5))
    world.server.setFaults([{ path: groupId, status: 503, times: 4 }])
    await world.drain(deps)
    const [duration] = (await telemetry.values()).filter(({ name }) => name === 'sync.job.duration')
    assert.ok(duration !== undefined && duration.value > 15_000 && duration.value < 30_000, `${duration?.value} ms`)
  })

  it('is a job that its link takes along when it is deleted', async () => {
    const { linkId } = await world.linked(users(0, 5))
    await deleteLink({ tenantId: TENANT, linkId, ifMatch: undefined }, deps)
    const ended = await measured('sync.job.duration')
    assert.deepEqual(ended, [['sync.jobs', 1, { type: 'LinkCreated', outcome: 'Failed' }]])
  })

  it('is how long a single change took from its request to the write', async () => {
    const { collectionId } = await syncedLink()
    world.collections.change(collectionId, users(1, 5))
    const changedAtMs = world.clock.nowMs() - 700
    await applyMembershipChanges({ tenantId: TENANT, collectionId }, deps, changedAtMs)
    const values = await measured('sync.change.latency')
    assert.deepEqual(values, [
      ['members.added', 1, { cause: 'change' }],
      ['members.removed', 1, { cause: 'change' }],
    ])
    const [latency] = (await telemetry.values()).filter(({ name }) => name === 'sync.change.latency')
    assert.ok(latency !== undefined && latency.value >= 700 && latency.value < 800, `${latency?.value} ms`)
  })

  it('is no latency where nothing was to be written', async () => {
    const { collectionId } = await syncedLink()
    await applyMembershipChanges({ tenantId: TENANT, collectionId }, deps, world.clock.nowMs())
    assert.deepEqual(await measured(), [])
  })

  it('is each call that the directory wants later, by what it was for', async () => {
    const { groupId, collectionId } = await syncedLink()
    world.server.setFaults([{ method: 'PATCH', path: groupId, status: 429, retryAfterS: 1, times: 2 }])
    world.collections.change(collectionId, users(0, 7))
    await applyMembershipChanges({ tenantId: TENANT, collectionId }, deps)
    assert.deepEqual(await measured('members.added'), [['directory.throttled', 2, { operation: 'PATCH /groups/{id}' }]])
    telemetry.clear()
    world.server.setFaults([{ method: 'DELETE', path: groupId, status: 429, retryAfterS: 1, times: 2 }])
    world.collections.change(collectionId, users(0, 4))
    await applyMembershipChanges({ tenantId: TENANT, collectionId }, deps)
    const operation = 'DELETE /groups/{id}/members/{id}/$ref'
    assert.deepEqual(await measured('members.removed'), [['directory.throttled', 2, { operation }]])
  })

  it('is how long ago the minute’s tenants were swept, told before they are swept anew', async () => {
    await syncedLink()
    await deps.tenants.remember(TENANT)
    await deps.tenants.swept(TENANT, world.clock.nowMs() - 7_200_000)
    const minute = minuteOfTenant(TENANT)
    await ringForSweeps([(minute + 1) % 60], deps)
    assert.deepEqual(await measured(), [['sweep.age', 0, {}]])
    telemetry.clear()
    await ringForSweeps([minute], deps)
    const [[name, ageS] = []] = await measured()
    assert.equal(name, 'sweep.age')
    assert.ok(ageS !== undefined && ageS >= 7_200 && ageS < 7_210, `${ageS} s`)
    telemetry.clear()
    await sweepTenant(TENANT, deps)
    assert.deepEqual(await measured(), [['sweep.completed', 1, { outcome: 'Succeeded' }]])
  })

  it('is a sweep that failed, which makes nobody look fresh', async () => {
    await deps.tenants.swept(TENANT, world.clock.nowMs() - 7_200_000)
    const links = { ...deps.links, ofTenant: () => Promise.reject(new Error('The database is away')) }
    await assert.rejects(sweepTenant(TENANT, { ...deps, links }), /The database is away/)
    assert.deepEqual(await measured(), [['sweep.completed', 1, { outcome: 'Failed' }]])
    telemetry.clear()
    await ringForSweeps(undefined, deps)
    const [age] = await measured()
    assert.ok((age?.[1] ?? 0) >= 7_200)
  })
})

describe('The measures', () => {
  it('stand in the README, every one and no other, with unit and meaning', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const section = readme.slice(readme.indexOf('## Telemetry'))
    const rows = section.matchAll(/^\| `([\w.]+)` *\| (\S+) *\| (.*?) *\| (.*?) *\|$/gm)
    const told = [...rows].map(([, name, unit, meaning, by]) => ({ name, unit, meaning, by }))
    const known = Object.entries(MEASURES).map(([name, { unit, meaning, by }]) => ({
      name,
      unit: unit.replace(/[{}]/g, ''),
      meaning,
      by: by.join(', '),
    }))
    assert.deepEqual(told, known)
  })
})
