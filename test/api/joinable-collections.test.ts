import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { CollectionDto, CollectionResults } from '../../shared/domain/collections/collection.ts'
import type { JoinableCollectionDto } from '../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const COLLECTIONS = '/collections-joinable/beta'

const fixture = await joinableFixture()
const { admin, writer, call, submit, act, read, results, joinable, person, position } = fixture
const reader = fixture.caller('application', ['collections-criteria.criteria.read.all'])

after(() => assert.deepEqual(faults, []))

describe('joinable collections', () => {
  it('are created, read, updated and deleted', async () => {
    const approver = await person()
    const policy = {
      approvalRequired: true,
      approvalGates: [{ order: 1, type: 'Identity', approvers: [approver.identityId] }],
      joinableBy: { collectionIds: [] },
    }
    const metadata = { tags: [' Music '], attributes: { Room: 'A1' } }
    const made = await call(writer, 'POST', COLLECTIONS, {
      objectType: 'Identity',
      name: 'Choir',
      joinPolicy: policy,
      metadata,
      id: 'ignored',
    })
    assert.equal(made.status, 201)
    assert.equal(made.headers.location, `${COLLECTIONS}/${made.data}`)
    const one = await call<JoinableCollectionDto>(reader, 'GET', `${COLLECTIONS}/${made.data}`)
    assert.equal(one.status, 200)
    assert.deepEqual(one.data.joinPolicy, policy)
    assert.deepEqual(one.data.metadata, { tags: ['music'], attributes: { room: 'A1' } })
    assert.deepEqual((await call(reader, 'GET', `${COLLECTIONS}/search?tags=MUSIC&attributes=room:A1`)).data, [
      one.data,
    ])
    assert.deepEqual((await call(reader, 'GET', `${COLLECTIONS}/search?tags=art`)).data, [])
    const { joinPolicy: _joinPolicy, ...shared } = one.data
    assert.deepEqual((await call(reader, 'GET', `/collections/beta/${made.data}`)).data, shared)
    assert.equal((await call(reader, 'GET', `/collections-criteria/beta/${made.data}`)).status, 404)

    const change = { objectType: 'Identity', name: 'Singers' }
    const stale = await call(admin, 'PUT', `${COLLECTIONS}/${made.data}`, change, { 'if-match': '"old"' })
    assert.equal(stale.status, 412)
    const changed = await call<JoinableCollectionDto>(admin, 'PUT', `${COLLECTIONS}/${made.data}`, change, {
      'if-match': String(one.headers.etag),
    })
    assert.equal(changed.data.name, 'Singers')
    assert.deepEqual(changed.data.joinPolicy, policy)
    const tagged = { objectType: 'Identity', metadata: { tags: ['Art'] } }
    const kept = await call<JoinableCollectionDto>(admin, 'PUT', `${COLLECTIONS}/${made.data}`, tagged)
    assert.deepEqual(kept.data.metadata, { tags: ['art'], attributes: { room: 'A1' } })
    const other = await call(admin, 'PUT', `${COLLECTIONS}/${made.data}`, { objectType: 'Relationship' })
    assert.deepEqual([other.status, other.codes], [400, ['ObjectTypeFixed']])

    assert.equal((await call(admin, 'DELETE', `${COLLECTIONS}/${made.data}`)).status, 200)
    assert.equal((await call(admin, 'GET', `${COLLECTIONS}/${made.data}`)).status, 404)
  })

  it('report invalid input before a missing collection', async () => {
    const joinPolicy = { approvalRequired: true, approvalGates: [], joinableBy: { collectionIds: [] } }
    const body = { objectType: 'Identity', joinPolicy, metadata: { tags: ['a', 'A'] } }
    const answer = await call(admin, 'PUT', `${COLLECTIONS}/${randomUUID()}`, body)
    assert.deepEqual([answer.status, answer.codes.toSorted()], [400, ['DuplicateTag', 'GateRequired']])
    const sound = await call(admin, 'PUT', `${COLLECTIONS}/${randomUUID()}`, { objectType: 'Identity' })
    assert.equal(sound.status, 404)
  })

  it('are refused with all faults of their policy at once, unknown ids included', async () => {
    const [identityId, collectionId] = [randomUUID(), randomUUID()]
    const { status, codes, targets } = await call(admin, 'POST', COLLECTIONS, {
      objectType: 'OrgUnit',
      name: 'Choir',
      metadata: { tags: ['a', 'A'] },
      joinPolicy: {
        approvalRequired: true,
        approvalGates: [
          { order: 0, type: 'Identity', approvers: [identityId] },
          { order: 2, type: 'Committee' },
        ],
        joinableBy: { collectionIds: [collectionId] },
      },
    })
    assert.equal(status, 400)
    assert.deepEqual(codes, [
      'ObjectTypeNotSupported',
      'DuplicateTag',
      'InvalidGateOrder',
      'UnknownGateType',
      'IdentityUnknown',
      'CollectionUnknown',
    ])
    assert.deepEqual(targets.slice(2), [
      '/joinPolicy/approvalGates/0/order',
      '/joinPolicy/approvalGates/1/type',
      '/joinPolicy/approvalGates/0/approvers/0',
      '/joinPolicy/joinableBy/collectionIds/0',
    ])
    const shape = await call(admin, 'POST', COLLECTIONS, { objectType: 'Identity', name: 'x', joinPolicy: {} })
    assert.deepEqual([shape.status, shape.targets], [400, ['/joinPolicy/approvalRequired']])
    assert.equal((await call(reader, 'POST', COLLECTIONS, {})).status, 403)
    const employee = await person()
    assert.equal((await call(employee.token, 'GET', COLLECTIONS)).status, 403)
  })

  it('report the faults of an update before a missing collection', async () => {
    const change = (body: object) =>
      call(admin, 'PUT', `${COLLECTIONS}/${randomUUID()}`, { objectType: 'Identity', ...body })
    const policy = await change({ joinPolicy: { approvalRequired: true } })
    assert.deepEqual([policy.status, policy.codes], [400, ['GateRequired']])
    const metadata = await change({ metadata: { tags: ['a', 'A'] } })
    assert.deepEqual([metadata.status, metadata.codes], [400, ['DuplicateTag']])
    assert.equal((await change({ name: 'x' })).status, 404)
  })

  it('cannot be deleted while another collection refers to them; references to themselves do not count', async () => {
    const choir = await joinable(OPEN)
    const band = await joinable({ ...OPEN, joinableBy: { collectionIds: [choir] } })
    const refused = await call(admin, 'DELETE', `${COLLECTIONS}/${choir}`)
    assert.deepEqual([refused.status, refused.codes], [409, ['CollectionInUse']])
    assert.equal((await call(admin, 'DELETE', `${COLLECTIONS}/${band}`)).status, 200)
    const own = { objectType: 'Identity', joinPolicy: approvedBy({ type: 'Collection', approvers: [choir] }) }
    assert.equal((await call(admin, 'PUT', `${COLLECTIONS}/${choir}`, own)).status, 200)
    assert.equal((await call(admin, 'DELETE', `${COLLECTIONS}/${choir}`)).status, 200)
  })

  it('end their requests and memberships when deleted', async () => {
    const [member, waiting, approver] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const joined = await submit(member, collectionId)
    await act(approver.token, joined.data, 'approve')
    await submit(waiting, collectionId)
    assert.equal((await call(admin, 'DELETE', `${COLLECTIONS}/${collectionId}`)).status, 200)
    const pending = await call(waiting.token, 'GET', `${fixture.requests}/pending-approval`)
    assert.deepEqual(pending.data, [])
    assert.deepEqual((await call(member.token, 'GET', `${COLLECTIONS}/member-of`)).data, [])
    const kept = await fixture.deps.requests.find(fixture.tenantId, joined.data.id)
    assert.equal(kept?.value.status, 'Left')
    assert.equal(kept?.value.lifecycle.at(-1)?.actorId, 'system')
  })
})

describe('members', () => {
  const members = (collectionId: string) => `${COLLECTIONS}/${collectionId}/results/members`

  it('are added directly at their main position, with a lifecycle, all or none', async () => {
    const [one, primary, several, actor] = [
      await person(),
      await person(),
      await person(),
      await person(['collection_criteria_definition-administrator']),
    ]
    const only = await position(one)
    await position(primary)
    const main = await position(primary)
    await fixture.put(
      'identity',
      { directoryObjectId: primary.account, primaryRelationship: { objectId: main } },
      primary.identityId,
    )
    await position(several)
    await position(several)
    const collectionId = await joinable(approvedBy({ type: 'Manager' }), { objectType: 'Relationship' })
    const unknown = randomUUID()
    const coreIdentityIds = [one, primary, several, one].map(({ identityId }) => identityId)
    const refused = await call(writer, 'POST', members(collectionId), {
      coreIdentityIds: [...coreIdentityIds, unknown],
    })
    assert.deepEqual(
      [refused.status, refused.codes, refused.targets],
      [400, ['IdentityUnknown'], ['/coreIdentityIds/4']],
    )
    assert.deepEqual(await results(collectionId), [])
    const added = await call(actor.token, 'POST', members(collectionId), { coreIdentityIds })
    assert.deepEqual(added.data, { added: 3, alreadyMembers: 0 })
    const expected = [
      { objectId: one.identityId, relationshipId: only },
      { objectId: primary.identityId, relationshipId: main },
      { objectId: several.identityId, relationshipId: null },
    ].sort((left, right) => (left.objectId < right.objectId ? -1 : 1))
    assert.deepEqual(await results(collectionId), expected)
    const again = await call(writer, 'POST', members(collectionId), { coreIdentityIds })
    assert.deepEqual(again.data, { added: 0, alreadyMembers: 3 })
    // The main position is another one now.
    await fixture.put('relationship', { identity: { objectId: one.identityId }, endDate: '2020-01-01' }, only)
    await position(one)
    const atOther = await call(writer, 'POST', members(collectionId), { coreIdentityIds: [one.identityId] })
    assert.deepEqual([atOther.data, await results(collectionId)], [{ added: 0, alreadyMembers: 1 }, expected])
    const [request] = (await call<MembershipRequestDto[]>(one.token, 'GET', `${fixture.requests}/${collectionId}`)).data
    assert.ok(request)
    assert.equal(request.submittedBy, actor.identityId)
    assert.deepEqual(request.lifecycle, [{ status: 'Joined', actorId: actor.identityId, at: request.createdAt }])
  })

  it('are removed directly with all their memberships; others are counted', async () => {
    const [employee, stranger] = [await person(), await person()]
    const [first, second] = [await position(employee), await position(employee)]
    const collectionId = await joinable(OPEN, { objectType: 'Relationship' })
    const { data: request } = await submit(employee, collectionId, { relationshipId: first })
    await submit(employee, collectionId, { relationshipId: second })
    const coreIdentityIds = [employee.identityId, stranger.identityId, randomUUID()]
    const removed = await call(writer, 'DELETE', members(collectionId), { coreIdentityIds })
    assert.deepEqual(removed.data, { removed: 1, notMembers: 2 })
    assert.deepEqual(await results(collectionId), [])
    const { lifecycle } = (await read(employee.token, request)).data
    assert.equal(lifecycle.at(-1)?.status, 'Left')
    assert.match(lifecycle.at(-1)?.actorId ?? '', /^[0-9a-f-]{36}$/)
    assert.equal((await call(reader, 'DELETE', members(collectionId), { coreIdentityIds })).status, 403)
    assert.equal((await call(writer, 'DELETE', members(randomUUID()), { coreIdentityIds })).status, 404)
  })

  it('can be added by the thousand', async () => {
    const identityIds = Array.from({ length: 1000 }, () => randomUUID())
    await Promise.all(identityIds.map((id) => fixture.put('identity', {}, id)))
    const collectionId = await joinable(OPEN)
    const added = await call(writer, 'POST', members(collectionId), { coreIdentityIds: identityIds })
    assert.deepEqual(added.data, { added: 1000, alreadyMembers: 0 })
    assert.equal((await results(collectionId)).length, 1000)
    const removed = await call(writer, 'DELETE', members(collectionId), { coreIdentityIds: identityIds })
    assert.deepEqual(removed.data, { removed: 1000, notMembers: 0 })
  })

  it('are listed under both prefixes, and filtered by identity or position', async () => {
    const employee = await person()
    const relationshipId = await position(employee)
    const collectionId = await joinable(OPEN, { name: 'Band' })
    await submit(employee, collectionId)
    for (const path of [`${COLLECTIONS}/${collectionId}/results`, `/collections/beta/${collectionId}/results`]) {
      const { data } = await call<CollectionResults>(reader, 'GET', path)
      assert.equal(data.name, 'Band')
      assert.equal(data.evaluatedAt, '2030-06-01T08:00:00.000+00:00')
      assert.deepEqual(data.memberIds, [{ objectId: employee.identityId, relationshipId }])
    }
    const ids = [relationshipId, randomUUID(), employee.identityId, relationshipId]
    const { data } = await call(reader, 'POST', `/collections/beta/${collectionId}/filter-members`, { ids })
    assert.deepEqual(data, [relationshipId, employee.identityId])
    const own = await call<CollectionDto[]>(employee.token, 'GET', `${COLLECTIONS}/member-of`)
    assert.deepEqual(
      own.data.map(({ id }) => id),
      [collectionId],
    )
  })
})
