import { computedAttribute } from './computed-attributes.ts'
import { type AttributeType, DIRECTORY_GROUPS, MEMBER_OF_COLLECTION } from './schema.ts'

export const GROUP_OPERATORS = ['AND', 'OR', 'NOT', 'XOR'] as const
/** The number of children that must be true: `AND` all, `OR` at least one, `NOT` none, `XOR` exactly one. */
export type GroupOperator = (typeof GROUP_OPERATORS)[number]

export const OPERATORS = [
  'Equals',
  'NotEquals',
  'Contains',
  'NotContains',
  'ContainsAny',
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

/** A day relative to the day of evaluation: `Today()` is 0, `AddDays(Today(),-30)` is -30. */
export type RelativeDay = { readonly daysFromToday: number }

/** A date without a time, which begins in the tenant's time zone. */
type CalendarDate = { readonly date: string }

/** By type: text (GUIDs lower-case, booleans as `true` and `false`), an integer, milliseconds since 1970 or a day. */
export type ComparedValue = string | number | RelativeDay | CalendarDate

export type CheckedLeaf = {
  readonly kind: 'leaf'
  /** The schema name. */
  readonly name: string
  readonly type: AttributeType
  /** Innermost first. `Today` has no other functions and reads no attribute. */
  readonly functions: readonly FieldFunction[]
  readonly operator: Operator
  /** Empty for `IsNull` and beside `operand`, any number for `In` and `ContainsAny`, otherwise one. */
  readonly values: readonly ComparedValue[]
  /** The schema name of the attribute with whose value on the same row the field is compared. */
  readonly operand?: string
}
/** `AnyPosition`: the group holds on a row when some row of the same identity satisfies it. */
export const GROUP_RANGES = ['AnyPosition'] as const
export type GroupRange = (typeof GROUP_RANGES)[number]

export type CheckedGroup = {
  readonly kind: 'group'
  readonly over?: GroupRange
  readonly operator: GroupOperator
  readonly children: readonly CheckedNode[]
}
export type CheckedNode = CheckedGroup | CheckedLeaf

export type WireScalar = string | number | boolean
/** A value that is read from another attribute of the same row. */
export type WireOperand = { readonly attribute: string }
export type WireLeaf = {
  readonly id: string
  readonly field: string
  readonly operator: Operator
  readonly value?: WireScalar | WireOperand | readonly WireScalar[]
}
export type WireGroup = {
  readonly groupOperator: GroupOperator
  readonly over?: GroupRange
  readonly conditions: readonly (WireGroup | WireLeaf)[]
}

/** A valid condition. `wire` is its normalised JSON form, which is stored and returned and is valid as well. */
export type CheckedCondition = { readonly root: CheckedGroup; readonly wire: WireGroup }

/** A reference to a collection; `pointer` is a JSON pointer into the condition. */
export type CollectionReference = { readonly collectionId: string; readonly pointer: string }

/** The references to collections by `memberOfCollection`, in the order of the condition. */
export function collectionReferences(condition: CheckedCondition): CollectionReference[] {
  return referencesWithin(condition.root, '')
}

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

/** The directory groups whose members a stored condition tests. Empty for a definition of another kind. */
export function groupsReadBy(definition: object): readonly string[] {
  const groups = new Set<string>()
  const open: unknown[] = [definition]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { conditions, id, value } = node as Partial<WireGroup & WireLeaf>
    if (conditions !== undefined) open.push(...conditions)
    else if (id === DIRECTORY_GROUPS && typeof value === 'string') groups.add(value.toLowerCase())
  }
  return [...groups]
}

export function dependsOnDay(condition: CheckedCondition): boolean {
  return leavesOf(condition.root).some(
    (leaf) => readsToday(leaf) || computedAttribute(leaf.name)?.dependsOnDay === true || leaf.values.some(isRelative),
  )
}

/** The schema names that the condition reads, those included that computed ones follow from. A field `Today()` does not read the attribute in `id`. */
export function attributesRead(condition: CheckedCondition): ReadonlySet<string> {
  const names = leavesOf(condition.root).flatMap(namesRead)
  return new Set(names.flatMap((name) => [name, ...(computedAttribute(name)?.reads ?? [])]))
}

/** The schema names that a leaf reads. */
export function namesRead(leaf: CheckedLeaf): string[] {
  return [...(readsToday(leaf) ? [] : [leaf.name]), ...(leaf.operand === undefined ? [] : [leaf.operand])]
}

/** Whether a group over all positions of a person is in the condition. */
export function readsAnyPosition(node: CheckedNode): boolean {
  return node.kind === 'group' && (node.over !== undefined || node.children.some(readsAnyPosition))
}

/** Whether the value follows from the day of evaluation. */
export function isRelative(value: ComparedValue): value is RelativeDay {
  return typeof value === 'object' && 'daysFromToday' in value
}

export function readsToday(leaf: CheckedLeaf): boolean {
  return leaf.functions[0]?.name === 'Today'
}

/** All leaves, in the order of the condition. */
export function leavesOf(node: CheckedNode): CheckedLeaf[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
