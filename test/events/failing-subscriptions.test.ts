import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliverEvents } from '../../shared/domain/events/deliver-events.ts'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { type EventFixture, eventFixture, receiver, SUBSCRIPTIONS } from '../support/events/event-fixture.ts'

const DAY_S = 24 * 60 * 60

/** A fixture with a subscription to collections whose receiver answers as the test says. */
async function failing(firstStatus: number) {
  const fixture = await eventFixture()
  const answer = { status: firstStatus }
  const hook = await receiver(() => answer.status)
  const { id } = await fixture.subscribe(hook.url, ['collection.*'])
  const update = async (body: object) => {
    assert.equal((await fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, body)).status, 200)
    await fixture.drain()
  }
  const stateOf = async () => {
    const { state, disabledReason } = await fixture.subscription(id)
    return disabledReason ?? state
  }
  return { fixture, answer, hook, id, update, stateOf }
}

/** Fails for five days, with an event that waits for a later attempt. */
async function failFiveDays(fixture: EventFixture): Promise<void> {
  await fixture.joinable(OPEN)
  await fixture.passWithMessages(3 * DAY_S)
  await fixture.joinable(OPEN, { name: 'Second' })
  await fixture.passWithMessages(2.5 * DAY_S)
}

/** With an event on each of seven days. */
async function assertDisabledAfterFiveDays(fixture: EventFixture, stateOf: () => Promise<string>): Promise<void> {
  const states: string[] = []
  for (let day = 1; day <= 7; day += 1) {
    await fixture.joinable(OPEN, { name: `Of day ${day}` })
    await fixture.passWithMessages(DAY_S)
    states.push(await stateOf())
  }
  assert.deepEqual(states, [...Array<string>(5).fill('Enabled'), 'Failing', 'Failing'])
}

describe('A subscription that was disabled for failing', () => {
  it('is enabled again although nothing is due, and gets what waits when that is due', async () => {
    const { fixture, answer, hook, update, stateOf } = await failing(500)
    await failFiveDays(fixture)
    assert.equal(await stateOf(), 'Failing')
    answer.status = 204
    const attemptCount = hook.delivered.length
    await update({ state: 'Enabled' })
    assert.deepEqual([await stateOf(), hook.delivered.length], ['Enabled', attemptCount])
    fixture.pass(DAY_S)
    await sweepEvents(fixture.tenantId, fixture.service.events)
    await fixture.drain()
    assert.deepEqual([await stateOf(), hook.delivered.length], ['Enabled', attemptCount + 1])
  })

  it('has five days anew, from the first failure on', async () => {
    const { fixture, update, stateOf } = await failing(500)
    await failFiveDays(fixture)
    await update({ state: 'Enabled' })
    await assertDisabledAfterFiveDays(fixture, stateOf)
  })

  it('is told of and counted once, however often it is looked at', async () => {
    const { fixture, id: subscriptionId } = await failing(500)
    await failFiveDays(fixture)
    const recorded: string[] = []
    const metrics = { ...fixture.service.events.metrics, record: (name: string) => void recorded.push(name) }
    await deliverEvents({ tenantId: fixture.tenantId, subscriptionId }, { ...fixture.service.events, metrics })
    assert.deepEqual(recorded, [])
  })
})

describe('A subscription with nothing to receive', () => {
  it('is not disabled by an edit, days after its last event was given up', async () => {
    const { fixture, update, stateOf } = await failing(500)
    await fixture.joinable(OPEN)
    await fixture.passWithMessages(6 * DAY_S)
    await update({ description: 'Edited' })
    assert.equal(await stateOf(), 'Enabled')
  })

  it('has five days anew when it has, after its last event was given up', async () => {
    const { fixture, stateOf } = await failing(500)
    await fixture.joinable(OPEN)
    await fixture.passWithMessages(20 * DAY_S)
    await assertDisabledAfterFiveDays(fixture, stateOf)
  })

  it('is disabled by the attempt that gives up its last event, after five days', async () => {
    const { fixture, stateOf } = await failing(500)
    await fixture.joinable(OPEN)
    await fixture.passWithMessages(2 * DAY_S)
    await fixture.joinable(OPEN, { name: 'Second' })
    await fixture.passWithMessages(3 * DAY_S)
    assert.equal(await stateOf(), 'Enabled')
    await fixture.passWithMessages(DAY_S)
    assert.equal(await stateOf(), 'Failing')
  })
})

describe('A subscription that is enabled again', () => {
  it('after a status 410 days ago stays enabled after one failure', async () => {
    const { fixture, answer, update, stateOf } = await failing(410)
    await fixture.joinable(OPEN)
    await fixture.passWithMessages(6 * DAY_S)
    assert.equal(await stateOf(), 'Gone')
    answer.status = 503
    await update({ state: 'Enabled' })
    assert.equal(await stateOf(), 'Enabled')
  })

  it('while a former attempt is under way is not disabled by its answer', async () => {
    const fixture = await eventFixture()
    const edit = (state: string) => fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { state })
    const hook = await receiver(async () => {
      await edit('Disabled')
      fixture.pass(1)
      await edit('Enabled')
      return 410
    })
    const { id } = await fixture.subscribe(hook.url, ['collection.*'])
    await fixture.joinable(OPEN)
    const due = fixture.sent.length
    for (const { message } of fixture.sent.splice(0, due)) {
      if (message.queue === 'events') await fixture.service.messages.events.handle(message.message)
    }
    await deliverEvents({ tenantId: fixture.tenantId, subscriptionId: id }, fixture.service.events)
    assert.equal((await fixture.subscription(id)).state, 'Enabled')
    hook.close()
  })
})
