import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Outbox } from '../../shared/cosmos/events/outbox.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/requests/joined-member-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/requests/request-store.ts'
import type { MembershipRequest } from '../../shared/domain/membership-requests/membership-request.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const AT = '2030-01-01T00:00:00.000+00:00'
const container = await localDatabase()
const options = { historyDays: 400, nowMs: () => Date.parse(AT) }
const store = cosmosRequestStore(container('requests'), options)
/** Another instance of the service, whose saves are not serialized with those of the first. */
const other = cosmosRequestStore(container('requests'), options)
const joined = cosmosJoinedMembers(container('requests'), options.nowMs)

const tenantId = randomUUID()

function requestWith(changes: Partial<MembershipRequest>): MembershipRequest {
  const collectionId = changes.collectionId ?? randomUUID()
  const requesterId = changes.requesterId ?? randomUUID()
  return {
    id: randomUUID(),
    tenantId,
    slot: `${collectionId}:${requesterId}:none`,
    collectionId,
    requesterId,
    submittedBy: requesterId,
    relationshipId: null,
    status: 'Joined',
    currentGate: null,
    notes: null,
    createdAt: AT,
    updatedAt: AT,
    lifecycle: [{ status: 'Requested', actorId: requesterId, at: AT }],
    ...changes,
  }
}

const saved = async (request: MembershipRequest) => {
  const [first] = await store.save([{ after: request }])
  assert.ok(first)
  return first
}
const versionOf = async (collectionId: string) => (await joined.versions(tenantId, [collectionId])).get(collectionId)

describe('RequestStore on the local database', () => {
  it('returns a saved request with its version', async () => {
    const request = requestWith({ notes: 'Please', status: 'PendingApproval' })
    const { version } = await saved(request)
    assert.deepEqual(await store.find(tenantId, request.id), { value: request, version })
    assert.equal(await store.find(randomUUID(), request.id), undefined)
    assert.equal(await store.find(tenantId, `slot:${request.slot}`), undefined)
  })

  it('accepts one live request per slot, and another after it has ended', async () => {
    const request = requestWith({ status: 'PendingApproval' })
    const before = await saved(request)
    const second = { ...request, id: randomUUID() }
    await assert.rejects(store.save([{ after: second }]), { code: 'RequestAlreadyOpen' })
    await store.save([{ before, after: { ...request, status: 'Rejected' } }])
    await store.save([{ after: second }])
    assert.deepEqual(
      (await store.liveOf(tenantId, request.requesterId)).map(({ value }) => value.id),
      [second.id],
    )
  })

  it('refuses a change with an old version, and writes no other change of the batch', async () => {
    const collectionId = randomUUID()
    const before = await saved(requestWith({ collectionId }))
    await store.save([{ before, after: { ...before.value, notes: 'changed' } }])
    const newcomer = requestWith({ collectionId })
    const changes = [{ after: newcomer }, { before, after: { ...before.value, status: 'Left' as const } }]
    await assert.rejects(store.save(changes), { code: 'InvalidRequestState' })
    assert.equal(await store.find(tenantId, newcomer.id), undefined)
    assert.equal(await versionOf(collectionId), 1)
  })

  it('counts each join and leave once, also with concurrent instances', async () => {
    const collectionId = randomUUID()
    const requests = Array.from({ length: 30 }, () => requestWith({ collectionId }))
    await Promise.all(requests.map((after, index) => (index % 2 === 0 ? store : other).save([{ after }])))
    assert.equal(await versionOf(collectionId), 30)
    const members = (await joined.of(tenantId, [collectionId])).get(collectionId)
    assert.equal(members?.membershipVersion, 30)
    assert.deepEqual(
      members?.memberships.map(({ identityId }) => identityId),
      requests.map(({ requesterId }) => requesterId).sort(),
    )
  })

  it('has another revision of the members, and no version, when the position of a membership changes', async () => {
    const collectionId = randomUUID()
    const before = await saved(requestWith({ collectionId, relationshipId: randomUUID() }))
    const revision = async () => (await joined.revisions(tenantId, [collectionId])).get(collectionId)
    const first = await revision()
    await store.save([{ before, after: { ...before.value, relationshipId: null } }])
    assert.notEqual(await revision(), first)
    assert.equal(await versionOf(collectionId), 1)
  })

  it('tells that members have changed also when two identities become one, which is no event of a request', async () => {
    const notified: (string | undefined)[] = []
    const outbox: Outbox = {
      prepare: async () => [],
      notify: async (...[, , , collectionId]) => void notified.push(collectionId),
    }
    const telling = cosmosRequestStore(container('requests'), options, outbox)
    const collectionId = randomUUID()
    const before = await saved(requestWith({ collectionId }))
    const { requesterId, slot } = requestWith({ collectionId })
    await telling.save([{ before, after: { ...before.value, requesterId, slot } }])
    assert.deepEqual(notified, [collectionId])
  })

  it('has changes at times that rise with their versions, whatever the clocks of the instances', async () => {
    const collectionId = randomUUID()
    const laterMs = options.nowMs() + 60_000
    const ahead = cosmosRequestStore(container('requests'), { ...options, nowMs: () => laterMs })
    for (const each of [ahead, store]) await each.save([{ after: requestWith({ collectionId }) }])
    const changes = [1, 2].map((version) => container('requests').item(`change:${collectionId}:${version}`, tenantId))
    const times = (await Promise.all(changes.map((change) => change.read()))).map(({ resource }) => resource.atMs)
    assert.deepEqual(times, [laterMs, laterMs])
  })

  it('returns the changes after a version, and undefined beyond the history', async () => {
    const collectionId = randomUUID()
    const first = await saved(requestWith({ collectionId }))
    const second = await saved(requestWith({ collectionId }))
    await store.save([{ before: first, after: { ...first.value, status: 'Left' } }])
    assert.deepEqual(await joined.changesAfter(tenantId, collectionId, 1), [
      { added: [second.value.requesterId], removed: [] },
      { added: [], removed: [first.value.requesterId] },
    ])
    assert.deepEqual(await joined.changesAfter(tenantId, collectionId, 3), [])
    assert.equal(await joined.changesAfter(tenantId, collectionId, 4), undefined)
    assert.deepEqual(await joined.changesAfter(tenantId, randomUUID(), 0), [])
    await container('requests').item(`change:${collectionId}:3`, tenantId).delete()
    assert.equal(await joined.changesAfter(tenantId, collectionId, 1), undefined)
  })

  it('pages through the requests under more keys than one query takes, each once, in order', async () => {
    const gate = (order: number) => ({ order, type: 'Identity', approverCount: 1 }) as const
    const waiting = [5, 1, 3, 2, 4].map((age) =>
      requestWith({
        status: 'PendingApproval',
        currentGate: gate(age),
        createdAt: `2031-01-01T00:00:00.00${age % 3}+00:00`,
      }),
    )
    for (const request of waiting) await saved(request)
    const keys = waiting.map(({ collectionId, currentGate }) => `gate:${collectionId}:${currentGate?.order}`)
    const others = Array.from({ length: 4995 }, () => `gate:${randomUUID()}:1`)
    const apart = keys.flatMap((key, index) => [...others.slice(999 * index, 999 * (index + 1)), key])
    const inOrder = waiting.map(({ createdAt, id }) => `${createdAt} ${id}`).sort()
    for (const [size, waitingUnder] of [
      [1, apart],
      [2, apart],
      [5, apart],
      [2, [...keys, ...others]],
    ] as const) {
      const found: string[] = []
      let after: string | undefined
      do {
        const page = await store.page(tenantId, { newestFirst: false, waitingUnder }, after, size)
        found.push(...page.items.map(({ createdAt, id }) => `${createdAt} ${id}`))
        after = page.continueAfter
      } while (after !== undefined)
      assert.deepEqual(found, inOrder)
    }
  })

  it('finds requests under a review key only while they wait', async () => {
    const gate = { order: 2, type: 'Identity', approverCount: 1 } as const
    const request = requestWith({ status: 'PendingApproval', currentGate: gate })
    const { collectionId, requesterId } = request
    const key = `gate:${collectionId}:2`
    const before = await saved(request)
    const waiting = [{ collectionId, requesterId, relationshipId: null, reviewKey: key }]
    assert.deepEqual(await store.waiting(tenantId, [key, 'gate:x:1']), waiting)
    assert.deepEqual(await store.awaitedKeys(tenantId, [key, 'gate:x:1']), [key])
    assert.deepEqual(await store.waitingIn(tenantId, collectionId, [key]), [request])
    const [moved] = await store.save([
      { before, after: { ...request, currentGate: { order: 3, type: 'Manager', approverCount: 1 } } },
    ])
    assert.deepEqual(await store.waiting(tenantId, [key]), [])
    assert.deepEqual(await store.awaitedKeys(tenantId, [key]), [])
    assert.equal((await store.waiting(tenantId, [`subject:${requesterId}`])).length, 1)
    assert.ok(moved)
    await store.save([{ before: moved, after: { ...moved.value, status: 'Cancelled', currentGate: null } }])
    assert.deepEqual(await store.waiting(tenantId, [`subject:${requesterId}`]), [])
    assert.equal(
      (await store.liveOutlines(tenantId)).find(({ id }) => id === request.id),
      undefined,
    )
  })

  it('finds the live requests of thousands of identities and positions', async () => {
    const position = randomUUID()
    const [byPerson, byPosition] = [requestWith({}), requestWith({ relationshipId: position })]
    await saved(byPerson)
    await saved(byPosition)
    const others = Array.from({ length: 4500 }, () => randomUUID())
    const found = await store.liveOfObjects(tenantId, [...others, byPerson.requesterId, position])
    assert.deepEqual(found.map(({ value }) => value.id).sort(), [byPerson.id, byPosition.id].sort())
  })
})
