import type { ObjectType } from '../core/core-object.ts'
import {
  type CheckedGroup,
  type CheckedLeaf,
  type CheckedNode,
  namesRead,
  type Operator,
  readsToday,
} from './condition.ts'
import { schemaSource } from './schema.ts'

/** The leaves of conditions by what they test. */
export type KnownLeaves = Map<string, CheckedLeaf>

/** The condition with the known leaf in the place of each equal one. Adds its other leaves to the known ones. */
export function withEqualLeavesShared(node: CheckedNode, leaves: KnownLeaves): CheckedNode {
  if (node.kind === 'group') {
    return { ...node, children: node.children.map((child) => withEqualLeavesShared(child, leaves)) }
  }
  const { name, functions, operator, values, operand } = node
  const key = JSON.stringify([name, functions, operator, values, operand])
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

/**
 * Orders the children of groups by cost, and groups those that depend on one object of the row. They are then evaluated
 * once for each object instead of once for each row.
 */
export function arranged(node: CheckedNode): Arranged {
  if (node.kind === 'leaf') return arrangedLeaf(node)
  if (node.over !== undefined) {
    const { over, ...group } = node
    const inner = arranged(group)
    return { node: { ...(inner.node as CheckedGroup), over }, cost: inner.cost * POSITIONS_COST, reads: 'identity' }
  }
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

function objectTypeRead(name: string): ObjectType | undefined {
  const source = schemaSource(name)
  return source !== undefined && 'objectType' in source ? source.objectType : undefined
}

/** The cost of a group on all rows of an identity, as a multiple of that on one row. */
const POSITIONS_COST = 3

function arrangedLeaf(node: CheckedLeaf): Arranged {
  if (node.operand !== undefined) {
    const types = namesRead(node).map(objectTypeRead)
    return { node, cost: PAIR_COST, reads: types.every((type) => type === types[0]) ? types[0] : undefined }
  }
  const source = readsToday(node) ? undefined : schemaSource(node.name)
  const reads = source !== undefined && 'objectType' in source ? source.objectType : undefined
  if (source?.kind === 'computed') return { node, cost: COMPUTED_COST, reads }
  const reach = reads === 'relationship' ? 1 : 2
  if (node.functions.length > 0) return { node, cost: reach + 12, reads }
  return { node, cost: CHEAP_OPERATORS.has(node.operator) ? reach : reach + 4, reads }
}

/** The cost of a computed attribute, object by object. */
const COMPUTED_COST = 10

/** The cost of a leaf that compares two attributes, row by row. */
const PAIR_COST = 8

/** Operators whose values are looked up instead of compared with every distinct value. */
const CHEAP_OPERATORS: ReadonlySet<Operator> = new Set(['Equals', 'NotEquals', 'In', 'IsNull'])

/** The only object of the row that all of these nodes depend on; undefined for several or none. */
export function commonObject([first, ...others]: readonly Pick<Arranged, 'reads'>[]): ObjectType | undefined {
  return others.every(({ reads }) => reads === first?.reads) ? first?.reads : undefined
}
