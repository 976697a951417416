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
const untitled = leaf('relationshipTitle', 'NotEquals', 'Title 3')

/** Positions with ten titles and two types. */
const snapshot = new RowSnapshot()
snapshot.apply(
  Array.from({ length: 40 }, (_, index): SnapshotObject => {
    const id = `cccccccc-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`
    const attributes = { title: `Title ${index % 10}`, type: `Type ${index % 2}` }
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
})
