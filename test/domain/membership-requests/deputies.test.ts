import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Deputy,
  type DeputyStore,
  renameDeputies,
  representedBy,
} from '../../../shared/domain/membership-requests/deputies.ts'
import type { OrgChart } from '../../../shared/domain/tenant-index/rows/org-chart.ts'

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

describe('A deputy', () => {
  it('decides from the beginning of the time until before its end, for those who exist', async () => {
    const [fromMs, untilMs] = ['2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'].map((at) => Date.parse(at)) as [
      number,
      number,
    ]
    const stored = ['bo', 'ann', 'gone'].map((id) => ({
      value: { ...deputy(id, 'eve'), fromMs, untilMs },
      version: '1',
    }))
    const orgChart = { has: (_type: string, id: string) => id !== 'gone' } as unknown as OrgChart
    const representedAt = (nowMs: number) =>
      representedBy('eve', 'tenant', orgChart, { deputies: { ofDeputy: async () => stored }, nowMs: () => nowMs })
    for (const nowMs of [fromMs - 1, untilMs]) assert.deepEqual(await representedAt(nowMs), [], `${nowMs}`)
    for (const nowMs of [fromMs, untilMs - 1]) assert.deepEqual(await representedAt(nowMs), ['ann', 'bo'], `${nowMs}`)
  })
})
