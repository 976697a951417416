import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import type { RowSnapshot } from '../../shared/domain/tenant-index/row-snapshot.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { approvedBy, faults, joinableWorld, OPEN } from './joinable-world.ts'

const world = await joinableWorld()
const { tenantId, admin, call, submit, joinable, person } = world

after(() => assert.deepEqual(faults, []))

const liveOf = async (identityId: string) => (await world.deps.requests.liveOf(tenantId, identityId)).length

/** The service as a process sees it that dies right after it has written. */
function dyingOnceSaved(beforeSave: () => Promise<unknown>): RequestDependencies {
  const save: RequestDependencies['requests']['save'] = async (changes) => {
    await beforeSave()
    await world.deps.requests.save(changes)
    throw new Error('The process died')
  }
  return { ...world.deps, requests: { ...world.deps.requests, save } }
}

describe('what a process leaves behind when it dies', () => {
  it('is ended within a day by one that lives on, where it stands on nothing', async () => {
    const employee = await person()
    const collectionId = await joinable(OPEN)
    await world.evaluator.evaluate(tenantId)
    const deps = dyingOnceSaved(async () => {
      await world.remove('identity', employee.identityId)
      await world.evaluator.evaluate(tenantId)
    })
    const asked = { tenantId, identityId: employee.identityId }
    await assert.rejects(submitRequest(collectionId, {}, asked, deps), /died/)
    assert.equal(await liveOf(employee.identityId), 1)
    world.pass(24 * 60 * 60)
    await world.evaluator.evaluate(tenantId)
    assert.equal(await liveOf(employee.identityId), 0)
  })

  it('is moved by the next try where the policy has changed meanwhile', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const path = `/collections-joinable/beta/${collectionId}`
    const deps = dyingOnceSaved(() => call(admin, 'PUT', path, { objectType: 'Identity', joinPolicy: OPEN }))
    const asked = { tenantId, identityId: employee.identityId }
    const id = world.deps.newId()
    const creation = { newId: () => id, isRetry: true }
    await assert.rejects(submitRequest(collectionId, {}, asked, deps, creation), /died/)
    const { value } = await submitRequest(collectionId, {}, asked, world.deps, creation)
    assert.deepEqual([value.id, value.status], [id, 'Joined'])
  })
})

describe('nobody is ended who has just come', () => {
  /** A follower of another process, and what it does when somebody comes while it reads requests. */
  async function followedWhile(
    come: () => Promise<unknown>,
    follow: (follower: RequestReconciler, rows: RowSnapshot) => Promise<void>,
  ) {
    const snapshots = new TenantSnapshots(cosmosCoreObjectChanges(world.container('coreObjects'), world.nowMs), 100_000)
    const { requests } = world.deps
    const read = {
      liveOutlines: async (tenantId: string) => {
        await come()
        return requests.liveOutlines(tenantId)
      },
      liveOfObjects: async (tenantId: string, ids: readonly string[]) => {
        await come()
        return requests.liveOfObjects(tenantId, ids)
      },
    }
    const follower = new RequestReconciler({ ...world.deps, snapshots, requests: { ...requests, ...read } })
    await follow(follower, await snapshots.fresh(tenantId))
  }

  it('while all requests are looked at', async () => {
    const collectionId = await joinable(OPEN)
    const come = async () => submit(await person(), collectionId)
    await followedWhile(come, (follower, rows) => follower.follow(tenantId, rows, 'everything'))
    assert.equal((await world.results(collectionId)).length, 1)
  })

  it('while those of somebody who was gone before are looked at', async () => {
    const [collectionId, employee] = [await joinable(OPEN), await person()]
    await world.remove('identity', employee.identityId)
    let isBack = false
    const come = async () => {
      if (!isBack) return
      await world.put('identity', { displayName: 'Back', directoryObjectId: employee.account }, employee.identityId)
      assert.equal((await submit(employee, collectionId)).status, 201)
    }
    await followedWhile(come, async (follower, rows) => {
      await follower.follow(tenantId, rows, 'everything')
      isBack = true
      const none: ReadonlySet<string> = new Set()
      const ids = { identity: new Set([employee.identityId]), orgUnit: none, relationship: none }
      await follower.follow(tenantId, rows, { ids, attributes: none, rowsMoved: true })
    })
    assert.equal((await world.results(collectionId)).length, 1)
  })
})
