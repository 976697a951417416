import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { type CheckedGroup, type CheckedLeaf, type CheckedNode, leavesOf } from '../condition.ts'
import { takesList } from '../operators-of-types.ts'
import { type GroupOverPositions, isOverPositions, keyOf } from './constancy.ts'
import { LEAVES_AT_ONCE_COUNT, type ProofContext } from './possible-results.ts'
import { neverHoldsTask } from './prove-condition.ts'

/** Groups with more leaves, each as often as it occurs, are compared only without their common children. */
const MAX_LEAVES_COUNT = 100

/**
 * Whether it is proved that two conditions hold on the same rows, for all data. Finds it for conditions of up to 12
 * different leaves together; for larger ones, when they are equal apart from the order and nesting of their parts, or
 * when the parts in which they differ have so few leaves.
 * @param context Its budget can be shared by several comparisons. Without one, fewer equivalent conditions are found.
 */
export function* areEquivalentTask(left: CheckedGroup, right: CheckedGroup, context: ProofContext): Task<boolean> {
  const known: GroupOverPositions[] = []
  const first = yield* withKnownRanges(ordered(left), known, context)
  const second = yield* withKnownRanges(ordered(right), known, context)
  return yield* equivalent(asGroup(ordered(first)), asGroup(ordered(second)), context)
}

/**
 * The node with the first of each equivalent groups over all positions in place of the others, so that they are the
 * same.
 * @param known Those found so far.
 */
function* withKnownRanges(node: CheckedNode, known: GroupOverPositions[], context: ProofContext): Task<CheckedNode> {
  if (node.kind === 'leaf') return node
  if (!isOverPositions(node)) {
    const children: CheckedNode[] = []
    for (const child of node.children) children.push(yield* withKnownRanges(child, known, context))
    return { ...node, children }
  }
  for (const candidate of known) {
    if (yield* equivalent(withoutRange(candidate), withoutRange(node), context)) return candidate
  }
  if (known.length < LEAVES_AT_ONCE_COUNT) known.push(node)
  return node
}

function withoutRange({ over: _over, ...group }: GroupOverPositions): CheckedGroup {
  return group
}

function* equivalent(left: CheckedGroup, right: CheckedGroup, context: ProofContext): Task<boolean> {
  if (keyOf(left) === keyOf(right)) return true
  const differing: CheckedGroup = { kind: 'group', operator: 'XOR', children: [left, right] }
  if (isSmall(differing) && (yield* neverHoldsTask(differing, context))) return true
  const { operator } = left
  if (operator !== right.operator || operator === 'XOR' || (left.over ?? right.over) !== undefined) return false
  // Groups with the same operator and common children are equivalent if their other children are. Not so for `XOR`,
  // which counts.
  const [rest, otherRest] = [without(left, right), without(right, left)]
  if (rest.children.length === 0 || otherRest.children.length === 0) return false
  return rest.children.length < left.children.length && (yield* equivalent(rest, otherRest, context))
}

function isSmall(group: CheckedGroup): boolean {
  const leaves = leavesOf(group)
  return leaves.length <= MAX_LEAVES_COUNT && new Set(leaves.map(keyOf)).size <= LEAVES_AT_ONCE_COUNT
}

/** The group with the children that the other one does not have. */
function without(group: CheckedGroup, { children }: CheckedGroup): CheckedGroup {
  const keys = new Set(children.map(keyOf))
  return { ...group, children: group.children.filter((child) => !keys.has(keyOf(child))) }
}

function asGroup(node: CheckedNode): CheckedGroup {
  return node.kind === 'group' ? node : { kind: 'group', operator: 'AND', children: [node] }
}

/** An equivalent node, equal for nodes that differ only in the order and nesting of their parts. */
function ordered(node: CheckedNode): CheckedNode {
  if (node.kind === 'leaf') return orderedLeaf(node)
  const { over, operator } = node
  const parts = node.children.map(ordered).flatMap((child) => (isMerged(child, operator) ? child.children : [child]))
  const children = sorted(parts, operator === 'XOR')
  const [only] = children
  if (only !== undefined && children.length === 1 && operator !== 'NOT') {
    // `over` of a group around one that has it too is not valid.
    return over === undefined ? only : { ...asGroup(only), over }
  }
  const group: CheckedGroup = { kind: 'group', operator, children }
  return over === undefined ? group : { ...group, over }
}

/** Whether the children of a group can stand in the group around it. A `NOT` means that none of its children holds. */
function isMerged(child: CheckedNode, operator: CheckedGroup['operator']): child is CheckedGroup {
  if (child.kind === 'leaf' || child.over !== undefined || operator === 'XOR') return false
  return child.operator === (operator === 'NOT' ? 'OR' : operator)
}

/** By their keys; without repetitions, unless each one counts. */
function sorted(nodes: readonly CheckedNode[], isRepeated: boolean): CheckedNode[] {
  const different = isRepeated ? nodes : new Map(nodes.map((node) => [keyOf(node), node])).values()
  return [...different].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
}

function orderedLeaf(leaf: CheckedLeaf): CheckedLeaf {
  if (!takesList(leaf.operator)) return leaf
  const values = new Map(leaf.values.map((value) => [JSON.stringify(value), value]))
  const inOrder = [...values].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, value]) => value)
  const single = leaf.operator === 'In' ? 'Equals' : 'Contains'
  return { ...leaf, operator: inOrder.length === 1 ? single : leaf.operator, values: inOrder }
}
