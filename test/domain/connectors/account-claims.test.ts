import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assignAccounts } from '../../../shared/domain/connectors/account-claims.ts'
import type { MergedCoreObject } from '../../../shared/domain/connectors/merged-core-object.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000001'
const [OLDER, YOUNGER] = ['10000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000002']

const holding = (id: string, accountSinceMs: number): MergedCoreObject => ({
  id,
  objectType: 'identity',
  externalId: id,
  deleted: false,
  attributes: { directoryObjectId: ACCOUNT },
  contributors: [id],
  accountSinceMs,
})
const merged = (before: MergedCoreObject) => ({ before, after: before })
const claimOf = ({ id: identityId, accountSinceMs: sinceMs = 0 }: MergedCoreObject) => {
  return { identityId, directoryObjectId: ACCOUNT, sinceMs, isHolder: true }
}

describe('An account that two identities hold after a race', () => {
  const [older, younger] = [holding(OLDER, NOW_MS - 2), holding(YOUNGER, NOW_MS - 1)]
  const claims = [claimOf(older), claimOf(younger)]

  for (const order of [
    [older, younger],
    [younger, older],
  ]) {
    it(`is left to the one that claimed it first, when ${order[0] === older ? 'that' : 'the other'} is merged first`, () => {
      const after = assignAccounts(order.map(merged), claims, NOW_MS)
      const holders = after.filter(({ claimedAccount }) => claimedAccount === undefined)
      assert.deepEqual(
        holders.map(({ id }) => id),
        [OLDER],
      )
    })
  }
})

describe('An account that its holder releases', () => {
  for (const place of ['after', 'before']) {
    it(`is assigned in the same merge to another identity, which is merged ${place} the holder`, () => {
      const [older, younger] = [holding(OLDER, NOW_MS - 2), holding(YOUNGER, NOW_MS)]
      const releasing = { before: older, after: { ...older, attributes: {} } }
      const taking = { before: { ...younger, attributes: {} }, after: younger }
      const changes = place === 'after' ? [releasing, taking] : [taking, releasing]
      const after = assignAccounts(changes, [claimOf(older)], NOW_MS)
      const taken = after.find(({ id }) => id === YOUNGER)
      assert.deepEqual([taken?.attributes, taken?.claimedAccount], [{ directoryObjectId: ACCOUNT }, undefined])
    })
  }
})
