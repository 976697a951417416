import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Deputy, type DeputyStore, renameDeputies } from '../../../shared/domain/membership-requests/deputies.ts'

const deputy = (identityId: string, deputyId: string): Deputy => ({
  tenantId: 'tenant',
  identityId,
  deputyId,
  fromMs: 0,
  untilMs: 1,
})

/** The deputies after the merge, as `identity: deputy`. */
async function afterMerge(all: readonly Deputy[], merged: Readonly<Record<string, string>>): Promise<string[]> {
  const stored = new Map(all.map((value) => [value.identityId, value]))
  const deputies: DeputyStore = {
    find: async (_, id) => {
      const value = stored.get(id)
      return value && { value, version: '1' }
    },
    ofDeputy: () => assert.fail(),
    all: () => assert.fail(),
    save: async (value) => void stored.set(value.identityId, value),
    remove: async (_, id) => void stored.delete(id),
  }
  const versioned = all.map((value) => ({ value, version: '1' }))
  await renameDeputies(versioned, new Map(Object.entries(merged)), { deputies })
  return [...stored.values()].map(({ identityId, deputyId }) => `${identityId}: ${deputyId}`)
}

describe('The deputies of people who are merged', () => {
  const representing = [deputy('ann', 'eve'), deputy('bo', 'ann')]
  for (const [order, all] of [
    ['as stored', representing],
    ['the other way round', representing.toReversed()],
  ] as const) {
    it(`pass to the one who had the other as deputy, ${order}`, async () => {
      assert.deepEqual(await afterMerge(all, { ann: 'bo' }), ['bo: eve'])
    })

    it(`do not replace the deputy of the one who remains, ${order}`, async () => {
      const both = all.map((each) => (each.identityId === 'bo' ? deputy('bo', 'fay') : each))
      assert.deepEqual(await afterMerge(both, { ann: 'bo' }), ['bo: fay'])
    })
  }
})
