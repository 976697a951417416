import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { eventFixture, receiver, SUBSCRIPTIONS } from '../support/events/event-fixture.ts'

const DAY_S = 24 * 60 * 60

/** A fixture with a subscription to these types, and a collection that people join. */
async function subscribed(types: readonly string[]) {
  const fixture = await eventFixture()
  const hook = await receiver()
  const { id } = await fixture.subscribe(hook.url, types)
  const collectionId = await fixture.joinable(OPEN)
  /** Another person joins. Messages about it wait. */
  const join = async () => {
    const person = await fixture.person()
    await fixture.submit(person, collectionId)
    return person.identityId
  }
  const retype = async (...changed: readonly string[]) => {
    const { status } = await fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { types: changed })
    assert.equal(status, 200)
  }
  /** Who was told of as a new member, after all messages and a sweep. */
  const told = async () => {
    await fixture.drain()
    await sweepEvents(fixture.tenantId, fixture.service.events)
    await fixture.drain()
    const added = hook.events().filter(({ type }) => type === 'member.added')
    return added.map(({ data }) => data.objectId)
  }
  return { fixture, join, retype, told }
}

describe('A subscription whose types gain changes of members', () => {
  it('gets those that are made from then on', async () => {
    const { fixture, join, retype, told } = await subscribed(['link.*'])
    for (let month = 0; month < 2; month += 1) {
      await join()
      await fixture.drain()
      fixture.pass(30 * DAY_S)
    }
    await retype('link.*', 'member.*')
    assert.deepEqual(await told(), [])
    const joined = await join()
    assert.deepEqual(await told(), [joined])
  })

  it('gets none that were made after its types had lost them', async () => {
    const { fixture, join, retype, told } = await subscribed(['member.*'])
    const first = await join()
    assert.deepEqual(await told(), [first])
    await retype('link.*')
    await join()
    fixture.pass(30 * DAY_S)
    await retype('member.added')
    assert.deepEqual(await told(), [first])
    const last = await join()
    assert.deepEqual(await told(), [first, last])
  })

  it('gets none that were made before it was enabled, when that is later', async () => {
    const { fixture, join, retype, told } = await subscribed(['link.*'])
    const [{ id } = { id: '' }] = (await fixture.call<{ id: string }[]>(fixture.admin, 'GET', SUBSCRIPTIONS)).data
    const turn = (state: string) => fixture.call(fixture.admin, 'PUT', `${SUBSCRIPTIONS}/${id}`, { state })
    await turn('Disabled')
    await retype('member.*')
    await join()
    fixture.pass(DAY_S)
    await turn('Enabled')
    assert.deepEqual(await told(), [])
  })
})

describe('A subscription whose types had changes of members', () => {
  it('gets those that are not published yet when it has other types besides', async () => {
    const { fixture, join, retype, told } = await subscribed(['member.added'])
    const joined = await join()
    fixture.pass(DAY_S)
    await retype('member.*', 'link.*')
    assert.deepEqual(await told(), [joined])
  })
})
