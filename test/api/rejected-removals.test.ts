import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { queueJob } from '../../shared/domain/group-links/queue-job.ts'
import { type LinkApi, openLinkApi } from '../support/api/link-api.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { setLinkSettings } from '../support/jobs/link-fixture.ts'

const HOUR_MS = 3_600_000

describe('Rejected removals', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi({ isGuarded: true })
  })
  after(() => api.close())
  beforeEach(() => setLinkSettings(api.deps, { removalGuard: { enabled: true, percent: 20, minimum: 10 } }))

  const sync = async (collectionId: string) => {
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
  }
  const linkBody = async (id: string) =>
    (await api.call('GET', `/group-links/${id}`)).body.data as {
      heldRemovals: { planId: string; count: number; limit: number; rejectedBy: string | null } | null
    }

  /** A group of 30. The removals from it are held and rejected. */
  async function rejected(left: number) {
    const [collectionId, groupId] = [api.collections.make(users(0, 30)), await api.newGroup()]
    const id = await api.create(collectionId, groupId)
    await api.drain()
    api.collections.change(collectionId, users(0, left))
    await sync(collectionId)
    const { planId } = (await linkBody(id)).heldRemovals ?? assert.fail('Nothing is held')
    const plan = `/group-links/${id}/removal-plan/${planId}`
    const reject = () => api.as('administrator')('POST', `${plan}/reject`, {})
    const approve = () => api.as('administrator')('POST', `${plan}/approve`, {})
    const members = async () => (await api.membersOf(groupId)).size
    return { id, collectionId, groupId, planId, reject, approve, members }
  }
  const unlimited = { removalGuard: { percent: 100 } }

  it('stay held when the limit allows them', async () => {
    const { id, collectionId, planId, reject, members } = await rejected(10)
    assert.equal((await reject()).status, 200)
    await setLinkSettings(api.deps, unlimited)
    await sync(collectionId)
    const held = (await linkBody(id)).heldRemovals
    assert.deepEqual([held?.planId, held?.limit, held?.rejectedBy], [planId, 30, user(0)])
    assert.equal(await members(), 30)
  })

  it('stay held after removals were paused', async () => {
    const { id, collectionId, planId, reject, members } = await rejected(10)
    await reject()
    api.collections.change(collectionId, users(0, 10), 1)
    await sync(collectionId)
    assert.deepEqual((await linkBody(id)).heldRemovals?.planId, planId)
    await setLinkSettings(api.deps, unlimited)
    api.collections.change(collectionId, users(0, 10), 0)
    await sync(collectionId)
    assert.equal(await members(), 30)
    assert.equal((await linkBody(id)).heldRemovals?.rejectedBy, user(0))
  })

  it('stay held with fewer and with more, also in later syncs, as plans that are not rejected', async () => {
    const { id, collectionId, reject, members } = await rejected(18)
    await reject()
    api.collections.change(collectionId, users(0, 20))
    await sync(collectionId)
    await setLinkSettings(api.deps, unlimited)
    await sync(collectionId)
    const fewer = (await linkBody(id)).heldRemovals
    assert.deepEqual([fewer?.count, fewer?.rejectedBy], [10, null])
    api.collections.change(collectionId, users(0, 17))
    for (let count = 0; count < 2; count += 1) await sync(collectionId)
    const more = (await linkBody(id)).heldRemovals
    assert.deepEqual([more?.count, more?.rejectedBy], [13, null])
    assert.equal(await members(), 30)
    api.collections.change(collectionId, users(0, 30).toSpliced(17, 1))
    await sync(collectionId)
    assert.equal(await members(), 29)
    assert.equal((await linkBody(id)).heldRemovals, null)
  })

  it('are kept by a rejection that comes after an approval, until they are approved again', async () => {
    const { reject, approve, members } = await rejected(10)
    assert.equal((await approve()).status, 202)
    await api.clock.sleep(1000)
    assert.equal((await reject()).status, 200)
    await api.drain()
    assert.equal(await members(), 30)
    await api.clock.sleep(1000)
    assert.equal((await approve()).status, 202)
    await api.drain()
    assert.equal(await members(), 10)
  })

  it('are removed once they are approved again while the job of the former approval waits', async () => {
    const { reject, approve, members } = await rejected(10)
    for (const act of [approve, reject, approve]) {
      await act()
      await api.clock.sleep(1000)
    }
    await api.drain()
    assert.equal(await members(), 10)
  })

  for (const call of ['listMembers', 'removeMembers'] as const) {
    it(`are kept from then on when a job that was approved is running: ${call}`, async () => {
      const { reject, approve, members } = await rejected(5)
      await approve()
      const { directory } = api.deps
      const rejecting = async (...args: never[]) => {
        await reject()
        return (api.directory[call] as (...args: never[]) => Promise<unknown>)(...args)
      }
      await api.drain({ ...api.deps, directory: { ...directory, [call]: rejecting } })
      // A step has twenty removals.
      assert.equal(await members(), call === 'listMembers' ? 30 : 10)
    })
  }

  it('are kept by a rejection after an approval whose clock is ahead, until they are approved again', async () => {
    const { reject, approve, members } = await rejected(10)
    await api.clock.sleep(60_000)
    assert.equal((await approve()).status, 202)
    await api.clock.sleep(-60_000)
    assert.equal((await reject()).status, 200)
    await api.clock.sleep(60_000)
    await api.drain()
    assert.equal(await members(), 30)
    assert.equal((await approve()).status, 202)
    await api.drain()
    assert.equal(await members(), 10)
  })

  it('are kept by a rejection after an approval also when their plan changes before it is carried out', async () => {
    const { id, collectionId, reject, approve, members } = await rejected(10)
    const { value: link } = (await api.deps.links.find(TENANT, id)) ?? assert.fail()
    // It runs before the job of the approval.
    await queueJob(link, 'ScheduledSweep', api.deps)
    await approve()
    await api.clock.sleep(1000)
    await reject()
    api.collections.change(collectionId, users(0, 9))
    await api.drain()
    assert.equal(await members(), 30)
  })

  it('are marked again when their plan comes back', async () => {
    const { id, collectionId, planId, reject } = await rejected(10)
    await reject()
    for (const left of [9, 10]) {
      api.collections.change(collectionId, users(0, left))
      await sync(collectionId)
    }
    const held = (await linkBody(id)).heldRemovals
    assert.deepEqual([held?.planId, held?.rejectedBy], [planId, user(0)])
  })

  it('are rejected no longer once none of them is due, also while others are held', async () => {
    const { collectionId, reject, members } = await rejected(15)
    await reject()
    api.collections.change(collectionId, users(11, 19))
    await sync(collectionId)
    api.collections.change(collectionId, users(1, 28))
    await sync(collectionId)
    assert.equal(await members(), 28)
  })

  it('are those of the plan that an instance of the version before has rejected last', async () => {
    const { id, collectionId, reject, members } = await rejected(10)
    await reject()
    api.collections.change(collectionId, users(0, 9))
    await sync(collectionId)
    const { value, version } = (await api.deps.links.find(TENANT, id)) ?? assert.fail()
    const rejectedAt = '2030-01-02T00:00:00.000+00:00'
    const heldRemovals = value.heldRemovals && { ...value.heldRemovals, rejectedBy: user(1), rejectedAt }
    await api.deps.links.replace({ ...value, heldRemovals }, version)
    api.collections.change(collectionId, users(0, 30).toSpliced(9, 1))
    await sync(collectionId)
    assert.equal(await members(), 30)
  })

  it('stay held when the accounts of their plan have expired', async () => {
    const { collectionId, reject, members } = await rejected(10)
    await reject()
    const { accountsOf } = api.deps.removalPlans
    api.deps.removalPlans.accountsOf = async () => new Set()
    await setLinkSettings(api.deps, unlimited)
    await sync(collectionId)
    api.deps.removalPlans.accountsOf = accountsOf
    assert.equal(await members(), 30)
  })

  it('have their accounts stored again with each plan that takes their place', async () => {
    const { collectionId, planId, reject } = await rejected(10)
    await reject()
    const { removalPlans } = api.deps
    const { save } = removalPlans
    const saved: [string, number][] = []
    removalPlans.save = async (plan, accounts) => {
      saved.push([plan.planId, accounts.length])
      return save(plan, accounts)
    }
    api.collections.change(collectionId, users(0, 9))
    await sync(collectionId)
    removalPlans.save = save
    assert.deepEqual(
      saved.filter(([id]) => id === planId),
      [[planId, 20]],
    )
  })

  for (const [claim, left] of [
    ['', 10],
    [', also as another plan', 9],
  ] as const) {
    it(`stay held when the link is deleted and made again${claim}`, async () => {
      const { id, collectionId, groupId, reject, members } = await rejected(10)
      await reject()
      api.collections.change(collectionId, users(0, left))
      await sync(collectionId)
      await setLinkSettings(api.deps, unlimited)
      assert.equal((await api.as('writer')('DELETE', `/group-links/${id}`)).status, 200)
      await api.clock.sleep(HOUR_MS)
      await api.create(collectionId, groupId)
      await api.drain()
      assert.equal(await members(), 30)
    })
  }
})
