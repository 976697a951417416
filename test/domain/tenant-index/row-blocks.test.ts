import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { RowBlockReader, rowBlocks } from '../../../shared/domain/tenant-index/saved/row-blocks.ts'
import { savedOrders } from '../../../shared/domain/tenant-index/saved/saved-order.ts'
import { UnusableRows } from '../../../shared/domain/tenant-index/saved/saved-rows.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { normalisedText } from '../../../shared/kernel/normalised-text.ts'
import { contentOf } from '../../support/contract/saved-objects.ts'

const guidOf = (kind: number, index: number) => `${kind}a000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const IDENTITY = 1
const ORG_UNIT = 2
const RELATIONSHIP = 3

const ODD_TEXTS = ['', '\n', '0', 'null', '\ud800', 'Å "quoted" \\', '00000000-0000-0000-0000-000000000000']
const guid = fc.nat(9).map((index) => guidOf(7, index))
/** Rows hold normalised texts only. */
const text = fc
  .oneof(
    fc.string(),
    fc.constantFrom(...ODD_TEXTS),
    guid,
    guid.map((one) => one.toUpperCase()),
  )
  .map(normalisedText)
const referenceTo = (kind: number) => fc.nat(30).map((index) => ({ objectId: guidOf(kind, index) }))
const list = <T>(element: fc.Arbitrary<T>, keyOf: (one: T) => string) =>
  fc.uniqueArray(element, { minLength: 1, maxLength: 4, selector: keyOf })
const some = <T extends object>(attributes: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(attributes, { requiredKeys: [] })

const objectsOf = (objectType: SnapshotObject['objectType'], kind: number, attributes: fc.Arbitrary<object>) =>
  fc.uniqueArray(
    fc.record({
      id: fc.oneof(
        { weight: 20, arbitrary: fc.nat(30).map((index) => guidOf(kind, index)) },
        fc.constant(`odd ${kind}`),
      ),
      objectType: fc.constant(objectType),
      externalId: text,
      attributes,
      deleted: fc.constant(false),
    }),
    { maxLength: 25, selector: ({ id }) => id },
  ) as fc.Arbitrary<SnapshotObject[]>

const objects = fc
  .tuple(
    objectsOf(
      'identity',
      IDENTITY,
      some({
        displayName: text,
        'custom/a': text,
        'custom/id': guid,
        directoryObjectId: guid,
        directoryOnPremisesSyncEnabled: fc.boolean(),
        primaryRelationship: referenceTo(RELATIONSHIP),
        assignedLicenses: list(guid, (one) => one),
      }),
    ),
    objectsOf(
      'orgUnit',
      ORG_UNIT,
      some({ parent: referenceTo(ORG_UNIT), deputies: list(referenceTo(IDENTITY), ({ objectId }) => objectId) }),
    ),
    objectsOf(
      'relationship',
      RELATIONSHIP,
      some({
        title: text,
        startDate: fc.constantFrom('2026-01-02', '2026-03-04T05:06:07Z'),
        identity: referenceTo(IDENTITY),
        orgUnit: referenceTo(ORG_UNIT),
      }),
    ),
  )
  .map((byType) => byType.flat())

const readBack = (blocks: Iterable<string>): SnapshotObject[] => {
  const reader = new RowBlockReader()
  return [...blocks].flatMap((block) => runToCompletion(reader.objectsIn(block)))
}

const blocksOf = (rows: RowSnapshot): string[] =>
  [...rowBlocks(rows, runToCompletion(savedOrders(rows)))].map((block) => runToCompletion(block))

describe('The blocks of rows', () => {
  it('contain the live objects, and rows that are read from them the same ones', () => {
    const property = fc.property(objects, fc.array(fc.nat(), { maxLength: 10 }), (all, removed) => {
      const gone = new Set(removed.map((index) => all[index % Math.max(1, all.length)]?.id))
      const rows = new RowSnapshot()
      rows.apply(all)
      rows.apply(all.filter(({ id }) => gone.has(id)).map((object) => ({ ...object, deleted: true })))
      const live = contentOf(all.filter(({ id }) => !gone.has(id)))
      const read = readBack(blocksOf(rows))
      assert.deepEqual(contentOf(read), live)
      const again = new RowSnapshot()
      again.apply(read)
      assert.equal(again.rowCount, rows.rowCount)
      assert.deepEqual(contentOf(readBack(blocksOf(again))), live)
    })
    fc.assert(property, { numRuns: 150 })
  })

  it('are those of the fork from which they are written', () => {
    const rows = new RowSnapshot()
    const person = {
      id: guidOf(1, 1),
      objectType: 'identity',
      externalId: 'p',
      attributes: {},
      deleted: false,
    } as const
    rows.apply([person])
    rows.forked().apply([{ ...person, id: guidOf(1, 2), attributes: { displayName: 'New' } }])
    assert.deepEqual(contentOf(readBack(blocksOf(rows))), contentOf([person]))
  })

  it('are refused when they are damaged', () => {
    const reference = { objectType: 'relationship', fromPlace: 0, count: 1, columns: { identity: [7] } }
    for (const text of ['', 'x', '{}', JSON.stringify(reference)]) {
      assert.throws(() => readBack([text]), UnusableRows, text)
    }
  })
})
