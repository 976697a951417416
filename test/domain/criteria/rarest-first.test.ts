import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type BoundGroup, type BoundNode, compile } from '../../../shared/domain/criteria/compile.ts'
import { rarestFirst } from '../../../shared/domain/criteria/rarest-first.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { checked, TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate } from '../../support/domain/criteria/evaluate-at-once.ts'

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const titled = leaf('relationshipTitle', 'StartsWith', 'Title 7')
const typed = leaf('relationshipType', 'Equals', 'Type 1')
const titledIn = (count: number) =>
  leaf(
    'relationshipTitle',
    'In',
    Array.from({ length: count }, (_, index) => `Title ${index}`),
  )
const untitled = leaf('relationshipTitle', 'NotEquals', 'Title 3')

/** Positions with ten titles, two types, and three sub-types: code 0, for none, counts as a value of its own. */
const snapshot = new RowSnapshot()
snapshot.apply(
  Array.from({ length: 40 }, (_, index): SnapshotObject => {
    const id = `cccccccc-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`
    const attributes = { title: `Title ${index % 10}`, type: `Type ${index % 2}`, subType: `Sub-type ${index % 3}` }
    return { id, objectType: 'relationship', externalId: id, attributes, deleted: false }
  }),
)

/** The leaves of an AND, before and after their values were tested, by their attributes and operators. */
function orders(...conditions: unknown[]) {
  const compiled = compile(checked({ groupOperator: 'AND', conditions }))
  const { children } = compiled.boundTo(snapshot) as BoundGroup
  const order = () => rarestFirst(children, 'relationship', TODAY_MS).map(nameOf)
  const before = order()
  for (const child of children) {
    if (child.kind === 'leaf') [...child.verdicts.holding(TODAY_MS)]
  }
  return { before, after: order(), members: evaluate(compiled, snapshot, 'Relationship', { ...NO_MEMBERS }).length }
}

const NO_MEMBERS = { todayMs: TODAY_MS, membersOf: () => undefined }

const nameOf = (node: BoundNode): string =>
  node.kind === 'leaf' ? `${node.leaf.name} ${node.leaf.operator}` : node.kind

describe('The order in which an AND is evaluated', () => {
  it('has a leaf first that is known to hold for few values, and is as compiled before', () => {
    const { before, after, members } = orders(titled, typed)
    assert.deepEqual(before, ['relationshipType Equals', 'relationshipTitle StartsWith'])
    assert.deepEqual(after, ['relationshipTitle StartsWith', 'relationshipType Equals'])
    assert.equal(members, 4)
  })

  it('has a leaf in its place whose opposite holds for few values', () => {
    const { before, after, members } = orders(typed, untitled)
    assert.deepEqual(after, before)
    assert.equal(members, 16)
  })

  const subTyped = (...values: string[]) => leaf('relationshipSubType', 'In', values)

  it('has a leaf first that holds for a quarter of the values, and one for half in its place', () => {
    const quarter = orders(titledIn(9), subTyped('Sub-type 1'))
    assert.deepEqual(quarter.before, ['relationshipTitle In', 'relationshipSubType In'])
    assert.deepEqual(quarter.after, ['relationshipSubType In', 'relationshipTitle In'])
    const half = orders(titledIn(9), subTyped('Sub-type 1', 'Sub-type 2'))
    assert.deepEqual(half.after, half.before)
  })

  it('has the one of two leaves first that holds for fewer values', () => {
    const { before, after } = orders(subTyped('Sub-type 1'), titledIn(1))
    assert.deepEqual(before, ['relationshipSubType In', 'relationshipTitle In'])
    assert.deepEqual(after, ['relationshipTitle In', 'relationshipSubType In'])
  })
})
