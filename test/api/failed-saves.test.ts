import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { applyDeadlines } from '../../shared/domain/membership-requests/apply-deadlines.ts'
import { addMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import type { ReconciliationDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const ADMINISTRATOR = { id: 'administrator', identityId: undefined }

const fixture = await joinableFixture()
const { tenantId, person, joinable, submit, results, enqueued, linked } = fixture
after(() => assert.deepEqual(faults, []))

type Save = ReconciliationDependencies['requests']['save']

/** The service whose save of this number fails. @param lasts Whether all later ones fail too. */
function failingAt(count: number, isStored: boolean, lasts = false): ReconciliationDependencies {
  let saves = 0
  const save: Save = async (changes) => {
    saves += 1
    if (saves !== count && !(lasts && saves > count)) return fixture.deps.requests.save(changes)
    if (isStored) await fixture.deps.requests.save(changes)
    throw new Error('The database is away')
  }
  return { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
}

/** A linked collection with a member. */
async function linkedWith(who: Person, body: object = {}): Promise<string> {
  const collectionId = await joinable(OPEN)
  linked.add(collectionId)
  assert.equal((await submit(who, collectionId, body)).status, 201)
  return collectionId
}

function enqueuedMessages() {
  const messages = enqueued.splice(0)
  const changed = messages.flatMap(({ queue, message }) => (queue === 'membership-changes' ? message.collectionId : []))
  return { changed: changed.toSorted(), isEvaluated: messages.some(({ queue }) => queue === 'evaluations') }
}

describe('Memberships that end together', () => {
  for (const [claim, isStored] of [
    ['fails', false],
    ['is stored without an answer', true],
  ] as const) {
    it(`leave their groups when the save of the second ${claim}`, async () => {
      const endsAtMs = fixture.nowMs() + 3_600_000
      const body = { endsAt: new Date(endsAtMs).toISOString() }
      const collectionIds = [await linkedWith(await person(), body), await linkedWith(await person(), body)]
      fixture.pass(3_700)
      enqueued.splice(0)
      const due = { tenantId, dueAtMs: endsAtMs }
      const applied = applyDeadlines(due, failingAt(2, isStored, true))
      // One that is stored is found when it is tried again.
      await (isStored ? applied : assert.rejects(applied, /away/))
      await applyDeadlines(due, fixture.deps)
      assert.deepEqual(await Promise.all(collectionIds.map(results)), [[], []])
      const { changed, isEvaluated } = enqueuedMessages()
      assert.deepEqual([new Set(changed), isEvaluated], [new Set(collectionIds), true])
    })

    it(`leave their groups when a person is deleted and the save of the second ${claim}`, async () => {
      const who = await person()
      const collectionIds = [await linkedWith(who), await linkedWith(who)]
      await fixture.remove('identity', who.identityId)
      enqueued.splice(0)
      const rows = await fixture.deps.snapshots.fresh(tenantId)
      const reconciler = new RequestReconciler(failingAt(2, isStored))
      await assert.rejects(reconciler.reconcile(tenantId, rows, 'everything'), /away/)
      await reconciler.reconcile(tenantId, rows, 'everything')
      assert.deepEqual(await Promise.all(collectionIds.map(results)), [[], []])
      assert.deepEqual(new Set(enqueuedMessages().changed), new Set(collectionIds))
    })
  }
})

describe('Memberships that end beside one that cannot be saved', () => {
  it('end in another collection of which five cannot be saved', async () => {
    const endsAtMs = fixture.nowMs() + 3_600_000
    const body = { endsAt: new Date(endsAtMs).toISOString() }
    const [failing, other] = [await linkedWith(await person(), body), await linkedWith(await person(), body)]
    for (let count = 0; count < 5; count += 1) await submit(await person(), failing, body)
    fixture.pass(3_700)
    const save: Save = async (changes) => {
      if (changes.some(({ after }) => after.collectionId === failing)) throw new Error('Too large')
      return fixture.deps.requests.save(changes)
    }
    const deps = { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
    await assert.rejects(applyDeadlines({ tenantId, dueAtMs: endsAtMs }, deps), /Too large/)
    assert.deepEqual(await results(other), [])
    await applyDeadlines({ tenantId, dueAtMs: endsAtMs }, fixture.deps)
  })

  for (const where of ['in its collection', 'in another collection']) {
    it(`end ${where}`, async () => {
      const endsAtMs = fixture.nowMs() + 3_600_000
      const body = { endsAt: new Date(endsAtMs).toISOString() }
      const people = [await person(), await person(), await person()]
      const [failing] = people
      const first = await linkedWith(people[0] as Person, body)
      const other = where === 'in its collection' ? first : await joinable(OPEN)
      for (const who of people.slice(1)) assert.equal((await submit(who, other, body)).status, 201)
      fixture.pass(3_700)
      const save: Save = async (changes) => {
        if (changes.some(({ after }) => after.requesterId === failing?.identityId)) throw new Error('Too large')
        return fixture.deps.requests.save(changes)
      }
      const deps = { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
      await assert.rejects(applyDeadlines({ tenantId, dueAtMs: endsAtMs }, deps), /Too large/)
      assert.deepEqual((await Promise.all([first, other].map(results))).flat().length, first === other ? 2 : 1)
      await applyDeadlines({ tenantId, dueAtMs: endsAtMs }, fixture.deps)
      assert.deepEqual(await results(first), [])
    })
  }
})

describe('Members who are added directly', () => {
  for (const [claim, isStored] of [
    ['fails', false],
    ['is stored without an answer', true],
  ] as const) {
    it(`enter their group when the save ${claim}`, async () => {
      const [first, { identityId }] = [await person(), await person()]
      const collectionId = await linkedWith(first)
      enqueued.splice(0)
      const add = (deps: ReconciliationDependencies) =>
        addMembersDirectly(tenantId, collectionId, { coreIdentityIds: [identityId] }, ADMINISTRATOR, {
          ...fixture.deps,
          ...deps,
        })
      await assert.rejects(add(failingAt(1, isStored)), /away/)
      await add(fixture.deps)
      assert.ok((await results(collectionId)).some((member) => member.objectId === identityId))
      assert.deepEqual(new Set(enqueuedMessages().changed), new Set([collectionId]))
    })
  }
})
