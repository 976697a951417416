import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { emptyBitmap, setBit } from '../../../shared/domain/tenant-index/rows/bitmap.ts'
import { slotsReferringTo } from '../../../shared/domain/tenant-index/rows/column.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

const idOf = (kind: string, index: number) => `${kind}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const setOf = (slotCount: number, slots: Iterable<number>) => {
  const set = emptyBitmap(slotCount)
  for (const slot of slots) if (slot < slotCount) setBit(set, slot)
  return set
}

describe('The relationships that refer to some targets', () => {
  it('are the same when they are followed from few targets, from few others, or tested one by one', () => {
    const slots = fc.uniqueArray(fc.nat(260))
    const property = fc.property(
      fc.array(fc.option(fc.nat(40)), { minLength: 100, maxLength: 250 }),
      fc.uniqueArray(fc.nat(250), { maxLength: 20 }),
      fc.uniqueArray(fc.nat(45), { maxLength: 45 }),
      slots,
      (holders, deleted, targets, masked) => {
        const snapshot = new RowSnapshot()
        const relationship = (index: number, isDeleted: boolean) => {
          const holder = holders[index] ?? null
          const attributes = holder === null ? {} : { identity: { objectId: idOf('1', holder) } }
          return {
            id: idOf('3', index),
            objectType: 'relationship',
            externalId: 'x',
            attributes,
            deleted: isDeleted,
          } as const
        }
        snapshot.apply(holders.map((_, index) => relationship(index, false)))
        snapshot.apply(deleted.map((index) => relationship(index, true)))
        const mask = setOf(snapshot.tables.relationship.slotCount, masked)
        for (const wanted of [targets, [0, ...targets], Array.from({ length: 46 }, (_, slot) => slot)]) {
          const set = setOf(snapshot.tables.identity.slotCount, wanted)
          const expected = slotsReferringTo(snapshot.link('identity'), set, false, mask)
          assert.deepEqual(snapshot.referringTo('identity', set, mask), expected)
        }
      },
    )
    fc.assert(property, { numRuns: 300 })
  })
})
