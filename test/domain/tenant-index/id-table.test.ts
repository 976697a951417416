import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { emptyBitmap, setBit } from '../../../shared/domain/tenant-index/rows/bitmap.ts'
import { IdTable } from '../../../shared/domain/tenant-index/rows/id-table.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'

const guid = fc.uuid({ version: [1, 4, 7] })
/** What only looks like one, or is nothing like it: must not be taken for a GUID, or for each other. */
const strange = fc.constantFrom(
  'kari',
  '',
  '00000000-0000-4000-8000-00000000000',
  '00000000-0000-4000-8000-00000000000g',
  '00000000_0000-4000-8000-000000000000',
  '00000000-0000-4000-8000-00000000000é',
  '000000000000-4000-8000-0000000000000',
)
const counted = fc.nat(40).map((number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`)

function setOf(table: IdTable, slots: readonly number[]) {
  const set = emptyBitmap(table.size)
  for (const slot of slots) setBit(set, slot)
  return set
}

function idsOf(table: IdTable, slots: readonly number[]): string[] {
  return runToCompletion(table.idsIn(setOf(table, slots)))
}

describe('An id table', () => {
  it('returns the ids of a set page by page, from any id on', () => {
    const ids = fc.uniqueArray(fc.oneof(counted, guid), { maxLength: 40 })
    const property = fc.property(
      ids,
      fc.nat(2),
      counted,
      fc.integer({ min: 1, max: 10 }),
      (all, share, other, size) => {
        const table = new IdTable()
        const slots = new Map(all.map((id) => [id, table.intern(id)]))
        const some = all.filter((_, index) => index % (share + 1) === 0).sort()
        const set = setOf(
          table,
          some.map((id) => slots.get(id) as number),
        )
        assert.deepEqual(table.idsAfter(set, undefined, size), some.slice(0, size))
        for (const after of [...all, other]) {
          const expected = some.filter((id) => id > after).slice(0, size)
          assert.deepEqual(table.idsAfter(set, after, size), expected)
        }
      },
    )
    fc.assert(property)
  })

  for (const [claim, id] of [
    ['GUIDs', fc.oneof(guid, counted)],
    ['GUIDs and other texts', fc.oneof(guid, counted, strange)],
  ] as const) {
    it(`gives each of many ${claim} a permanent slot, ignoring case, and returns sets of them in order`, () => {
      const arrivals = fc.array(fc.array(id, { maxLength: 60 }), { minLength: 1, maxLength: 4 })
      const property = fc.property(arrivals, fc.nat(7), (batches, share) => {
        const table = new IdTable()
        const slots = new Map<string, number>()
        for (const batch of batches) {
          for (const one of batch) {
            const slot = table.intern(one.toUpperCase())
            assert.equal(slots.get(one) ?? slot, slot)
            slots.set(one, slot)
          }
          const all = [...slots.keys()]
          assert.equal(table.size, all.length + 1)
          for (const one of all) {
            assert.equal(table.codeOf(one), slots.get(one))
            assert.equal(table.idOf(slots.get(one) as number), one)
          }
          for (const some of [all, all.filter((_, index) => index % (share + 1) === 0), all.slice(0, 1)]) {
            assert.deepEqual(
              idsOf(
                table,
                some.map((one) => slots.get(one) as number),
              ),
              some.toSorted(),
            )
          }
        }
        assert.equal(table.codeOf('ffffffff-ffff-4fff-8fff-ffffffffffff'), 0)
      })
      fc.assert(property, { numRuns: 300 })
    })
  }
})
