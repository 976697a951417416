import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONNECTORS, coreDataServiceOfTests, newTenantWithHr, upsert } from '../support/api/core-data-service.ts'

const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
const service = await coreDataServiceOfTests(() => clock.nowMs)

const MINUTE_MS = 60_000

describe('The time at which a connector last sent data', () => {
  it('is that of the last change, or of data as stored, of which at most one in ten minutes is recorded', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const { id: otherId } = await tenant.addConnector('Other')
    const times = async () => {
      const listed: { id: string; lastDeliveredAt: string | null }[] = (await tenant.admin('GET', CONNECTORS)).body.data
      const { [hr.id]: own, [otherId]: other } = Object.fromEntries(
        listed.map(({ id, lastDeliveredAt }) => [id, lastDeliveredAt]),
      )
      assert.equal(other, null)
      return own
    }
    assert.equal(await times(), null)
    clock.nowMs += MINUTE_MS
    await hr.batch(upsert('identity', 'a', { displayName: 'Ann' }))
    assert.equal(await times(), '2030-01-01T00:01:00+00:00')
    for (const [minutes, expected] of [
      [9, '00:01:00'],
      [1, '00:11:00'],
      [9, '00:11:00'],
      [1, '00:21:00'],
    ] as const) {
      clock.nowMs += minutes * MINUTE_MS
      await hr.batch(upsert('identity', 'a', { displayName: 'Ann' }))
      assert.equal(await times(), `2030-01-01T${expected}+00:00`)
    }
    clock.nowMs += 10 * MINUTE_MS
    await hr.batch({ op: 'upsert', objectType: 'identity', externalId: '', data: {} })
    assert.equal(await times(), '2030-01-01T00:21:00+00:00')
  })

  it('is recorded for each connector of a tenant that sends data as stored', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const other = await tenant.addConnector('Other')
    const sources = [hr, other]
    for (const source of sources) await source.batch(upsert('identity', `of ${source.id}`, { displayName: 'Ann' }))
    clock.nowMs += 10 * MINUTE_MS
    for (const source of sources) {
      await source.batch(upsert('identity', `of ${source.id}`, { displayName: 'Ann' }))
      const { body } = await tenant.admin('GET', `${CONNECTORS}/${source.id}`)
      assert.equal(Date.parse(body.data.lastDeliveredAt), clock.nowMs)
    }
  })

  it('stays the same while the service stores new join keys and joins by them, until the next delivery', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const other = await tenant.addConnector('Other')
    await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { expectedIntervalHours: 24 })
    const ann = { email: 'ann@example.org' }
    await hr.batch(upsert('identity', 'a', ann), upsert('identity', 'b', {}))
    await other.batch(upsert('identity', 'a', ann))
    const health = async () => {
      const { body } = await tenant.admin('GET', `${CONNECTORS}/${hr.id}`)
      return [body.data.health, body.data.lastDeliveredAt]
    }
    const [, deliveredAt] = await health()
    clock.nowMs += 30 * 60 * MINUTE_MS
    for (const joinOn of [
      ['nin', 'email'],
      ['nin', 'email', 'employeeNumber'],
    ]) {
      await tenant.admin('PUT', `${CONNECTORS}/${other.id}`, { joinOn })
      clock.nowMs += MINUTE_MS
      await service.audit()
      assert.deepEqual(await health(), ['Late', deliveredAt])
    }
    assert.equal((await tenant.all('identities')).length, 2)
    await hr.batch(upsert('identity', 'b', { displayName: 'Bo' }))
    assert.deepEqual([(await health())[0], Date.parse((await health())[1])], ['Healthy', clock.nowMs])
  })

  it('is in a single connector as well, whose version stays the same', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const path = `${CONNECTORS}/${hr.id}`
    const before = await tenant.admin('GET', path)
    await hr.batch(upsert('identity', 'a', {}))
    const after = await tenant.admin('GET', path)
    assert.equal(after.headers.etag, before.headers.etag)
    assert.deepEqual(
      [before, after].map(({ body }) => body.data.lastDeliveredAt === null),
      [true, false],
    )
  })
})
