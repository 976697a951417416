import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { actOnRequest } from '../../shared/domain/membership-requests/act-on-request.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

const HOUR_MS = 3_600_000

it('A person who joins by two positions and leaves by one of them before the sync is in the group', async () => {
  const fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
  after(() => fixture.close())
  const source = await fixture.newSource()
  const ada = [identity('ada', { directoryObjectId: user(0) }), position('first', 'ada'), position('second', 'ada')]
  const other = [identity('other', { directoryObjectId: user(1) }), position('third', 'other')]
  await fixture.write(source, ...ada, ...other)
  await fixture.followed()
  const idOf = (type: 'identity' | 'relationship', name: string) => fixture.coreIdOf(source, type, name)
  const collectionId = await fixture.joinable([await idOf('identity', 'other')], 'Relationship')
  const groupId = await fixture.linkedGroup(collectionId)
  const { requests, sync } = fixture.coldProcess()
  // Until the link is no longer compared in full.
  for (let hour = 1; hour <= 6; hour += 1) {
    await fixture.clock.sleep(HOUR_MS)
    await fixture.followed()
    await sweepTenant(TENANT, sync)
    await fixture.drain(sync)
  }
  const identityId = await idOf('identity', 'ada')
  const submitted = async (name: string) => {
    const relationshipId = await idOf('relationship', name)
    return (await submitRequest(collectionId, { relationshipId }, { tenantId: TENANT, identityId }, requests)).value.id
  }
  const [requestId] = [await submitted('first'), await submitted('second')]
  const leaving = { tenantId: TENANT, collectionId, requestId }
  await actOnRequest(leaving, 'leave', {}, { identityId, seesAll: false }, {}, requests)
  await fixture.followed()
  assert.deepEqual([...(await fixture.membersOf(groupId))].sort(), [user(0), user(1)].sort())
})
