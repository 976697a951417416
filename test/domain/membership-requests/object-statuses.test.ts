import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DeletedCoreObject } from '../../../shared/domain/core/core-object-store.ts'
import { readObjectStatuses } from '../../../shared/domain/membership-requests/object-statuses.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

const EXPIRES_AT_MS = Date.parse('2030-06-01T00:00:00Z')
const EARLIER_MS = Date.parse('2030-05-01T00:00:00Z')

/** A core object as it stands in the database: live, deleted, merged into another, or not there. */
type State = 'live' | 'deleted' | 'expired' | { readonly mergedInto: string; readonly expiresAtMs?: number }
type States = Readonly<Record<string, State>>

/** Reads of core objects that change from one read to the next; the last state stays. */
function reading(states: readonly States[], ids: readonly string[]) {
  let readCount = 0
  const next = (): States => {
    readCount += 1
    return states[Math.min(readCount, states.length) - 1] as States
  }
  const snapshots = {
    async fresh() {
      const rows = new RowSnapshot()
      const live = Object.entries(next()).filter(([, state]) => state === 'live')
      rows.apply(
        live.map(([id]) => ({ id, objectType: 'identity', externalId: id, attributes: {}, deleted: false }) as const),
      )
      return rows
    },
  }
  const deletedObjects = {
    async ofIds(_tenantId: string, wanted: readonly string[]) {
      const now = next()
      return wanted.flatMap((id): DeletedCoreObject[] => {
        const state = now[id]
        if (state === undefined || state === 'live' || state === 'expired') return []
        const object = {
          id,
          objectType: 'identity',
          externalId: id,
          attributes: {},
          lastUpdatedS: 0,
          contributors: [],
          deleted: true,
        } as const
        return [{ ...object, expiresAtMs: EXPIRES_AT_MS, ...(state === 'deleted' ? {} : state) }]
      })
    },
  }
  const deps = { snapshots, deletedObjects, nowMs: () => 0 } as unknown as Parameters<typeof readObjectStatuses>[2]
  return readObjectStatuses('tenant', ids, deps)
}

describe('What became of an identity', () => {
  for (const [claim, states, expected] of [
    ['is itself while it is live', [{ kari: 'live' }], { id: 'kari', isLive: true }],
    [
      'is deleted, and comes back until a time',
      [{ kari: 'deleted' }],
      { id: 'kari', isLive: false, restorableUntilMs: EXPIRES_AT_MS },
    ],
    ['is gone when it has expired', [{}], { id: 'kari', isLive: false, restorableUntilMs: undefined }],
    [
      'is the one that it was merged into, over several merges, until the first of these is forgotten',
      [{ kari: { mergedInto: 'ola' }, ola: { mergedInto: 'per', expiresAtMs: EARLIER_MS }, per: 'live' }],
      { id: 'per', isLive: true, mergedUntilMs: EARLIER_MS },
    ],
    [
      'is the deleted one that it was merged into',
      [{ kari: { mergedInto: 'ola', expiresAtMs: EARLIER_MS }, ola: 'deleted' }],
      { id: 'ola', isLive: false, restorableUntilMs: EXPIRES_AT_MS, mergedUntilMs: EARLIER_MS },
    ],
    [
      'is itself when it is restored between the reads',
      [{ kari: 'deleted' }, { kari: 'live' }],
      { id: 'kari', isLive: true },
    ],
    [
      'is deleted, not gone, when it is restored between the reads and deleted again',
      [{ kari: 'deleted' }, { kari: 'live' }, { kari: 'deleted' }],
      { id: 'kari', isLive: false, restorableUntilMs: EXPIRES_AT_MS },
    ],
  ] as const satisfies readonly (readonly [string, readonly States[], object])[]) {
    it(claim, async () => {
      const statuses = await reading(states, ['kari'])
      assert.deepEqual(statuses.identity('kari'), expected)
    })
  }

  it('is deleted, not gone, when it is deleted while an expired one is looked for', async () => {
    const states: readonly States[] = [{ kari: 'live' }, { kari: 'live' }, { kari: 'deleted' }]
    const statuses = await reading(states, ['kari', 'expired'])
    assert.deepEqual(statuses.identity('kari'), { id: 'kari', isLive: false, restorableUntilMs: EXPIRES_AT_MS })
    assert.equal(statuses.identity('expired').isLive, false)
  })
})
