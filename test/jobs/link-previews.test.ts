import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import type { Overrides } from '../../functions/app/service.ts'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { faultLog } from '../support/api/built-service.ts'
import { type AccountFixture, CALLER, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

const FIELD = 'identityDisplayName'
/** Longer than the lease of an evaluation lasts. */
const LEASE_MS = 20_000
const UNKNOWN_ID = 'eeeeeeee-0000-4000-8000-000000000001'

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true, isDirect: true })
})
afterEach(() => fixture.clock.sleep(LEASE_MS))
after(() => fixture.close())

let placeCount = 0

/** Ann and Bo, a collection of Ann that was just created, and a group that contains her. */
async function newPlace() {
  placeCount += 1
  const source = await fixture.newSource()
  const [ann = '', bo = ''] = users(placeCount * 10, 2)
  const [nameOfAnn, nameOfBo] = [`Ann ${placeCount}`, `Bo ${placeCount}`]
  const person = (displayName: string, directoryObjectId: string) =>
    identity(displayName, { displayName, nin: displayName, directoryObjectId })
  await fixture.write(source, person(nameOfAnn, ann), person(nameOfBo, bo))
  const collectionId = await fixture.criteria('Identity', FIELD, nameOfAnn)
  const groupId = await fixture.newGroup({}, [ann])
  return {
    ann,
    bo,
    collectionId,
    groupId,
    /** The condition includes Bo in place of Ann. */
    async redefine(): Promise<void> {
      const conditions = [{ id: FIELD, field: FIELD, operator: 'Equals', value: nameOfBo }]
      const body = { objectType: 'Identity', condition: { groupOperator: 'AND', conditions } } as const
      const update = { id: collectionId, body, ifMatch: undefined, caller: CALLER }
      await updateCriteriaCollection(update, fixture.coldProcess().collections)
    },
    /** As answered by an instance that has just started. */
    preview: (overrides?: Overrides) =>
      previewLink(TENANT, { collectionId, groupId }, fixture.coldProcess(undefined, overrides).sync),
  }
}

type Place = Awaited<ReturnType<typeof newPlace>>

/** The collection as it was created, and with a condition that has changed since its evaluation. */
const COLLECTIONS = [
  ['that was just created', async () => undefined],
  [
    'whose condition has just changed',
    async ({ redefine }: Place) => {
      await fixture.coldProcess().evaluate()
      await redefine()
    },
  ],
] as const

describe('While another instance evaluates the tenant', () => {
  for (const [claim, prepare] of COLLECTIONS) {
    it(`a preview of a collection ${claim} is refused, to be retried`, async () => {
      const place = await newPlace()
      await prepare(place)
      await fixture.evaluateElsewhere()
      await assert.rejects(place.preview(), { name: 'Refusal', code: 'CollectionNotVerified', kind: 'upstream' })
    })

    it(`a preview of a collection ${claim} waits for the other instance to end`, async () => {
      const place = await newPlace()
      await prepare(place)
      const isOfAnn = prepare === COLLECTIONS[0][1]
      const end = await fixture.evaluateElsewhere()
      let waitCount = 0
      const sleep = async (delayMs: number) => {
        waitCount += 1
        await fixture.clock.sleep(delayMs)
        if (waitCount === 1) await end()
      }
      const { membersToAdd, membersToRemove } = await place.preview({ sleep })
      assert.deepEqual([membersToAdd, membersToRemove], isOfAnn ? [[], []] : [[place.bo], [place.ann]])
      assert.equal(waitCount, 1)
    })
  }

  it('a preview is refused when its collection is deleted meanwhile', async () => {
    const { collectionId, preview } = await newPlace()
    await fixture.evaluateElsewhere()
    const sleep = () => fixture.removeLinked(collectionId)
    await assert.rejects(preview({ sleep }), { name: 'Refusal', code: 'CollectionUnknown' })
  })

  it('a preview of a collection counts the members that its own link accepts without an account, and no other', async () => {
    const { collectionId, groupId } = await newPlace()
    const other = await newPlace()
    const { sync } = fixture.coldProcess()
    const linkId = await createLink(TENANT, { collectionId, directoryGroupId: groupId }, sync)
    const { value, version } = (await sync.links.find(TENANT, linkId)) ?? assert.fail()
    await sync.links.replace({ ...value, acceptedWithoutAccount: [UNKNOWN_ID] }, version)
    const asked: (readonly string[] | undefined)[] = []
    const accountsOf: typeof sync.collections.accountsOf = (tenantId, id, accepted) => {
      asked.push(accepted)
      return sync.collections.accountsOf(tenantId, id, accepted)
    }
    const deps = { ...sync, collections: { ...sync.collections, accountsOf } }
    for (const id of [collectionId, other.collectionId]) {
      await previewLink(TENANT, { collectionId: id, groupId }, deps)
    }
    assert.deepEqual(asked, [[UNKNOWN_ID], []])
  })

  it('the first job of a link says that its collection is not evaluated yet, and succeeds later', async () => {
    const { collectionId, groupId, ann } = await newPlace()
    await fixture.evaluateElsewhere()
    const faults: unknown[] = []
    const { sync } = fixture.coldProcess(undefined, { log: faultLog(faults) })
    fixture.sentMessages.length = 0
    await createLink(TENANT, { collectionId, directoryGroupId: groupId }, sync)
    await fixture.deliverNext(sync)
    const [queued] = await fixture.jobsOf(collectionId)
    assert.deepEqual([queued?.status, queued?.error], ['Queued', 'The collection is not evaluated yet.'])
    await fixture.clock.sleep(LEASE_MS)
    await fixture.drain(sync)
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Succeeded', 2])
    assert.deepEqual(await fixture.membersOf(groupId), new Set([ann]))
    assert.deepEqual(faults, [])
  })
})
