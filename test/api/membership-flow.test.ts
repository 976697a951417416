import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { CollectionResults } from '../../shared/domain/collections/collection.ts'
import type { PreviewReply } from '../../shared/domain/collections/preview.ts'
import { equals, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, call, submit, act, read, results, joinable, person, position, evaluator, tenantId, enqueued } = fixture

after(() => assert.deepEqual(faults, []))

const materialised = async (collectionId: string) =>
  (await call<CollectionResults>(admin, 'GET', `/collections-criteria/beta/${collectionId}/results`)).data
const queues = () => enqueued.map(({ queue }) => queue)

describe('joining and leaving', () => {
  it('enqueues the evaluation and the linked groups', async () => {
    const employee = await person()
    const [plain, linked] = [await joinable(OPEN), await joinable(OPEN)]
    fixture.linked.add(linked)
    enqueued.length = 0
    await submit(employee, plain)
    assert.deepEqual(queues(), ['evaluations'])
    const { data } = await submit(employee, linked)
    assert.deepEqual(queues(), ['evaluations', 'evaluations', 'membership-changes'])
    assert.deepEqual(enqueued.at(-1)?.message, { tenantId, collectionId: linked })
    enqueued.length = 0
    await act(employee.token, data, 'leave')
    assert.deepEqual(queues(), ['evaluations', 'membership-changes'])
  })

  it('changes the criteria collections that refer to the collection, and evaluates no others', async () => {
    const [employee, other] = [await person(), await person()]
    const first = await position(employee)
    await position(employee)
    const choir = await joinable(OPEN, { objectType: 'Relationship' })
    const people = await fixture.criteria('Identity', equals('memberOfCollection', choir))
    const positions = await fixture.criteria('Relationship', equals('memberOfCollection', choir))
    const beyond = await fixture.criteria('Identity', equals('memberOfCollection', positions))
    await evaluator.evaluate(tenantId)
    const unrelated = await fixture.criteria('Identity', equals('identityFirstName', 'Nobody'))
    await evaluator.evaluate(tenantId)
    fixture.pass(60)
    const { data: request } = await submit(employee, choir, { relationshipId: first })
    await submit(other, choir)
    const before = fixture.cosmos.operations()
    await evaluator.evaluate(tenantId)
    const after = fixture.cosmos.operations()
    assert.deepEqual((await materialised(people)).memberIds, [employee.identityId, other.identityId].sort())
    assert.deepEqual((await materialised(positions)).memberIds, [first])
    assert.deepEqual((await materialised(beyond)).memberIds, [employee.identityId])
    assert.equal((await materialised(unrelated)).evaluatedAt, '2030-06-01T08:00:00.000+00:00')
    assert.equal(after.batch - before.batch, 3)
    await act(employee.token, request, 'leave')
    await evaluator.evaluate(tenantId)
    assert.deepEqual((await materialised(people)).memberIds, [other.identityId])
    assert.deepEqual((await materialised(beyond)).memberIds, [])
  })

  it('is included in previews immediately', async () => {
    const employee = await person()
    const choir = await joinable(OPEN)
    await submit(employee, choir)
    const preview = { objectType: 'Identity', condition: equals('memberOfCollection', choir) }
    const { data } = await call<PreviewReply>(admin, 'POST', '/collections-criteria/beta/preview', { preview })
    assert.deepEqual(data.preview, [{ objectId: employee.identityId, displayName: 'Somebody' }])
  })
})

describe('the accounts of a joinable collection', () => {
  it('are those of its members, each once, after joins and leaves', async () => {
    const [employee, other, without] = [await person(), await person(), await person()]
    await fixture.put('identity', { displayName: 'No account' }, without.identityId)
    const [first, second] = [await position(employee), await position(employee)]
    const choir = await joinable(OPEN, { objectType: 'Relationship' })
    const { linkedCollections } = fixture
    assert.deepEqual(await linkedCollections.accountsOf(tenantId, choir), {
      accounts: new Set(),
      withoutAccountCount: 0,
      withoutAccountIds: [],
      accepted: new Map(),
      membershipVersion: 0,
      isCurrent: true,
    })
    const { data: membership } = await submit(employee, choir, { relationshipId: first })
    await submit(employee, choir, { relationshipId: second })
    await submit(other, choir)
    const link = { tenantId, collectionId: choir, comparedAtMs: null, acceptedWithoutAccount: [] }
    const { accounts, membershipVersion } = await linkedCollections.accountsOf(tenantId, choir)
    assert.deepEqual(accounts, new Set([employee.account, other.account]))
    assert.equal(membershipVersion, 3)
    await act(employee.token, membership, 'leave')
    const unchanged = await linkedCollections.changesSince(link, 3)
    assert.deepEqual([unchanged?.added, unchanged?.removed, unchanged?.membershipVersion], [[], [], 4])
    const members = `/collections-joinable/beta/${choir}/results/members`
    await call(admin, 'DELETE', members, { coreIdentityIds: [employee.identityId, other.identityId] })
    await call(admin, 'POST', members, { coreIdentityIds: [other.identityId, without.identityId] })
    assert.deepEqual(await linkedCollections.changesSince(link, 3), {
      added: [other.account],
      removed: [employee.account],
      withoutAccountCount: 1,
      withoutAccountIds: [without.identityId],
      accepted: new Map(),
      accountCount: 1,
      membershipVersion: 6,
    })
    assert.equal(await linkedCollections.changesSince(link, 7), undefined)
  })
})

describe('a deleted identity or position', () => {
  it('ends memberships as Left and open requests as Cancelled, by the system, once', async () => {
    const [gone, stays] = [await person(), await person()]
    const [ending, lasting] = [await position(stays), await position(stays)]
    const choir = await joinable(OPEN, { objectType: 'Relationship' })
    const board = await joinable(await fixture.approvedBySomebody())
    const { data: membership } = await submit(gone, choir)
    const { data: open } = await submit(gone, board)
    const { data: atEnding } = await submit(stays, choir, { relationshipId: ending })
    const { data: atLasting } = await submit(stays, choir, { relationshipId: lasting })
    const named = await fixture.criteria('Identity', equals('memberOfCollection', choir))
    await evaluator.evaluate(tenantId)
    assert.equal((await materialised(named)).memberIds.length, 2)
    fixture.linked.add(choir)
    fixture.pass(60)
    await fixture.remove('identity', gone.identityId)
    await fixture.remove('relationship', ending)
    enqueued.length = 0
    await evaluator.evaluate(tenantId)
    for (const [request, status] of [
      [membership, 'Left'],
      [open, 'Cancelled'],
      [atEnding, 'Left'],
      [atLasting, 'Joined'],
    ] as const) {
      const { data } = await read(admin, request)
      assert.equal(data.status, status)
      if (status !== 'Joined') assert.equal(data.lifecycle.at(-1)?.actorId, 'system')
    }
    assert.deepEqual(await results(choir), [{ objectId: stays.identityId, relationshipId: lasting }])
    assert.deepEqual((await materialised(named)).memberIds, [stays.identityId])
    assert.ok(enqueued.some(({ message }) => 'collectionId' in message && message.collectionId === choir))
    const before = (await read(admin, membership)).data
    await evaluator.evaluate(tenantId)
    await fixture.newService().evaluator.evaluate(tenantId)
    assert.deepEqual((await read(admin, membership)).data, before)
  })

  it('is reconciled by a new process', async () => {
    const gone = await person()
    const choir = await joinable(OPEN)
    const { data: membership } = await submit(gone, choir)
    await fixture.remove('identity', gone.identityId)
    await fixture.newService().evaluator.evaluate(tenantId)
    assert.equal((await read(admin, membership)).data.status, 'Left')
  })
})
