import { type AttributeType, MEMBER_OF_COLLECTION } from './schema.ts'

export const GROUP_OPERATORS = ['AND', 'OR', 'NOT', 'XOR'] as const
/** `AND` every child, `OR` at least one, `NOT` none, `XOR` exactly one. */
export type GroupOperator = (typeof GROUP_OPERATORS)[number]

export const OPERATORS = [
  'Equals',
  'NotEquals',
  'Contains',
  'NotContains',
  'StartsWith',
  'EndsWith',
  'In',
  'GreaterThan',
  'GreaterThanOrEqual',
  'LessThan',
  'LessThanOrEqual',
  'IsNull',
] as const
export type Operator = (typeof OPERATORS)[number]

/** A function around a field. `start` and `length` count code points. */
export type FieldFunction =
  | { readonly name: 'Substring'; readonly start: number; readonly length: number }
  | { readonly name: 'ToUpper' }
  | { readonly name: 'ToLower' }
  | { readonly name: 'AddDays'; readonly days: number }
  | { readonly name: 'Today' }

/** A day counted from the day of evaluation: `Today()` is 0, `AddDays(Today(),-30)` is -30. */
export type RelativeDay = { readonly daysFromToday: number }

/** By type: text (GUIDs lower-case, booleans as `true` and `false`), an integer, milliseconds since 1970 or a day. */
export type ComparedValue = string | number | RelativeDay

export type CheckedLeaf = {
  readonly kind: 'leaf'
  /** A name of the schema. */
  readonly name: string
  readonly type: AttributeType
  /** Innermost first. `Today` stands alone: it reads no attribute. */
  readonly functions: readonly FieldFunction[]
  readonly operator: Operator
  /** None for `IsNull`, any number for `In`, else one. */
  readonly values: readonly ComparedValue[]
}
export type CheckedGroup = {
  readonly kind: 'group'
  readonly operator: GroupOperator
  readonly children: readonly CheckedNode[]
}
export type CheckedNode = CheckedGroup | CheckedLeaf

export type WireScalar = string | number | boolean
export type WireLeaf = {
  readonly id: string
  readonly field: string
  readonly operator: Operator
  readonly value?: WireScalar | readonly WireScalar[]
}
export type WireGroup = {
  readonly groupOperator: GroupOperator
  readonly conditions: readonly (WireGroup | WireLeaf)[]
}

/** A condition free of faults. `wire` is its normalised form, to be stored and returned; it checks without faults again. */
export type CheckedCondition = { readonly root: CheckedGroup; readonly wire: WireGroup }

/** Where a condition names a collection; `pointer` is a JSON pointer into the condition. */
export type CollectionReference = { readonly collectionId: string; readonly pointer: string }

/** Every place where `memberOfCollection` names a collection, in the order of the condition. */
export function collectionReferences(condition: CheckedCondition): CollectionReference[] {
  return referencesWithin(condition.root, '')
}

/** The ids of the collections that `memberOfCollection` names anywhere in the condition. */
export function collectionsReferredTo(condition: CheckedCondition): ReadonlySet<string> {
  return new Set(collectionReferences(condition).map(({ collectionId }) => collectionId))
}

function referencesWithin(node: CheckedNode, pointer: string): CollectionReference[] {
  if (node.kind === 'group') {
    return node.children.flatMap((child, index) => referencesWithin(child, `${pointer}/conditions/${index}`))
  }
  if (node.name !== MEMBER_OF_COLLECTION) return []
  return node.values.map((value, index) => ({
    collectionId: String(value),
    pointer: node.operator === 'In' ? `${pointer}/value/${index}` : `${pointer}/value`,
  }))
}

/** Whether the same data may give other members tomorrow. */
export function dependsOnDay(condition: CheckedCondition): boolean {
  return leavesOf(condition.root).some(
    (leaf) => readsToday(leaf) || leaf.values.some((value) => typeof value === 'object'),
  )
}

/** The schema names whose values the condition depends on. `Today()` as a field does not read its `id`. */
export function attributesRead(condition: CheckedCondition): ReadonlySet<string> {
  return new Set(leavesOf(condition.root).flatMap((leaf) => (readsToday(leaf) ? [] : [leaf.name])))
}

/** Whether the field is `Today()` rather than an attribute. */
export function readsToday(leaf: CheckedLeaf): boolean {
  return leaf.functions[0]?.name === 'Today'
}

/** The leaves at any depth, in the order of the condition. */
export function leavesOf(node: CheckedNode): CheckedLeaf[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
