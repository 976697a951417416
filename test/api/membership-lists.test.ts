import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import { type MembershipRequest, slotOf } from '../../shared/domain/membership-requests/membership-request.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { equals, faults, joinableFixture, type Person } from '../support/api/joinable-fixture.ts'

const COLLECTION_COUNT = 500
const REQUESTS_PER_COLLECTION_COUNT = 20
const LIMIT_MS = 150

const fixture = await joinableFixture(dispatcher)
const { tenantId, call, requests, deps } = fixture

let people: { reviewer: Person; employee: Person }
let collections: Collection[]

const AT = '2030-06-01T08:00:00.000+00:00'

function collectionWith(changes: Partial<Collection>): Collection {
  return {
    id: randomUUID(),
    tenantId,
    kind: 'joinable',
    objectType: 'Identity',
    name: 'Choir',
    description: null,
    definition: {},
    definitionVersion: 1,
    definedBy: 'test',
    metadata: { tags: [], attributes: {} },
    refersTo: [],
    createdBy: 'test',
    createdAtMs: fixture.nowMs(),
    updatedAtMs: fixture.nowMs(),
    ...changes,
  }
}

const policy = (type: string, approvers: string[]) => ({
  approvalRequired: true,
  approvalGates: [{ order: 1, type, approvers }],
  joinableBy: { collectionIds: [] },
})

/** One fifth of the collections have a Manager gate, two fifths an Identity gate, two fifths a Collection gate. */
async function addCollection(index: number, reviewer: Person): Promise<Collection> {
  const name = `Choir ${index}`
  let collection = collectionWith({ name, definition: policy('Identity', [reviewer.identityId]) })
  if (index % 5 === 0) collection = collectionWith({ name, definition: policy('Manager', []) })
  if (index % 5 > 2) {
    const definition = equals('identityId', reviewer.identityId)
    const approvers = collectionWith({ kind: 'criteria', name: `Approvers ${index}`, definition })
    await deps.collections.add(approvers, undefined)
    const refersTo = [approvers.id]
    collection = collectionWith({ name, definition: policy('Collection', refersTo), refersTo })
  }
  await deps.collections.add(collection, undefined)
  return collection
}

function pending(collection: Collection, requesterId: string, submittedBy: string): MembershipRequest {
  const type = (collection.definition as { approvalGates: { type: 'Identity' }[] }).approvalGates[0]?.type ?? 'Identity'
  return {
    id: randomUUID(),
    tenantId,
    slot: slotOf(collection, requesterId, null),
    collectionId: collection.id,
    requesterId,
    submittedBy,
    relationshipId: null,
    status: 'PendingApproval',
    currentGate: { order: 1, type, approverCount: 1 },
    notes: 'Please let me in, I have been singing for years',
    createdAt: AT,
    updatedAt: AT,
    lifecycle: [
      { status: 'Requested', actorId: submittedBy, at: AT },
      { status: 'PendingApproval', actorId: submittedBy, at: AT, gate: { order: 1, type } },
    ],
  }
}

before(async () => {
  const [reviewer, employee] = [await fixture.person(), await fixture.person()]
  const requesters = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const requesterId = await fixture.put('identity', {})
      await fixture.put('relationship', {
        identity: { objectId: requesterId },
        manager: { objectId: reviewer.identityId },
      })
      return requesterId
    }),
  )
  const indices = Array.from({ length: COLLECTION_COUNT }, (_, index) => index)
  collections = await Promise.all(indices.map((index) => addCollection(index, reviewer)))
  for (const [index, collection] of collections.entries()) {
    const ids = Array.from({ length: REQUESTS_PER_COLLECTION_COUNT }, (_, at) => requesters[(index * 7 + at) % 1000])
    const all = ids.map((id) => pending(collection, id ?? '', id ?? ''))
    if (index < 50) all[0] = pending(collection, employee.identityId, reviewer.identityId)
    await deps.requests.save(all.map((request) => ({ after: request })))
  }
  people = { reviewer, employee }
  // Otherwise the snapshot, read for the first time afterwards, could not detect that nothing was written since.
  await deps.snapshots.fresh(tenantId)
  fixture.pass(60)
})

after(() => assert.deepEqual(faults, []))

/** The first call loads and compiles code. */
const MAX_ROUNDS = 20

/** CPU time of the thread, including the database. Elapsed time would include the load of the machine. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Repeats the call until it is fast enough once. @returns The lowest CPU time and the data. */
async function timed(who: 'reviewer' | 'employee', path: string) {
  let leastMs = Number.POSITIVE_INFINITY
  let data: { id: string }[] = []
  for (let round = 0; round < MAX_ROUNDS && leastMs >= LIMIT_MS; round += 1) {
    const startMs = workedMs()
    const answer = await call<{ id: string }[]>(people[who].token, 'GET', path)
    leastMs = Math.min(leastMs, workedMs() - startMs)
    assert.equal(answer.status, 200)
    data = answer.data
  }
  return { leastMs, data }
}

const operationCount = () => {
  const { read, query } = fixture.cosmos.operations()
  return read + query
}

describe('with ten thousand waiting requests in five hundred collections', () => {
  for (const [who, list, count] of [
    ['reviewer', 'pending-approval-review', COLLECTION_COUNT],
    ['employee', 'pending-approval-review', 0],
    ['employee', 'pending-approval', 50],
    ['reviewer', 'submitted-on-behalf', 50],
    ['employee', 'eligible', COLLECTION_COUNT - 50],
    ['reviewer', 'eligible', COLLECTION_COUNT],
  ] as const) {
    it(`${list} of the ${who} has ${count} entries and takes less than ${LIMIT_MS} ms of the thread`, async (test) => {
      const { leastMs, data } = await timed(who, `${requests}/${list}`)
      test.diagnostic(`${leastMs.toFixed(0)} ms`)
      assert.equal(data.length, count)
      assert.ok(leastMs < LIMIT_MS, `${leastMs} ms`)
    })
  }

  for (const [index, kind] of [
    [0, 'Manager'],
    [1, 'Identity'],
    [3, 'Collection'],
  ] as const) {
    it(`the requests of one collection take less than ${LIMIT_MS} ms of the thread, at a gate of type ${kind}`, async (test) => {
      const id = collections[index + 50]?.id
      for (const path of [`${requests}/pending-approval-review/${id}`, `${requests}/${id}`]) {
        const { leastMs, data } = await timed('reviewer', path)
        test.diagnostic(`${leastMs.toFixed(0)} ms`)
        assert.equal(data.length, REQUESTS_PER_COLLECTION_COUNT)
        assert.ok(leastMs < LIMIT_MS, `${leastMs} ms`)
      }
    })
  }

  it('each list costs a few operations, however many collections there are', async () => {
    const lists = ['pending-approval-review', 'pending-approval', 'submitted-on-behalf', 'eligible']
    for (const list of [...lists, `pending-approval-review/${collections[3]?.id}`, collections[3]?.id]) {
      const before = operationCount()
      await call(people.reviewer.token, 'GET', `${requests}/${list}`)
      const taken = operationCount() - before
      assert.ok(taken <= 10, `${list} took ${taken}`)
    }
  })
})
