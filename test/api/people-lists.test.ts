import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  COLLECTIONS,
  codes,
  criteriaTenant,
  startCriteriaService,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()
const PEOPLE = `${COLLECTIONS}/people`

describe('People by id or account', () => {
  it('have title and unit of their primary position, and their account', async () => {
    const tenant = criteriaTenant(service)
    const account = '0f0f0f0f-0000-4000-8000-000000000001'
    const unit = await tenant.put('orgUnit', { displayName: 'Ward 3' })
    const ann = await tenant.person('Ann', {
      directoryObjectId: account,
      directoryUserPrincipalName: 'ann@example.com',
    })
    await tenant.position(ann, undefined, { title: 'Porter' })
    const primary = await tenant.position(ann, unit, { title: 'Nurse' })
    const data = { displayName: 'Ann', directoryObjectId: account, directoryUserPrincipalName: 'ann@example.com' }
    await tenant.put('identity', { ...data, primaryRelationship: { objectId: primary } }, ann)
    const expected = {
      identityId: ann,
      displayName: 'Ann',
      title: 'Nurse',
      orgUnitName: 'Ward 3',
      directoryObjectId: account,
      directoryUserPrincipalName: 'ann@example.com',
    }
    for (const body of [{ identityIds: [ann] }, { accounts: [account] }, { identityIds: [ann], accounts: [account] }]) {
      assert.deepEqual((await tenant.send('POST', PEOPLE, body)).body.data, [expected])
    }
  })

  it('have title and unit of another position when the primary one is deleted', async () => {
    const tenant = criteriaTenant(service)
    const unit = await tenant.put('orgUnit', { displayName: 'Ward 3' })
    const ann = await tenant.person('Ann')
    await tenant.position(ann, unit, { title: 'Porter' })
    const primary = await tenant.position(ann, undefined, { title: 'Nurse' })
    await tenant.put('identity', { displayName: 'Ann', primaryRelationship: { objectId: primary } }, ann)
    const shown = async () => {
      const { title, orgUnitName } = (await tenant.send('POST', PEOPLE, { identityIds: [ann] })).body.data[0]
      return [title, orgUnitName]
    }
    assert.deepEqual(await shown(), ['Nurse', null])
    await tenant.put('relationship', {}, primary, true)
    assert.deepEqual(await shown(), ['Porter', 'Ward 3'])
  })

  it('are in the order of the request, without unknown, deleted and foreign ones', async () => {
    const tenant = criteriaTenant(service)
    const [ann, ben, gone] = [
      await tenant.person('Ann', {}),
      await tenant.person('Ben', {}),
      await tenant.person('Cy', {}),
    ]
    await tenant.put('identity', {}, gone, true)
    const foreign = await criteriaTenant(service).person('Dora', {})
    const identityIds = [ben, UNKNOWN_ID, gone, ann, foreign, ben]
    const { data } = (await tenant.send('POST', PEOPLE, { identityIds })).body
    assert.deepEqual(
      data.map(({ displayName, title, directoryObjectId }: Record<string, unknown>) => [
        displayName,
        title,
        directoryObjectId,
      ]),
      [
        ['Ben', null, null],
        ['Ann', null, null],
      ],
    )
    assert.deepEqual((await tenant.send('POST', PEOPLE, { accounts: [UNKNOWN_ID] })).body.data, [])
  })

  it('are at most 1,000 of a request', async () => {
    const tenant = criteriaTenant(service)
    const identityIds = Array.from({ length: 1001 }, () => UNKNOWN_ID)
    assert.deepEqual(codes(await tenant.send('POST', PEOPLE, { identityIds })), [400, 'InvalidLength'])
  })
})
