import type { ObjectType } from '../core/core-object.ts'
import type { Column } from '../tenant-index/rows/column.ts'
import type { ColumnValues } from '../tenant-index/rows/column-values.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { CheckedCondition, CheckedGroup, CheckedLeaf, CheckedNode, GroupOperator, Operator } from './condition.ts'
import { readsToday } from './condition.ts'
import { derivedTextsOf } from './derived-texts.ts'
import { isNegative, LeafVerdicts, leafTest } from './leaf-test.ts'
import { schemaSource } from './schema.ts'

/** The order of the three objects in a row. */
export const ROW_PLACE = { identity: 0, orgUnit: 1, relationship: 2 } as const satisfies Record<ObjectType, number>

/**
 * A node bound to the columns that it reads. `reads` is the object of the row that it depends on, if it is only one.
 */
export type BoundNode = BoundLeaf | BoundToday | BoundMembership | BoundGroup
export type BoundLeaf = {
  readonly kind: 'leaf'
  readonly reads: ObjectType
  readonly place: number
  readonly column: Column
  readonly verdicts: LeafVerdicts
  readonly negative: boolean
  readonly leaf: CheckedLeaf
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
  /** Leaves at any depth. */
  readonly leafCount: number
  /** Whether any leaf tests the members of collections. */
  readonly readsMembers: boolean
  readonly reads: ObjectType | undefined
  readonly operator: GroupOperator
  readonly children: readonly BoundNode[]
}

/** A condition prepared for repeated evaluation. It caches results about distinct values for as long as these exist. */
export class CompiledCondition {
  readonly #root: CheckedNode
  /** Weak: a cached condition must not keep an evicted snapshot in memory. */
  #bound = new WeakMap<RowSnapshot, BoundNode>()
  /** By values, which the forks of a snapshot share. */
  #verdicts = new WeakMap<ColumnValues, Map<CheckedLeaf, LeafVerdicts>>()

  /** @param root Equal leaves must be the same object, so that they are evaluated once. */
  constructor(root: CheckedNode) {
    this.#root = root
  }

  /** The condition bound to the columns of a snapshot. */
  boundTo(snapshot: RowSnapshot): BoundNode {
    const known = this.#bound.get(snapshot)
    if (known !== undefined) return known
    const bound = this.#bind(this.#root, snapshot)
    this.#bound.set(snapshot, bound)
    return bound
  }

  /** The memory of the cached results on a snapshot. */
  sizeBytes(snapshot: RowSnapshot): number {
    const bound = this.#bound.get(snapshot)
    return bound === undefined ? 0 : verdictBytes(bound)
  }

  /** Drops the cached results. */
  release(): void {
    this.#bound = new WeakMap()
    this.#verdicts = new WeakMap()
  }

  #bind(node: CheckedNode, snapshot: RowSnapshot): BoundNode {
    if (node.kind === 'leaf') return this.#bindLeaf(node, snapshot)
    const children = node.children.map((child) => this.#bind(child, snapshot))
    const leafCount = children.reduce((sum, child) => sum + (child.kind === 'group' ? child.leafCount : 1), 0)
    const isOfMembers = (child: BoundNode) =>
      child.kind === 'group' ? child.readsMembers : child.kind === 'membership'
    const readsMembers = children.some(isOfMembers)
    return { kind: 'group', reads: commonObject(children), operator: node.operator, leafCount, readsMembers, children }
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
    return { kind: 'leaf', reads: objectType, place: ROW_PLACE[objectType], column, verdicts, negative, leaf }
  }

  #verdictsOf(leaf: CheckedLeaf, values: ColumnValues, { family }: RowSnapshot): LeafVerdicts {
    const decided = this.#verdicts.get(values) ?? new Map<CheckedLeaf, LeafVerdicts>()
    this.#verdicts.set(values, decided)
    const verdicts = decided.get(leaf) ?? new LeafVerdicts(leafTest(leaf, values, derivedTextsOf(family)), values)
    decided.set(leaf, verdicts)
    return verdicts
  }
}

function verdictBytes(node: BoundNode): number {
  if (node.kind === 'group') return node.children.reduce((sum, child) => sum + verdictBytes(child), 0)
  return node.kind === 'leaf' ? node.verdicts.sizeBytes : 0
}

/** The leaves of conditions by what they test. */
export type KnownLeaves = Map<string, CheckedLeaf>

/**
 * Compiles a condition. It orders children by cost and groups those that depend on one object of the row, which are
 * then evaluated once per object instead of once per row.
 * @param leaves Of other conditions with which this one can share results: equal leaves become the same object.
 */
export function compile(condition: CheckedCondition, leaves: KnownLeaves = new Map()): CompiledCondition {
  return new CompiledCondition(arranged(withEqualLeavesShared(condition.root, leaves)).node)
}

/** Compiles a condition so that its nodes stay where they stand in the tree, for an explanation. */
export function compileAsWritten(condition: CheckedCondition): CompiledCondition {
  return new CompiledCondition(condition.root)
}

function withEqualLeavesShared(node: CheckedNode, leaves: KnownLeaves): CheckedNode {
  if (node.kind === 'group') {
    return { ...node, children: node.children.map((child) => withEqualLeavesShared(child, leaves)) }
  }
  const { name, functions, operator, values } = node
  const key = JSON.stringify([name, functions, operator, values])
  const shared = leaves.get(key) ?? node
  leaves.set(key, shared)
  return shared
}

/** A node in the order of its evaluation. */
type Arranged = {
  readonly node: CheckedNode
  /** The approximate cost per value. Expensive nodes are evaluated last, on the rows that are still undecided. */
  readonly cost: number
  /** The only object of the row that the node depends on; undefined for several or none. */
  readonly reads: ObjectType | undefined
}

function arranged(node: CheckedNode): Arranged {
  if (node.kind === 'leaf') return arrangedLeaf(node)
  const children = node.children.map(arranged)
  if (node.operator === 'XOR' || commonObject(children) !== undefined) return groupOf(node.operator, children)
  const rest = children.filter(({ reads }) => reads !== 'identity' && reads !== 'orgUnit')
  // NOT is true when no child is, so a group of its children is an OR.
  const operator = node.operator === 'AND' ? 'AND' : 'OR'
  for (const objectType of ['identity', 'orgUnit']) {
    const part = children.filter(({ reads }) => reads === objectType)
    rest.push(...(part.length > 1 ? [groupOf(operator, part)] : part))
  }
  return groupOf(node.operator, rest)
}

function groupOf(operator: CheckedGroup['operator'], children: readonly Arranged[]): Arranged {
  const byCost = children.toSorted((left, right) => left.cost - right.cost)
  return {
    node: { kind: 'group', operator, children: byCost.map(({ node }) => node) },
    cost: children.reduce((sum, { cost }) => sum + cost, 1),
    reads: commonObject(children),
  }
}

function arrangedLeaf(node: CheckedLeaf): Arranged {
  const source = readsToday(node) ? undefined : schemaSource(node.name)
  const reads = source?.kind === 'attribute' ? source.objectType : undefined
  const reach = reads === 'relationship' ? 1 : 2
  if (node.functions.length > 0) return { node, cost: reach + 12, reads }
  return { node, cost: CHEAP_OPERATORS.has(node.operator) ? reach : reach + 4, reads }
}

/** Operators whose values are looked up instead of compared with every distinct value. */
const CHEAP_OPERATORS: ReadonlySet<Operator> = new Set(['Equals', 'NotEquals', 'In', 'IsNull'])

function commonObject([first, ...others]: readonly Pick<Arranged, 'reads'>[]): ObjectType | undefined {
  return others.every(({ reads }) => reads === first?.reads) ? first?.reads : undefined
}
