import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { approvedBy, equals, faults, joinableFixture } from '../support/api/joinable-fixture.ts'

const JOINABLE = '/collections-joinable/beta'
const CRITERIA = '/collections-criteria/beta'

const fixture = await joinableFixture()
const { admin, call, submit, act, read, joinable, criteria, person } = fixture

after(() => assert.deepEqual(faults, []))

type SomeRecord = { readonly [member: string]: unknown }

/** The body of GET, sent back with some members replaced. */
async function sentBack(path: string, changed: object = {}) {
  const { data } = await call<SomeRecord>(admin, 'GET', path)
  return { before: data, answer: await call<SomeRecord>(admin, 'PUT', path, { ...data, ...changed }) }
}

describe('an object sent back as read is accepted', () => {
  it('after one of its approvers was deleted', async () => {
    const [gone, left] = [await person(), await person()]
    const approvers = [gone.identityId, left.identityId]
    const path = `${JOINABLE}/${await joinable(approvedBy({ type: 'Identity', approvers }, { type: 'Manager' }))}`
    await fixture.remove('identity', gone.identityId)
    const { before, answer } = await sentBack(path)
    assert.deepEqual([answer.status, answer.codes], [200, []])
    assert.deepEqual(answer.data, { ...before, updatedAt: answer.data.updatedAt })
    const renamed = await sentBack(path, { name: 'Band' })
    assert.deepEqual([renamed.answer.status, renamed.answer.data.joinPolicy], [200, before.joinPolicy])
  })

  it('after the last object with an attribute of its condition was deleted', async () => {
    const holder = await fixture.put('identity', { 'custom/shift': 'night' })
    const path = `${CRITERIA}/${await criteria('Identity', equals('identityCustom/shift', 'night'))}`
    await fixture.remove('identity', holder)
    const { before, answer } = await sentBack(path, { name: 'Night' })
    assert.deepEqual([answer.status, answer.codes], [200, []])
    assert.deepEqual(answer.data.condition, before.condition)
    const other = await sentBack(path, { condition: equals('identityCustom/plate', 'x') })
    assert.deepEqual([other.answer.status, other.answer.codes], [400, ['FieldNotInSchema']])
  })
})

describe('a changed policy', () => {
  it('cannot add references to objects that do not exist', async () => {
    const [gone, left] = [await person(), await person()]
    const approvers = [gone.identityId]
    const path = `${JOINABLE}/${await joinable(approvedBy({ type: 'Identity', approvers }))}`
    await fixture.remove('identity', gone.identityId)
    const put = async (...gates: object[]) => {
      const joinPolicy = { approvalRequired: true, approvalGates: gates }
      const { status, codes, targets } = await call(admin, 'PUT', path, { objectType: 'Identity', joinPolicy })
      return [status, ...codes, ...targets]
    }
    const target = (gate: number, approver: number) => `/joinPolicy/approvalGates/${gate}/approvers/${approver}`
    const stranger = randomUUID()
    assert.deepEqual(await put({ order: 1, type: 'Identity', approvers: [gone.identityId, stranger] }), [
      400,
      'IdentityUnknown',
      target(0, 1),
    ])
    assert.deepEqual(await put({ order: 1, type: 'Identity', approvers }, { order: 2, type: 'Identity', approvers }), [
      400,
      'IdentityUnknown',
      target(1, 0),
    ])
    assert.deepEqual(await put({ order: 1, type: 'Collection', approvers }), [400, 'CollectionUnknown', target(0, 0)])
    assert.deepEqual(await put({ order: 1, type: 'Identity', approvers: [left.identityId] }), [200])
    assert.deepEqual(await put({ order: 1, type: 'Identity', approvers }), [400, 'IdentityUnknown', target(0, 0)])
  })
})

describe('a gate whose approvers are all deleted', () => {
  it('holds requests until the policy changes, the requester is added, or the request is cancelled', async () => {
    const [gone, next] = [await person(), await person()]
    const [first, second, third] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [gone.identityId] }))
    const path = `${JOINABLE}/${collectionId}`
    const { data: asked } = await submit(first, collectionId)
    const { data: askedLater } = await submit(second, collectionId)
    const { data: askedLast } = await submit(third, collectionId)
    await fixture.remove('identity', gone.identityId)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual((await submit(await person(), collectionId)).codes, ['NoApprover'])
    assert.equal((await read(first.token, asked)).data.currentGate?.approverCount, 0)
    assert.deepEqual((await act(gone.token, asked, 'approve')).codes, ['CallerHasNoIdentity'])
    assert.deepEqual((await act(admin, asked, 'approve')).codes, ['CallerHasNoIdentity'])

    assert.equal((await act(second.token, askedLater, 'cancel')).data.status, 'Cancelled')
    const coreIdentityIds = [third.identityId]
    assert.equal(
      (await call<{ added: number }>(admin, 'POST', `${path}/results/members`, { coreIdentityIds })).data.added,
      1,
    )
    assert.equal((await read(third.token, askedLast)).data.status, 'Joined')
    const approvers = [gone.identityId, next.identityId]
    const joinPolicy = approvedBy({ type: 'Identity', approvers })
    assert.equal((await call(admin, 'PUT', path, { objectType: 'Identity', joinPolicy })).status, 200)
    assert.equal((await act(next.token, asked, 'approve')).data.status, 'Joined')
  })
})
