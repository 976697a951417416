import type { Operator } from './condition.ts'
import type { AttributeType } from './schema.ts'

export const ORDERINGS: readonly Operator[] = ['GreaterThan', 'GreaterThanOrEqual', 'LessThan', 'LessThanOrEqual']
const LIST_OPERATORS: readonly Operator[] = ['Contains', 'NotContains', 'IsNull']
const SCALAR_OPERATORS: readonly Operator[] = ['Equals', 'NotEquals', 'IsNull']
/** The operators allowed for `memberOfCollection`. */
export const MEMBERSHIP_OPERATORS: readonly Operator[] = ['Equals', 'NotEquals', 'In']

/** Whether the operator compares with a list of values. */
export function takesList(operator: Operator): boolean {
  return operator === 'In' || operator === 'ContainsAny'
}

/** The operators allowed for each type. */
export const OPERATORS_OF: Record<AttributeType, readonly Operator[]> = {
  String: [...SCALAR_OPERATORS, 'In', 'Contains', 'NotContains', 'StartsWith', 'EndsWith', ...ORDERINGS],
  Integer: [...SCALAR_OPERATORS, 'In', ...ORDERINGS],
  DateTime: [...SCALAR_OPERATORS, 'In', ...ORDERINGS],
  Guid: [...SCALAR_OPERATORS, 'In'],
  Boolean: SCALAR_OPERATORS,
  List: LIST_OPERATORS,
  ExternalList: LIST_OPERATORS,
  Array: LIST_OPERATORS,
  StringList: ['Contains', 'NotContains', 'ContainsAny', 'IsNull'],
}
