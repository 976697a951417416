import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AttributeTypes } from '../../shared/domain/connectors/attribute-types.ts'
import { connectorRowSettings } from '../../shared/domain/connectors/connector-row-settings.ts'
import { evaluationSchedule } from '../../shared/domain/evaluation/evaluation-due.ts'
import { updateLinkSettings } from '../../shared/domain/group-links/link-settings.ts'
import { withRowSettings } from '../../shared/domain/group-links/tenant-row-settings.ts'
import {
  COLLECTIONS,
  CRITERIA,
  criteriaTenant,
  startCriteriaService,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()
const { process } = service

const at = (time: string): void => {
  service.clock.nowMs = Date.parse(time)
}
const setZone = (tenantId: string, timeZone: string, through = process) =>
  updateLinkSettings(
    { tenantId, callerId: tenantId, ifMatch: undefined, change: { timeZone } },
    { ...through, settings: through.linkSettings },
  )
const leaf = (id: string, operator: string, value: unknown, field = id) => ({ id, field, operator, value })
const all = (...conditions: object[]) => ({ groupOperator: 'AND', conditions })

const ofNoConnectors = async () => connectorRowSettings([])

type Tenant = ReturnType<typeof criteriaTenant>
const members = async ({ send }: Tenant, id: string): Promise<string[]> =>
  (await send('GET', `${COLLECTIONS}/${id}/results`)).body.data.memberIds

/** People whose positions end on the day before clocks are put forward in Oslo, on that day, and at an instant of it. */
async function populated() {
  const tenant = criteriaTenant(service)
  const ending = async (endDate: string) => {
    const id = await tenant.person(endDate)
    await tenant.position(id, undefined, { endDate })
    return id
  }
  const [before, on, at23] = [
    await ending('2030-03-30'),
    await ending('2030-03-31'),
    await ending('2030-03-30T23:30:00Z'),
  ]
  return { tenant, before, on, at23 }
}

describe('The time zone of a tenant', () => {
  it('decides when positions end, in members and previews alike, and a change is in the members', async () => {
    const { tenant, before, on, at23 } = await populated()
    at('2030-03-30T23:10:00Z')
    const condition = all(leaf('relationshipIsActive', 'Equals', true))
    const id = await tenant.create(condition)
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [before, on, at23].sort())
    process.sentMessages.length = 0
    await setZone(tenant.tenantId, 'Europe/Oslo')
    // At once, and when every instance has the change.
    const evaluation = { queue: 'evaluations', message: { tenantId: tenant.tenantId } }
    assert.deepEqual(process.sentMessages, [evaluation, evaluation])
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [on, at23].sort())
    const { body } = await tenant.send('POST', `${CRITERIA}/preview`, {
      preview: { objectType: 'Identity', condition },
    })
    assert.deepEqual(body.data.preview.map(({ objectId }: { objectId: string }) => objectId).sort(), [on, at23].sort())
    // The day has 23 hours.
    at('2030-03-31T21:59:59Z')
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [on, at23].sort())
    at('2030-03-31T22:00:00Z')
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [])
  })

  it('is that of dates in conditions and data that do not depend on the day', async () => {
    const { tenant, before, on, at23 } = await populated()
    at('2030-03-01T12:00:00Z')
    const id = await tenant.create(all(leaf('relationshipEndDate', 'GreaterThanOrEqual', '2030-03-31')))
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [on])
    await setZone(tenant.tenantId, 'Europe/Oslo')
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [on, at23].sort())
    await setZone(tenant.tenantId, 'Pacific/Pago_Pago')
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await members(tenant, id), [on])
    assert.ok(before)
  })

  it('makes an evaluation due that was lost, and a day due that has begun there', async () => {
    const { tenant } = await populated()
    // Within one hour: once in 160 hours an evaluation is due in any case.
    at('2030-03-01T22:10:00Z')
    await tenant.create(all(leaf('relationshipIsActive', 'Equals', true)))
    await process.evaluator.evaluate(tenant.tenantId)
    let elapsedMs = 0
    const nextMinuteMs = () => {
      elapsedMs += 60_000
      return elapsedMs
    }
    const schedule = evaluationSchedule({
      ...process,
      nowMs: () => service.clock.nowMs,
      timeZones: withRowSettings(process.linkSettings, ofNoConnectors, nextMinuteMs).rowSettings,
      inputs: { hasFurtherWrites: async () => false },
    })
    const isDue = async () => (await schedule.coveredUntil(tenant.tenantId, undefined)) === undefined
    assert.equal(await isDue(), false)
    await setZone(tenant.tenantId, 'Europe/Oslo')
    assert.equal(await isDue(), true)
    await process.evaluator.evaluate(tenant.tenantId)
    assert.equal(await isDue(), false)
    at('2030-03-01T22:59:00Z')
    assert.equal(await isDue(), false)
    at('2030-03-01T23:01:00Z')
    assert.equal(await isDue(), true)
  })

  it('loses no change of people that a request reads between a change of the zone and its evaluation', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(all(leaf('identityDisplayName', 'Equals', 'Ann')))
    const { evaluationLeases } = process
    const people: string[] = []
    const instance = service.newProcess({
      evaluationLeases: {
        ...evaluationLeases,
        async save(tenantId, lease, version) {
          if (lease.settingsId !== undefined && people.length === 0) {
            // More than are applied to the rows in place.
            for (let count = 0; count < 65; count += 1) people.push(await tenant.person('Ann'))
            await instance.snapshots.fresh(tenantId)
          }
          return evaluationLeases.save(tenantId, lease, version)
        },
      },
    })
    await instance.evaluator.evaluate(tenant.tenantId)
    await setZone(tenant.tenantId, 'Europe/Oslo', instance)
    for (let times = 0; times < 2; times += 1) await instance.evaluator.evaluate(tenant.tenantId)
    assert.equal(people.length, 65)
    assert.deepEqual(await members(tenant, id), people.sort())
  })

  it('is refused when there is no such zone', async () => {
    const { tenantId } = criteriaTenant(service)
    await assert.rejects(setZone(tenantId, 'Europe/Olso'), { code: 'InvalidValue' })
    await assert.rejects(setZone(tenantId, '+01:00'), { code: 'InvalidValue' })
  })

  it('decides when the days of histories and of earlier members begin', async () => {
    const tenant = criteriaTenant(service)
    await setZone(tenant.tenantId, 'Europe/Oslo')
    at('2030-06-01T21:59:00Z')
    const id = await tenant.create(all(leaf('identityDisplayName', 'StartsWith', 'Ann')))
    const first = await tenant.person('Ann')
    await process.evaluator.evaluate(tenant.tenantId)
    at('2030-06-01T22:00:00Z')
    const second = await tenant.person('Anne')
    await process.evaluator.evaluate(tenant.tenantId)
    at('2030-06-02T12:00:00Z')
    const changed = async (query: string, path = `${id}/history`) => {
      const { body } = await tenant.send('GET', `${COLLECTIONS}/${path}?${query}`)
      return body.data.map(({ objectId }: { objectId: string }) => objectId)
    }
    assert.deepEqual(await changed('from=2030-06-02'), [second])
    assert.deepEqual(await changed('to=2030-06-02'), [first])
    assert.deepEqual(await changed('from=2030-06-02T00:00:00Z'), [])
    assert.deepEqual(await changed(`objectId=${second}&from=2030-06-02&to=2030-06-03`, 'history'), [second])
    assert.deepEqual(await changed(`objectId=${first}&from=2030-06-02`, 'history'), [])
    const results = async (asOf: string) => (await tenant.send('GET', `${COLLECTIONS}/${id}/results?asOf=${asOf}`)).body
    assert.deepEqual((await results('2030-06-02')).data.memberIds.sort(), [first, second].sort())
    assert.equal((await results('2030-06-02')).data.evaluatedAt, '2030-06-01T22:00:00.000+00:00')
    assert.deepEqual((await results('2030-06-01T21:59:30Z')).data.memberIds, [first])
    const [{ code, message }] = (await results('2030-06-03')).errors
    assert.deepEqual([code, message], ['InvalidValue', 'asOf is in the future'])
    const [fault] = (await results('2030-02-30')).errors
    assert.deepEqual([fault.code, fault.message], ['InvalidValue', 'asOf must be a date, or a date and time'])
  })
})

describe('The settings by which an instance reads rows', () => {
  it('are those that it has changed itself at once, and those of others after 20 seconds', async () => {
    const { tenant } = await populated()
    let elapsedMs = 1_000
    const [first, second] = [0, 1].map(() => withRowSettings(process.linkSettings, ofNoConnectors, () => elapsedMs))
    const zones = async () =>
      [await first?.rowSettings.of(tenant.tenantId), await second?.rowSettings.of(tenant.tenantId)].map(
        (each) => each?.zone.name,
      )
    assert.deepEqual(await zones(), ['UTC', 'UTC'])
    await process.linkSettings.register(tenant.tenantId)
    const { value, version } = await process.linkSettings.find(tenant.tenantId)
    await first?.store.replace(tenant.tenantId, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    assert.deepEqual(await zones(), ['Europe/Oslo', 'UTC'])
    elapsedMs = 21_001
    assert.deepEqual(await zones(), ['Europe/Oslo', 'Europe/Oslo'])
  })

  it('are read again once they are forgotten, also while a reading of the former ones goes on', async () => {
    const read: ((types: AttributeTypes) => void)[] = []
    const ofConnectors = async () => {
      const { promise, resolve } = Promise.withResolvers<AttributeTypes>()
      read.push(resolve)
      const attributeTypes = await promise
      return { ...(await ofNoConnectors()), types: new Map(attributeTypes.map(({ name, type }) => [name, type])) }
    }
    const { rowSettings } = withRowSettings(process.linkSettings, ofConnectors, () => 1_000)
    const typeOfGrade = async () => (await rowSettings.of(UNKNOWN_ID)).types.get('grade')
    const former = typeOfGrade()
    rowSettings.forget(UNKNOWN_ID)
    const current = typeOfGrade()
    read[1]?.([{ objectType: 'identity', name: 'grade', type: 'Integer' }])
    assert.equal(await current, 'Integer')
    read[0]?.([])
    assert.equal(await former, undefined)
    assert.equal(await typeOfGrade(), 'Integer')
    rowSettings.forget(UNKNOWN_ID)
    const last = typeOfGrade()
    read[2]?.([])
    assert.equal(await last, undefined)
  })
})
