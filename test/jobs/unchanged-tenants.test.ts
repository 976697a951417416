import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import { enqueueDailyWork, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { type AccountFixture, CALLER, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT } from '../support/jobs/link-directory.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('The sweep of a tenant that was evaluated', () => {
  let fixture: AccountFixture
  let source: Connector
  let service: ReturnType<AccountFixture['newService']>
  before(async () => {
    fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
    source = await fixture.newSource()
    service = fixture.newService()
  })
  after(() => fixture.close())
  beforeEach(async () => {
    await evaluated()
  })

  /** Hours after the last write and the last evaluation. */
  async function evaluated(): Promise<void> {
    await fixture.clock.sleep(3 * HOUR_MS)
    await service.evaluator.evaluate(TENANT)
    await fixture.clock.sleep(HOUR_MS)
    fixture.sentMessages.length = 0
  }

  const evaluations = () => fixture.sentMessages.filter(({ message }) => message.queue === 'evaluations').length

  /** Sweeps in a process that has just started. @returns Whether the evaluation was enqueued. */
  async function sweep(): Promise<boolean> {
    fixture.sentMessages.length = 0
    await sweepTenant(TENANT, fixture.newService().links)
    return evaluations() > 0
  }

  it('enqueues no evaluation for hours, and loads no rows, while nothing is written', async () => {
    const before = fixture.cosmos.operations().query
    for (let hour = 0; hour < 5; hour += 1) {
      assert.equal(await sweep(), false)
      await fixture.clock.sleep(HOUR_MS)
    }
    // Links, unfinished jobs, core objects and definitions; if it is their hour, the ends of requests and reminders.
    const count = fixture.cosmos.operations().query - before
    assert.ok(count === 5 * 4 || count === 5 * 4 + 2, `${count}`)
  })

  const lost = { enqueue: async () => undefined }
  const person = (name: string) => identity(name, { displayName: name })

  it('enqueues it after a write of a core object whose message was lost, until the tenant is evaluated', async () => {
    const { connectors } = fixture.newService({ messageQueue: lost })
    await fixture.writeThrough({ connectors }, source, person('Ann'))
    await fixture.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
    await fixture.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await evaluated()
    assert.equal(await sweep(), false)
  })

  it('enqueues none in the hours after a change that was evaluated at once', async () => {
    await fixture.write(source, person('Cem'))
    await service.evaluator.evaluate(TENANT)
    for (let hour = 0; hour < 3; hour += 1) {
      await fixture.clock.sleep(HOUR_MS)
      assert.equal(await sweep(), false)
    }
  })

  it('enqueues it after a write in the second of the last evaluation whose message was lost', async () => {
    await fixture.write(source, person('Dan'))
    await service.evaluator.evaluate(TENANT)
    const { connectors } = fixture.newService({ messageQueue: lost })
    await fixture.writeThrough({ connectors }, source, identity('Dan', { displayName: 'Daniel' }))
    await fixture.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
  })

  const nurses = { groupOperator: 'AND', conditions: [leaf('identityDisplayName', 'Equals', 'Ann')] }

  it('enqueues it after a collection was created or deleted whose message was lost', async () => {
    const { collections } = fixture.newService({ messageQueue: lost })
    const { id } = await createCriteriaCollection(
      { objectType: 'Identity', name: 'A', condition: nurses },
      CALLER,
      collections,
    )
    assert.equal(await sweep(), true)
    await evaluated()
    assert.equal(await sweep(), false)
    await deleteCollection('criteria', id, undefined, CALLER, collections)
    assert.equal(await sweep(), true)
  })

  it('enqueues it once a day after a change of a request, until a full pass over the requests is due', async () => {
    await fixture.write(source, person('Bob'))
    const bob = await fixture.coreIdOf(source, 'identity', 'Bob')
    const choir = await fixture.joinable([])
    await evaluated()
    await evaluated()
    await fixture.join(choir, [bob], fixture.newService({ messageQueue: lost }).requests)
    const hours: number[] = []
    for (let hour = 1; hour <= 100; hour += 1) {
      await fixture.clock.sleep(HOUR_MS)
      if (!(await sweep())) continue
      hours.push(hour)
      await service.evaluator.evaluate(TENANT)
    }
    assert.ok((hours[0] ?? 0) <= 24 && (hours.at(-1) ?? 0) > 24 && hours.length <= 4, hours.join())
  })

  it('enqueues it within the hour after a change of members of a joinable collection, if conditions refer to it', async () => {
    const choir = await fixture.joinable([])
    await fixture.write(source, person('Eve'))
    const eve = await fixture.coreIdOf(source, 'identity', 'Eve')
    const { collections } = fixture.newService()
    const conditions = [leaf('memberOfCollection', 'Equals', choir)]
    const condition = { groupOperator: 'AND', conditions }
    await createCriteriaCollection({ objectType: 'Identity', name: 'C', condition }, CALLER, collections)
    await evaluated()
    await evaluated()
    await fixture.join(choir, [eve], fixture.newService({ messageQueue: lost }).requests)
    await fixture.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
  })

  it('enqueues it while an evaluator has not ended, or ended without reaching everything', async () => {
    await service.collections.evaluationLeases.save(
      TENANT,
      { holderId: 'crashed', untilMs: fixture.clock.nowMs() + 60_000, epoch: 1000 },
      (await service.collections.evaluationLeases.find(TENANT))?.version,
    )
    assert.equal(await sweep(), true)
    await fixture.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await evaluated()
    assert.equal(await sweep(), false)
  })

  it('enqueues it within a week in any case', async () => {
    let hours = 0
    for (; !(await sweep()) && hours <= 168; hours += 1) await fixture.clock.sleep(HOUR_MS)
    assert.ok(hours > 0 && hours < 168, `${hours}`)
  })

  it('enqueues it when the day has changed, and each day at its beginning, for a condition that depends on the day only', async () => {
    const daily = async () => {
      fixture.sentMessages.length = 0
      const midnightMs = Math.ceil(fixture.clock.nowMs() / DAY_MS) * DAY_MS
      await enqueueDailyWork(midnightMs - 30_000, { ...fixture.newService().links, nowMs: () => midnightMs + 1000 })
      return evaluations()
    }
    assert.equal(await daily(), 0)
    const condition = {
      groupOperator: 'AND',
      conditions: [{ ...leaf('relationshipEndDate', 'GreaterThan', '2030-01-01'), field: 'Today()' }],
    }
    const { collections } = fixture.newService()
    const { id } = await createCriteriaCollection(
      { objectType: 'Relationship', name: 'B', condition },
      CALLER,
      collections,
    )
    await evaluated()
    assert.equal(await daily(), 1)
    await fixture.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await deleteCollection('criteria', id, undefined, CALLER, collections)
  })
})

function leaf(field: string, operator: string, value: string) {
  return { id: field, field, operator, value }
}
