import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  COLLECTIONS,
  CRITERIA,
  codes,
  criteriaTenant,
  startCriteriaService,
  startsWith,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const timestamp = (instantMs: number) => new Date(instantMs).toISOString().replace('Z', '+00:00')

const resultsAsOf = ({ send }: Pick<ReturnType<typeof criteriaTenant>, 'send'>, id: string, asOf: string) =>
  send('GET', `${COLLECTIONS}/${id}/results?asOf=${asOf}`)

describe('The members of a criteria collection at an earlier time', () => {
  it('are those that results answered then', async () => {
    const tenant = criteriaTenant(service)
    const people = await Promise.all(Array.from({ length: 9 }, (_, index) => tenant.person(`Ann ${index}`)))
    const id = await tenant.create(startsWith('Ann'))
    const seen: { readonly atMs: number; readonly memberIds: string[] }[] = []
    const see = async () => seen.push({ atMs: service.clock.nowMs, memberIds: await tenant.members(id) })
    await see()
    service.clock.nowMs += HOUR_MS
    for (const [index, person] of people.entries()) {
      service.clock.nowMs += HOUR_MS
      if (index === 5)
        await tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition: startsWith('Bo') })
      else await tenant.person(`Bo ${index}`, {}, person)
      await tenant.evaluate()
      await see()
    }
    service.clock.nowMs += HOUR_MS
    assert.equal(new Set(seen.map(({ memberIds }) => memberIds.join())).size, 10)
    for (const { atMs, memberIds } of seen) {
      // `+` is not encoded, as many clients send it.
      const { body } = await resultsAsOf(tenant, id, timestamp(atMs))
      assert.deepEqual(body.data.memberIds, memberIds)
      assert.equal(body.data.evaluatedAt, timestamp(atMs))
    }
  })

  it('are refused where they are not kept, and in the future', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(startsWith('Ann'))
    const createdMs = service.clock.nowMs
    await tenant.evaluate()
    const asOf = async (instantMs: number) => codes(await resultsAsOf(tenant, id, new Date(instantMs).toISOString()))
    assert.deepEqual(await asOf(createdMs), [200])
    assert.deepEqual(await asOf(createdMs - 1), [410, 'HistoryNotKept'])
    assert.deepEqual(await asOf(createdMs + 1), [400, 'InvalidValue'])
    assert.deepEqual(codes(await resultsAsOf(tenant, id, 'now')), [400, 'InvalidValue'])
    service.clock.nowMs += 400 * DAY_MS
    assert.deepEqual(await asOf(createdMs), [200])
    service.clock.nowMs += 1
    assert.deepEqual(await asOf(createdMs), [410, 'HistoryNotKept'])
    assert.deepEqual(await asOf(createdMs + 1), [200])
  })

  it('are refused when a later change is missing', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const id = await tenant.create(startsWith('Ann'))
    const createdMs = service.clock.nowMs
    for (const name of ['Ann', 'Bo', 'Ann']) {
      service.clock.nowMs += HOUR_MS
      await tenant.person(name, {}, ann)
      await tenant.evaluate()
    }
    await service.database('members').item('change:2', `${tenant.tenantId}:${id}`).delete()
    const asOf = async (instantMs: number) => codes(await resultsAsOf(tenant, id, new Date(instantMs).toISOString()))
    assert.deepEqual(await asOf(createdMs), [410, 'HistoryNotKept'])
    assert.deepEqual(await asOf(createdMs + 2 * HOUR_MS), [200])
  })
})
