import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import { enqueueDailyWork, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { type AccountWorld, CALLER, identity, openAccountWorld } from '../support/jobs/account-world.ts'
import { TENANT } from '../support/jobs/link-directory.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('The sweep of a tenant that was evaluated', () => {
  let world: AccountWorld
  let source: Connector
  let service: ReturnType<AccountWorld['newService']>
  before(async () => {
    world = await openAccountWorld({ sharesClock: true, databaseSharesClock: true })
    source = await world.newSource()
    service = world.newService()
  })
  after(() => world.close())
  beforeEach(async () => {
    await evaluated()
  })

  /** Hours after the last write and the last evaluation. */
  async function evaluated(): Promise<void> {
    await world.clock.sleep(3 * HOUR_MS)
    await service.evaluator.evaluate(TENANT)
    await world.clock.sleep(HOUR_MS)
    world.sentMessages.length = 0
  }

  const evaluations = () => world.sentMessages.filter(({ message }) => message.queue === 'evaluations').length

  /** Sweeps in a process that has just started. @returns Whether the evaluation was enqueued. */
  async function sweep(): Promise<boolean> {
    world.sentMessages.length = 0
    await sweepTenant(TENANT, world.newService().links)
    return evaluations() > 0
  }

  it('enqueues no evaluation for hours, and loads no rows, while nothing is written', async () => {
    const before = world.cosmos.operations().query
    for (let hour = 0; hour < 5; hour += 1) {
      assert.equal(await sweep(), false)
      await world.clock.sleep(HOUR_MS)
    }
    // Links, unfinished jobs, core objects and definitions; if it is their hour, the ends of requests and reminders.
    const count = world.cosmos.operations().query - before
    assert.ok(count === 5 * 4 || count === 5 * 4 + 2, `${count}`)
  })

  const lost = { enqueue: async () => undefined }
  const person = (name: string) => identity(name, { displayName: name })

  it('enqueues it after a write of a core object whose message was lost, until the tenant is evaluated', async () => {
    const { connectors } = world.newService({ messageQueue: lost })
    await world.writeThrough({ connectors }, source, person('Ann'))
    await world.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
    await world.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await evaluated()
    assert.equal(await sweep(), false)
  })

  it('enqueues none in the hours after a change that was evaluated at once', async () => {
    await world.write(source, person('Cem'))
    await service.evaluator.evaluate(TENANT)
    for (let hour = 0; hour < 3; hour += 1) {
      await world.clock.sleep(HOUR_MS)
      assert.equal(await sweep(), false)
    }
  })

  it('enqueues it after a write in the second of the last evaluation whose message was lost', async () => {
    await world.write(source, person('Dan'))
    await service.evaluator.evaluate(TENANT)
    const { connectors } = world.newService({ messageQueue: lost })
    await world.writeThrough({ connectors }, source, identity('Dan', { displayName: 'Daniel' }))
    await world.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
  })

  const nurses = { groupOperator: 'AND', conditions: [leaf('identityDisplayName', 'Equals', 'Ann')] }

  it('enqueues it after a collection was created or deleted whose message was lost', async () => {
    const { collections } = world.newService({ messageQueue: lost })
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
    await world.write(source, person('Bob'))
    const bob = await world.coreIdOf(source, 'identity', 'Bob')
    const choir = await world.joinable([])
    await evaluated()
    await evaluated()
    await world.join(choir, [bob], world.newService({ messageQueue: lost }).requests)
    const hours: number[] = []
    for (let hour = 1; hour <= 100; hour += 1) {
      await world.clock.sleep(HOUR_MS)
      if (!(await sweep())) continue
      hours.push(hour)
      await service.evaluator.evaluate(TENANT)
    }
    assert.ok((hours[0] ?? 0) <= 24 && (hours.at(-1) ?? 0) > 24 && hours.length <= 4, hours.join())
  })

  it('enqueues it within the hour after a change of members of a joinable collection, if conditions refer to it', async () => {
    const choir = await world.joinable([])
    await world.write(source, person('Eve'))
    const eve = await world.coreIdOf(source, 'identity', 'Eve')
    const { collections } = world.newService()
    const conditions = [leaf('memberOfCollection', 'Equals', choir)]
    const condition = { groupOperator: 'AND', conditions }
    await createCriteriaCollection({ objectType: 'Identity', name: 'C', condition }, CALLER, collections)
    await evaluated()
    await evaluated()
    await world.join(choir, [eve], world.newService({ messageQueue: lost }).requests)
    await world.clock.sleep(HOUR_MS)
    assert.equal(await sweep(), true)
  })

  it('enqueues it while an evaluator has not ended, or ended without reaching everything', async () => {
    await service.collections.evaluationLeases.save(
      TENANT,
      { holderId: 'crashed', untilMs: world.clock.nowMs() + 60_000, epoch: 1000 },
      (await service.collections.evaluationLeases.find(TENANT))?.version,
    )
    assert.equal(await sweep(), true)
    await world.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await evaluated()
    assert.equal(await sweep(), false)
  })

  it('enqueues it within a week in any case', async () => {
    let hours = 0
    for (; !(await sweep()) && hours <= 168; hours += 1) await world.clock.sleep(HOUR_MS)
    assert.ok(hours > 0 && hours < 168, `${hours}`)
  })

  it('enqueues it when the day has changed, and each day at its beginning, for a condition that depends on the day only', async () => {
    const daily = async () => {
      world.sentMessages.length = 0
      const midnightMs = Math.ceil(world.clock.nowMs() / DAY_MS) * DAY_MS
      await enqueueDailyWork(midnightMs - 30_000, { ...world.newService().links, nowMs: () => midnightMs + 1000 })
      return evaluations()
    }
    assert.equal(await daily(), 0)
    const condition = {
      groupOperator: 'AND',
      conditions: [{ ...leaf('relationshipEndDate', 'GreaterThan', '2030-01-01'), field: 'Today()' }],
    }
    const { collections } = world.newService()
    const { id } = await createCriteriaCollection(
      { objectType: 'Relationship', name: 'B', condition },
      CALLER,
      collections,
    )
    await evaluated()
    assert.equal(await daily(), 1)
    await world.clock.sleep(DAY_MS)
    assert.equal(await sweep(), true)
    await deleteCollection('criteria', id, undefined, CALLER, collections)
  })
})

function leaf(field: string, operator: string, value: string) {
  return { id: field, field, operator, value }
}
