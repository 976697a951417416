import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import type { JoinDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import type { RowSnapshot } from '../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { tenantId, admin, call, submit, joinable, person } = fixture

after(() => assert.deepEqual(faults, []))

const liveOf = async (identityId: string) => (await fixture.deps.requests.liveOf(tenantId, identityId)).length

/** The service in a process that ends right after a write. */
function dyingOnceSaved(beforeSave: () => Promise<unknown>): JoinDependencies {
  const save: JoinDependencies['requests']['save'] = async (changes) => {
    await beforeSave()
    await fixture.deps.requests.save(changes)
    throw new Error('The process died')
  }
  return { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
}

describe('what an interrupted process leaves', () => {
  it('is ended within a day by a running process when orphaned', async () => {
    const employee = await person()
    const collectionId = await joinable(OPEN)
    await fixture.evaluator.evaluate(tenantId)
    const deps = dyingOnceSaved(async () => {
      await fixture.remove('identity', employee.identityId)
      await fixture.evaluator.evaluate(tenantId)
    })
    const requester = { tenantId, identityId: employee.identityId }
    await assert.rejects(submitRequest(collectionId, {}, requester, deps), /died/)
    assert.equal(await liveOf(employee.identityId), 1)
    for (const hours of [8, 8, 8]) {
      fixture.pass(hours * 60 * 60)
      await fixture.evaluator.evaluate(tenantId)
    }
    assert.equal(await liveOf(employee.identityId), 0)
  })

  it('is moved by the next attempt when the policy has changed', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const path = `/collections-joinable/beta/${collectionId}`
    const deps = dyingOnceSaved(() => call(admin, 'PUT', path, { objectType: 'Identity', joinPolicy: OPEN }))
    const requester = { tenantId, identityId: employee.identityId }
    const id = fixture.deps.newId()
    const creation = { newId: () => id, isRetry: true }
    await assert.rejects(submitRequest(collectionId, {}, requester, deps, creation), /died/)
    const { value } = await submitRequest(collectionId, {}, requester, fixture.deps, creation)
    assert.deepEqual([value.id, value.status], [id, 'Joined'])
  })

  it('is returned by the next attempt also when the end that was asked for is past', async () => {
    const [{ identityId }, collectionId] = [await person(), await joinable(OPEN)]
    const submission = { endsAt: new Date(fixture.nowMs() + 60_000).toISOString() }
    const id = fixture.deps.newId()
    const creation = { newId: () => id, isRetry: true }
    const submitWith = (deps: JoinDependencies) =>
      submitRequest(collectionId, submission, { tenantId, identityId }, deps, creation)
    await assert.rejects(submitWith(dyingOnceSaved(async () => undefined)), /died/)
    fixture.pass(120)
    assert.equal((await submitWith(fixture.deps)).value.id, id)
  })
})

describe('a pass over what has changed', () => {
  it('ends the membership of a person whose position another one holds', async () => {
    const [former, heir, collectionId] = [
      await person(),
      await person(),
      await joinable(OPEN, { objectType: 'Relationship' }),
    ]
    const relationshipId = await fixture.position(former)
    assert.equal((await submit(former, collectionId, { relationshipId })).status, 201)
    await fixture.evaluator.evaluate(tenantId)
    await fixture.put('relationship', { identity: { objectId: heir.identityId }, title: 'Nurse' }, relationshipId)
    await fixture.evaluator.evaluate(tenantId)
    assert.deepEqual(await fixture.results(collectionId), [])
  })

  it('is one over everything after one that has failed: its changes are known no more', async () => {
    const [employee, collectionId] = [await person(), await joinable(OPEN)]
    assert.equal((await submit(employee, collectionId)).status, 201)
    let isAway = false
    const liveOfObjects: JoinDependencies['requests']['liveOfObjects'] = (...args) =>
      isAway ? Promise.reject(new Error('The database is away')) : fixture.deps.requests.liveOfObjects(...args)
    const reconciler = new RequestReconciler({ ...fixture.deps, requests: { ...fixture.deps.requests, liveOfObjects } })
    const none: ReadonlySet<string> = new Set()
    const pass = async (deleted: readonly string[]) => {
      const ids = { identity: new Set(deleted), orgUnit: none, relationship: none }
      const changes = { ids, rewritten: ids, attributes: none, rowsMoved: true, isAnyRestored: false }
      return reconciler.reconcile(tenantId, await fixture.deps.snapshots.fresh(tenantId), changes)
    }
    await pass([])
    await fixture.remove('identity', employee.identityId)
    isAway = true
    await assert.rejects(pass([employee.identityId]), /away/)
    isAway = false
    await pass([])
    assert.deepEqual(await fixture.results(collectionId), [])
  })
})

describe('a new identity keeps its request', () => {
  /** A reconciler of another process that creates an identity while it reads requests. */
  async function reconciledWhile(
    come: () => Promise<unknown>,
    reconcile: (reconciler: RequestReconciler, rows: RowSnapshot) => Promise<unknown>,
  ) {
    const snapshots = new TenantSnapshots(cosmosCoreObjectChanges(fixture.container('coreObjects'), fixture.nowMs), {
      maxBytes: 10_000_000,
    })
    const { requests } = fixture.deps
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
    const reconciler = new RequestReconciler({ ...fixture.deps, snapshots, requests: { ...requests, ...read } })
    await reconcile(reconciler, await snapshots.fresh(tenantId))
  }

  it('during a full pass', async () => {
    const collectionId = await joinable(OPEN)
    const come = async () => submit(await person(), collectionId)
    await reconciledWhile(come, (reconciler, rows) => reconciler.reconcile(tenantId, rows, 'everything'))
    assert.equal((await fixture.results(collectionId)).length, 1)
  })

  it('during a pass over the requests of an identity that was deleted before', async () => {
    const [collectionId, employee] = [await joinable(OPEN), await person()]
    await fixture.remove('identity', employee.identityId)
    let isBack = false
    const come = async () => {
      if (!isBack) return
      await fixture.put('identity', { displayName: 'Back', directoryObjectId: employee.account }, employee.identityId)
      assert.equal((await submit(employee, collectionId)).status, 201)
    }
    await reconciledWhile(come, async (reconciler, rows) => {
      await reconciler.reconcile(tenantId, rows, 'everything')
      isBack = true
      const none: ReadonlySet<string> = new Set()
      const ids = { identity: new Set([employee.identityId]), orgUnit: none, relationship: none }
      await reconciler.reconcile(tenantId, rows, {
        ids,
        rewritten: ids,
        attributes: none,
        rowsMoved: true,
        isAnyRestored: true,
      })
    })
    assert.equal((await fixture.results(collectionId)).length, 1)
  })
})

type Person = Awaited<ReturnType<typeof person>>

/** A deleted person can come back for ten days. */
const RESTORABLE = { ttl: 10 * 24 * 60 * 60 }

/** A member whom another instance has seen as well. @returns `pass`, a pass of that instance over what has changed. */
async function memberInTwoInstances(beforeSave: (employee: Person) => Promise<void> = async () => {}) {
  const [employee, collectionId] = [await person(), await joinable(OPEN)]
  assert.equal((await submit(employee, collectionId)).status, 201)
  const changes = cosmosCoreObjectChanges(fixture.container('coreObjects'), fixture.nowMs)
  const snapshots = new TenantSnapshots(changes, { maxBytes: 10_000_000 })
  const save: JoinDependencies['requests']['save'] = async (changes) => {
    await beforeSave(employee)
    return fixture.deps.requests.save(changes)
  }
  const reconciler = new RequestReconciler({ ...fixture.deps, snapshots, requests: { ...fixture.deps.requests, save } })
  const pass = async () => {
    const rows = await snapshots.fresh(tenantId)
    await reconciler.reconcile(tenantId, rows, snapshots.takeChanges(tenantId))
  }
  await pass()
  return { employee, pass }
}

describe('a membership', () => {
  it('ends with a deletion when an instance has seen the one before, and another one the return in between', async () => {
    const { employee, pass } = await memberInTwoInstances()
    await fixture.remove('identity', employee.identityId, RESTORABLE)
    await pass()
    await fixture.evaluator.evaluate(tenantId)
    assert.equal(await liveOf(employee.identityId), 0)
    await fixture.put('identity', { displayName: 'Back', directoryObjectId: employee.account }, employee.identityId)
    await fixture.evaluator.evaluate(tenantId)
    assert.equal(await liveOf(employee.identityId), 1)
    await fixture.remove('identity', employee.identityId, RESTORABLE)
    await pass()
    assert.equal(await liveOf(employee.identityId), 0)
  })

  it('that goes to another identity, into which its own was merged, is told to its group', async () => {
    const [part, whole, collectionId] = [await person(), await person(), await joinable(OPEN)]
    fixture.linked.add(collectionId)
    assert.equal((await submit(part, collectionId)).status, 201)
    await fixture.evaluator.evaluate(tenantId)
    fixture.enqueued.splice(0)
    await fixture.remove('identity', part.identityId, { ...RESTORABLE, mergedInto: whole.identityId })
    await fixture.evaluator.evaluate(tenantId)
    assert.equal(await liveOf(whole.identityId), 1)
    const changed = fixture.enqueued.filter(({ queue }) => queue === 'membership-changes')
    assert.deepEqual(
      changed.map(({ message }) => message),
      [{ tenantId, collectionId }],
    )
  })

  it('comes back with a person whom an instance had all along, while another one has seen the deletion', async () => {
    for (const displayName of ['Somebody', 'Somebody else']) {
      const { employee, pass } = await memberInTwoInstances()
      await fixture.remove('identity', employee.identityId, RESTORABLE)
      await fixture.evaluator.evaluate(tenantId)
      assert.equal(await liveOf(employee.identityId), 0)
      await fixture.put('identity', { displayName, directoryObjectId: employee.account }, employee.identityId)
      await pass()
      assert.equal(await liveOf(employee.identityId), 1, displayName)
    }
  })

  it('comes back with a person who returns, for another instance, while one ends it', async () => {
    let isAway = false
    const { employee, pass } = await memberInTwoInstances(async ({ identityId, account }) => {
      if (!isAway) return
      isAway = false
      await fixture.put('identity', { displayName: 'Back', directoryObjectId: account }, identityId)
      await fixture.evaluator.evaluate(tenantId)
    })
    await fixture.remove('identity', employee.identityId, RESTORABLE)
    isAway = true
    await pass()
    assert.equal(await liveOf(employee.identityId), 1)
  })
})
