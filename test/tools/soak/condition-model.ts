import type { ModelRow } from './people-model.ts'

/** Conditions as the API takes them, and what they mean. Independent of the service. */
export type SoakLeaf = {
  readonly id: string
  readonly field: string
  readonly operator: string
  readonly value: string | readonly string[]
}
export type SoakGroup = { readonly groupOperator: string; readonly conditions: readonly SoakCondition[] }
export type SoakCondition = SoakLeaf | SoakGroup

/** The collections that a condition refers to. */
export function referencesOf(condition: SoakCondition): string[] {
  if ('conditions' in condition) return condition.conditions.flatMap(referencesOf)
  return condition.id === 'memberOfCollection' ? [condition.value].flat() : []
}

export type ConditionContext = {
  /** Whether the row is a member of another collection. */
  isMember(collectionId: string, row: ModelRow): boolean
  /** The date in the time zone of the tenant. */
  readonly today: string
}

export function holds(condition: SoakCondition, row: ModelRow, context: ConditionContext): boolean {
  if (!('groupOperator' in condition)) return leafHolds(condition, row, context)
  const trueCount = condition.conditions.filter((child) => holds(child, row, context)).length
  switch (condition.groupOperator) {
    case 'AND':
      return trueCount === condition.conditions.length
    case 'OR':
      return trueCount > 0
    case 'NOT':
      return trueCount === 0
    case 'XOR':
      return trueCount === 1
    default:
      throw new Error(`Unknown group operator ${condition.groupOperator}`)
  }
}

function leafHolds({ id, operator, value }: SoakLeaf, row: ModelRow, { isMember, today }: ConditionContext): boolean {
  const values = typeof value === 'string' ? [value] : value
  if (id === 'memberOfCollection') {
    const isOne = values.some((collectionId) => isMember(collectionId, row))
    return operator === 'NotEquals' ? !isOne : isOne
  }
  const actual = attributeOf(row, id)
  if (operator === 'NotEquals') return actual !== value
  if (actual === undefined) return false
  switch (operator) {
    case 'Equals':
    case 'In':
      return values.includes(actual)
    case 'StartsWith':
      return values.some((start) => actual.startsWith(start))
    case 'Contains':
      return values.some((part) => actual.includes(part))
    // Only of dates.
    case 'LessThan':
      return actual < today
    case 'GreaterThanOrEqual':
      return actual >= today
    default:
      throw new Error(`Unknown operator ${operator}`)
  }
}

/** `relationshipTitle` is the attribute `title` of the relationship of the row. */
function attributeOf(row: ModelRow, id: string): string | undefined {
  for (const kind of ['identity', 'relationship', 'orgUnit'] as const) {
    if (!id.startsWith(kind)) continue
    const rest = id.slice(kind.length)
    const name = rest.charAt(0).toLowerCase() + rest.slice(1)
    return row[kind]?.attributes[name] as string | undefined
  }
  throw new Error(`Unknown attribute ${id}`)
}
