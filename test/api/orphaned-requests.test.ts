import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { endRequests } from '../../shared/domain/membership-requests/apply-policy.ts'
import { addMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { JoinDependencies, RequestChange } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { tenantId, admin, call, requests, submit, act, read, joinable, person } = fixture
const ACTOR = { id: 'somebody', identityId: undefined }

after(() => assert.deepEqual(faults, []))

/** The service with a function that runs just before a write. */
function withBeforeSave(meanwhile: (changes: readonly RequestChange[]) => Promise<unknown>): JoinDependencies {
  let isDone = false
  const save: JoinDependencies['requests']['save'] = async (changes) => {
    if (!isDone) {
      isDone = true
      await meanwhile(changes)
    }
    return fixture.deps.requests.save(changes)
  }
  return { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
}

const liveOf = async (identityId: string) => (await fixture.deps.requests.liveOf(tenantId, identityId)).length

describe('no request stays open or joined when its subject, position or collection is deleted', () => {
  const deletions = {
    'the collection is deleted': async (collectionId: string) => {
      assert.equal((await call(admin, 'DELETE', `/collections-joinable/beta/${collectionId}`)).status, 200)
    },
    'the person is deleted': async (_collectionId: string, identityId: string) => {
      await fixture.remove('identity', identityId)
      await fixture.evaluator.evaluate(tenantId)
    },
  }
  for (const [claim, deleted] of Object.entries(deletions)) {
    it(`${claim} while the person joins`, async () => {
      const employee = await person()
      const collectionId = await joinable(OPEN)
      const deps = withBeforeSave(() => deleted(collectionId, employee.identityId))
      const saved = await submitRequest(collectionId, {}, { tenantId, identityId: employee.identityId }, deps)
      assert.equal(saved.value.status, 'Left')
      assert.equal(await liveOf(employee.identityId), 0)
    })

    it(`${claim} while the person submits`, async () => {
      const [employee, approver] = [await person(), await person()]
      const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
      const deps = withBeforeSave(() => deleted(collectionId, employee.identityId))
      const saved = await submitRequest(collectionId, {}, { tenantId, identityId: employee.identityId }, deps)
      assert.equal(saved.value.status, 'Cancelled')
      assert.equal(await liveOf(employee.identityId), 0)
    })

    it(`${claim} while the person is added directly`, async () => {
      const [employee, other] = [await person(), await person()]
      const collectionId = await joinable(OPEN)
      const deps = withBeforeSave(() => deleted(collectionId, employee.identityId))
      const coreIdentityIds = [employee.identityId, other.identityId]
      await addMembersDirectly(tenantId, collectionId, { coreIdentityIds }, ACTOR, deps)
      assert.equal(await liveOf(employee.identityId), 0)
    })
  }

  it('the collection is deleted while many are added, and the later batches fail', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, () => person()))
    const collectionId = await joinable(OPEN)
    const deps = withBeforeSave(async () => {
      await call(admin, 'DELETE', `/collections-joinable/beta/${collectionId}`)
    })
    let saves = 0
    const save: JoinDependencies['requests']['save'] = async (changes) => {
      saves += 1
      if (saves === 2) throw new Error('The database is away')
      return deps.requests.save(changes)
    }
    const coreIdentityIds = people.map(({ identityId }) => identityId)
    const failing = { ...deps, requests: { ...deps.requests, save } }
    await assert.rejects(addMembersDirectly(tenantId, collectionId, { coreIdentityIds }, ACTOR, failing), /away/)
    for (const { identityId } of people) assert.equal(await liveOf(identityId), 0)
  })

  it('the position is deleted while its holder submits', async () => {
    const employee = await person()
    const relationshipId = await fixture.position(employee)
    const collectionId = await joinable(OPEN, { objectType: 'Relationship' })
    const deps = withBeforeSave(async () => {
      await fixture.remove('relationship', relationshipId)
      await fixture.evaluator.evaluate(tenantId)
    })
    const requester = { tenantId, identityId: employee.identityId }
    assert.equal((await submitRequest(collectionId, { relationshipId }, requester, deps)).value.status, 'Left')
  })
})

describe('requests with long histories', () => {
  it('end with their collection', async () => {
    const approver = await person()
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const people = await Promise.all(Array.from({ length: 40 }, () => person()))
    for (const person of people) {
      const { data } = await submit(person, collectionId)
      const before = await fixture.deps.requests.find(tenantId, data.id)
      assert.ok(before)
      const entry = {
        status: 'Approved',
        actorId: approver.identityId,
        at: data.createdAt,
        notes: '漢'.repeat(2048),
      } as const
      const lifecycle = [...before.value.lifecycle, ...Array.from({ length: 10 }, () => entry)]
      await fixture.deps.requests.save([{ before, after: { ...before.value, lifecycle } }])
    }
    assert.equal((await call(admin, 'DELETE', `/collections-joinable/beta/${collectionId}`)).status, 200)
    for (const { identityId } of people) assert.equal(await liveOf(identityId), 0)
  })
})

describe('messages for linked groups are enqueued for members', () => {
  const messages = () => fixture.enqueued.filter(({ queue }) => queue === 'membership-changes').length

  it('who leave because they were approved just before their open request ended', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    fixture.linked.add(collectionId)
    const { data: request } = await submit(employee, collectionId)
    const waiting = await fixture.deps.requests.liveIn(tenantId, collectionId)
    let whenApproved = 0
    const deps = withBeforeSave(async () => {
      await act(approver.token, request, 'approve')
      whenApproved = messages()
    })
    await endRequests(waiting, 'Gone', deps)
    assert.equal(messages(), whenApproved + 1)
    assert.equal((await read(employee.token, request)).data.status, 'Left')
  })

  it('who were added before adding the others failed', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, () => person()))
    const collectionId = await joinable(OPEN)
    fixture.linked.add(collectionId)
    let saves = 0
    const save: JoinDependencies['requests']['save'] = async (changes) => {
      saves += 1
      if (saves === 2) throw new Error('The database is away')
      return fixture.deps.requests.save(changes)
    }
    const deps = { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
    const before = messages()
    const coreIdentityIds = people.map(({ identityId }) => identityId)
    await assert.rejects(addMembersDirectly(tenantId, collectionId, { coreIdentityIds }, ACTOR, deps), /away/)
    assert.equal(messages(), before + 1)
  })
})

describe('approver counts are current', () => {
  it('in every list of requests', async () => {
    const [employee, gone, left] = [await person(), await person(), await person()]
    await fixture.position(employee, { manager: { objectId: left.identityId } })
    const approvers = [gone.identityId, left.identityId]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers }))
    const path = `${requests}/${collectionId}/submit-on-behalf`
    const body = { requesterId: employee.identityId }
    const { data: request } = await call<MembershipRequestDto>(left.token, 'POST', path, body)
    assert.equal(request.currentGate?.approverCount, 2)
    await fixture.remove('identity', gone.identityId)
    for (const [token, list] of [
      [employee.token, 'pending-approval'],
      [left.token, 'submitted-on-behalf'],
      [left.token, `pending-approval-review/${collectionId}`],
      [admin, collectionId],
    ] as const) {
      const [listed] = (await call<MembershipRequestDto[]>(token, 'GET', `${requests}/${list}`)).data
      assert.deepEqual([listed?.id, listed?.currentGate?.approverCount], [request.id, 1], list)
    }
  })
})
