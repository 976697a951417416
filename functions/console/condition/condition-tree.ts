import type {
  GroupOperator,
  Operator,
  WireGroup,
  WireLeaf,
  WireOperand,
} from '../../../shared/domain/criteria/condition.ts'

/** A node of the tree that is being edited. `key` identifies it while it moves. */
export type EditedLeaf = {
  readonly kind: 'leaf'
  readonly key: number
  readonly id: string
  /** The attribute itself, or functions around it. */
  readonly field: string
  readonly operator: Operator
  /** As in the condition; undefined for none. */
  readonly value: WireLeaf['value']
}
export type EditedGroup = {
  readonly kind: 'group'
  readonly key: number
  /** As in the condition. */
  readonly over?: WireGroup['over'] | undefined
  readonly operator: GroupOperator
  readonly children: readonly EditedNode[]
}
export type EditedNode = EditedGroup | EditedLeaf

let lastKey = 0

const newKey = (): number => {
  lastKey += 1
  return lastKey
}

export const newLeaf = (): EditedLeaf => ({
  kind: 'leaf',
  key: newKey(),
  id: '',
  field: '',
  operator: 'Equals',
  value: undefined,
})

export const newGroup = (operator: GroupOperator = 'AND'): EditedGroup => ({
  kind: 'group',
  key: newKey(),
  operator,
  children: [newLeaf()],
})

/** A leaf that holds when it holds in any position of the person. */
export const inAnyPosition = (leaf: EditedLeaf): EditedGroup => ({
  kind: 'group',
  key: newKey(),
  over: 'AnyPosition',
  operator: 'AND',
  children: [leaf],
})

/** The tree of a condition. `conditionOf` returns the same condition again. */
export function editedGroup({ groupOperator, over, conditions }: WireGroup): EditedGroup {
  return { kind: 'group', key: newKey(), over, operator: groupOperator, children: conditions.map(editedNode) }
}

function editedNode(node: WireGroup | WireLeaf): EditedNode {
  if ('groupOperator' in node) return editedGroup(node)
  const { id, field, operator, value } = node
  return { kind: 'leaf', key: newKey(), id, field, operator, value }
}

export function conditionOf({ operator, over, children }: EditedGroup): WireGroup {
  return { groupOperator: operator, ...(over && { over }), conditions: children.map(wireOf) }
}

function wireOf(node: EditedNode): WireGroup | WireLeaf {
  if (node.kind === 'group') return conditionOf(node)
  const { id, field, operator, value } = node
  return { id, field, operator, ...(operator === 'IsNull' || value === undefined ? {} : { value }) }
}

/** Whether a value is read from another attribute. */
export function isOperand(value: WireLeaf['value']): value is WireOperand {
  return typeof value === 'object' && 'attribute' in value
}

/** Whether every leaf has an attribute and a value. The empty text is a value. */
export function isComplete(node: EditedNode): boolean {
  if (node.kind === 'group') return node.children.length > 0 && node.children.every(isComplete)
  if (node.id === '') return false
  if (node.operator === 'IsNull') return true
  return isOperand(node.value) ? node.value.attribute !== '' : node.value !== undefined
}

/** Replaces one child, by its index. */
export function withChild(group: EditedGroup, index: number, child: EditedNode): EditedGroup {
  return { ...group, children: group.children.with(index, child) }
}

export function withoutChild(group: EditedGroup, index: number): EditedGroup {
  return { ...group, children: group.children.toSpliced(index, 1) }
}

/** Moves a child up (-1) or down (1). The first and the last one stay where they are. */
export function withMovedChild(group: EditedGroup, index: number, by: -1 | 1): EditedGroup {
  const [moved, other] = [group.children[index], group.children[index + by]]
  if (moved === undefined || other === undefined) return group
  return { ...group, children: group.children.with(index, other).with(index + by, moved) }
}
