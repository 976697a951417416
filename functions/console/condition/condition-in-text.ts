import {
  GROUP_OPERATORS,
  GROUP_RANGES,
  OPERATORS,
  type WireGroup,
  type WireLeaf,
} from '../../../shared/domain/criteria/condition.ts'

/** The condition that a text is; undefined for any other text. The API checks the rest. */
export function conditionIn(text: string): WireGroup | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isGroup(value) ? value : undefined
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined
    throw fault
  }
}

function isGroup(value: unknown): value is WireGroup {
  if (typeof value !== 'object' || value === null) return false
  const { groupOperator, over, conditions } = value as Partial<Record<keyof WireGroup, unknown>>
  return (
    isOneOf(GROUP_OPERATORS, groupOperator) &&
    (over === undefined || isOneOf(GROUP_RANGES, over)) &&
    Array.isArray(conditions) &&
    conditions.length > 0 &&
    conditions.every((node) => isGroup(node) || isLeaf(node))
  )
}

function isLeaf(value: unknown): value is WireLeaf {
  if (typeof value !== 'object' || value === null) return false
  const { id, field, operator } = value as Partial<Record<keyof WireLeaf, unknown>>
  return typeof id === 'string' && typeof field === 'string' && isOneOf(OPERATORS, operator)
}

const isOneOf = (allowed: readonly string[], value: unknown): boolean => allowed.some((option) => option === value)
