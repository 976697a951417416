import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Api, ApiRefusal } from '../../functions/console/api.ts'
import { readPerson } from '../../functions/console/pages/person-record.ts'

const TENANT = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const PERSON = '2a212754-5eaf-5476-901c-e31d12a49617'
const COLLECTIONS_ADMINISTRATOR = 'collection_criteria_definition-administrator'

type Role = 'Administrator' | 'User' | typeof COLLECTIONS_ADMINISTRATOR

const readerWith = (...roles: Role[]) => {
  const identityId = '5e0b1a52-93c6-4d0c-8f5e-2c1d7a94b3e6'
  const account = { kind: 'User', objectId: '01910000-0000-7000-8000-000000000001', tenantId: TENANT } as const
  return { ...account, identityId, displayName: null, roles, timeZone: 'UTC' }
}

/** The API of a reader who finds people by their names. @param core what it returns for the core object. */
function apiWith(core: () => object): Api {
  const send = async (method: string) => {
    if (method === 'GET') return { data: core() }
    return { data: { preview: [{ objectId: PERSON, displayName: 'Emil Øvrebø' }] } }
  }
  return { send, all: async () => [] } as unknown as Api
}

const visible = apiWith(() => ({ id: PERSON, externalId: 'hr-1', displayName: 'Emil Øvrebø' }))
const hidden = apiWith(() => {
  throw new ApiRefusal(404, [{ code: 'CoreObjectNotFound', message: '' }])
})

const read = (api: Api, ...roles: Role[]) => readPerson(PERSON, readerWith(...roles), api, new AbortController().signal)

describe('The page of a person', () => {
  for (const [claim, api, roles, hasCore] of [
    ['has the core object for an administrator of core data', visible, ['Administrator'], true],
    ['has the core object for a leader', visible, ['User'], true],
    [
      'has it for an administrator of collections who leads the person',
      visible,
      [COLLECTIONS_ADMINISTRATOR, 'User'],
      true,
    ],
    ['has the name for one who does not lead the person', hidden, [COLLECTIONS_ADMINISTRATOR, 'User'], false],
    ['has the name for an administrator of collections only', visible, [COLLECTIONS_ADMINISTRATOR], false],
  ] satisfies readonly (readonly [string, Api, readonly Role[], boolean])[]) {
    it(claim, async () => {
      const { name, core } = await read(api, ...roles)
      assert.deepEqual([name, core !== undefined], ['Emil Øvrebø', hasCore])
    })
  }

  it('is refused to a leader of other people', () => assert.rejects(read(hidden, 'User'), { status: 404 }))
})
