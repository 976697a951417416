import type { ObjectType } from '../core/core-object.ts'
import type { Column } from '../tenant-index/column.ts'
import type { ColumnValues } from '../tenant-index/column-values.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { CheckedCondition, CheckedGroup, CheckedLeaf, CheckedNode, GroupOperator, Operator } from './condition.ts'
import { readsToday } from './condition.ts'
import { derivedTextsOf } from './derived-texts.ts'
import { isNegative, LeafVerdicts, leafTest } from './leaf-test.ts'
import { schemaSource } from './schema.ts'

/** The order of the three objects in a row. */
export const ROW_PLACE = { identity: 0, orgUnit: 1, relationship: 2 } as const satisfies Record<ObjectType, number>

/** A node tied to the columns it reads. `reads` is the one object of the row that decides it, if it is only one. */
export type BoundNode = BoundLeaf | BoundToday | BoundMembership | BoundGroup
export type BoundLeaf = {
  readonly kind: 'leaf'
  readonly reads: ObjectType
  readonly place: number
  readonly column: Column
  readonly verdicts: LeafVerdicts
  readonly negative: boolean
}
type BoundToday = { readonly kind: 'today'; readonly reads: undefined; readonly leaf: CheckedLeaf }
export type BoundMembership = {
  readonly kind: 'membership'
  readonly reads: undefined
  readonly collectionIds: readonly string[]
  readonly negative: boolean
}
export type BoundGroup = {
  readonly kind: 'group'
  /** Leaves in it, at any depth. */
  readonly leafCount: number
  readonly reads: ObjectType | undefined
  readonly operator: GroupOperator
  readonly children: readonly BoundNode[]
}

/** A condition made ready to be evaluated again and again. What it decides about values lives as long as it and they. */
export class CompiledCondition {
  readonly #root: CheckedNode
  /** Weakly: a compiled condition that is kept must not keep a snapshot that nobody uses any more. */
  readonly #bound = new WeakMap<RowSnapshot, BoundNode>()
  /** By values rather than by snapshot: the forks of a snapshot have them in common. */
  readonly #verdicts = new WeakMap<ColumnValues, Map<CheckedLeaf, LeafVerdicts>>()

  /** @param root equal leaves are one and the same object, to be decided once. */
  constructor(root: CheckedNode) {
    this.#root = root
  }

  /** The tree over this snapshot's columns. */
  boundTo(snapshot: RowSnapshot): BoundNode {
    const known = this.#bound.get(snapshot)
    if (known !== undefined) return known
    const bound = this.#bind(this.#root, snapshot)
    this.#bound.set(snapshot, bound)
    return bound
  }

  #bind(node: CheckedNode, snapshot: RowSnapshot): BoundNode {
    if (node.kind === 'leaf') return this.#bindLeaf(node, snapshot)
    const children = node.children.map((child) => this.#bind(child, snapshot))
    const leafCount = children.reduce((sum, child) => sum + (child.kind === 'group' ? child.leafCount : 1), 0)
    return { kind: 'group', reads: objectRead(node), operator: node.operator, leafCount, children }
  }

  #bindLeaf(leaf: CheckedLeaf, snapshot: RowSnapshot): BoundNode {
    if (readsToday(leaf)) return { kind: 'today', reads: undefined, leaf }
    const source = schemaSource(leaf.name)
    if (source === undefined) throw new Error(`${leaf.name} is not an attribute that rows have`)
    const negative = isNegative(leaf)
    if (source.kind === 'collections') {
      return { kind: 'membership', reads: undefined, collectionIds: leaf.values.map(String), negative }
    }
    const { objectType, attribute } = source
    const column = snapshot.tables[objectType].column(attribute)
    const verdicts = this.#verdictsOf(leaf, column.values, snapshot)
    return { kind: 'leaf', reads: objectType, place: ROW_PLACE[objectType], column, verdicts, negative }
  }

  #verdictsOf(leaf: CheckedLeaf, values: ColumnValues, { family }: RowSnapshot): LeafVerdicts {
    const decided = this.#verdicts.get(values) ?? new Map<CheckedLeaf, LeafVerdicts>()
    this.#verdicts.set(values, decided)
    const verdicts = decided.get(leaf) ?? new LeafVerdicts(leafTest(leaf, values, derivedTextsOf(family)), values)
    decided.set(leaf, verdicts)
    return verdicts
  }
}

/** Puts cheap children first, and together what one object of the row decides: it is then decided once per object, not per row. */
export function compile(condition: CheckedCondition): CompiledCondition {
  return new CompiledCondition(arranged(withEqualLeavesShared(condition.root, new Map())))
}

function withEqualLeavesShared(node: CheckedNode, leaves: Map<string, CheckedLeaf>): CheckedNode {
  if (node.kind === 'group') {
    return { ...node, children: node.children.map((child) => withEqualLeavesShared(child, leaves)) }
  }
  const { name, functions, operator, values } = node
  const key = JSON.stringify([name, functions, operator, values])
  const shared = leaves.get(key) ?? node
  leaves.set(key, shared)
  return shared
}

function arranged(node: CheckedNode): CheckedNode {
  if (node.kind === 'leaf') return node
  const children = node.children.map(arranged)
  const costs = new Map(children.map((child) => [child, cost(child)]))
  const costOf = (child: CheckedNode): number => costs.get(child) ?? cost(child)
  const byCost = (left: CheckedNode, right: CheckedNode): number => costOf(left) - costOf(right)
  if (node.operator === 'XOR' || objectRead(node) !== undefined) return { ...node, children: children.sort(byCost) }
  const rest = children.filter((child) => objectRead(child) !== 'identity' && objectRead(child) !== 'orgUnit')
  // NOT holds where no child does, so the children of a part are joined as in OR.
  const operator = node.operator === 'AND' ? 'AND' : 'OR'
  for (const objectType of ['identity', 'orgUnit']) {
    const part = children.filter((child) => objectRead(child) === objectType).sort(byCost)
    rest.push(...(part.length > 1 ? [{ kind: 'group', operator, children: part } satisfies CheckedGroup] : part))
  }
  return { ...node, children: rest.sort(byCost) }
}

/** Roughly what deciding costs per value, so that the dear leaves are asked about what the cheap ones left over. */
function cost(node: CheckedNode): number {
  if (node.kind === 'group') return node.children.reduce((sum, child) => sum + cost(child), 1)
  const reach = objectRead(node) === 'relationship' ? 1 : 2
  if (node.functions.length > 0) return reach + 12
  return CHEAP_OPERATORS.has(node.operator) ? reach : reach + 4
}

/** Those whose values are looked up rather than compared with every value there is. */
const CHEAP_OPERATORS: ReadonlySet<Operator> = new Set(['Equals', 'NotEquals', 'In', 'IsNull'])

/** The one object of the row that decides a node; undefined when it takes several, or none. */
function objectRead(node: CheckedNode): ObjectType | undefined {
  if (node.kind === 'group') {
    const [first, ...others] = node.children.map(objectRead)
    return others.every((other) => other === first) ? first : undefined
  }
  const source = readsToday(node) ? undefined : schemaSource(node.name)
  return source?.kind === 'attribute' ? source.objectType : undefined
}
