import { OPERATORS, type Operator } from '../../../shared/domain/criteria/condition.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF, takesList } from '../../../shared/domain/criteria/operators-of-types.ts'
import { type AttributeType, MEMBER_OF_COLLECTION } from '../../../shared/domain/criteria/schema.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { type EditedLeaf, isOperand } from './condition-tree.ts'
import { fieldForm, fieldOf, formsOf } from './field-form.ts'

/**
 * Functions around the attribute stay around the new one of the same type. Operator and value stay where the type of
 * the new one allows them.
 */
export function withAttribute(leaf: EditedLeaf, next: string, types: ConditionChoices['types']): Partial<EditedLeaf> {
  const { id, operator, value } = leaf
  const type = types[next]
  const renamed = { id: next, field: renamedField(leaf, next, types) }
  if (type === undefined) return renamed
  const form = fieldForm(renamed.field, next).name
  const allowed = allowedOperators(next, type)
  const kept = allowed.includes(operator) ? operator : (allowed[0] ?? operator)
  const isFitting =
    value === undefined ||
    (isOperand(value) ? type === types[id] : [value].flat().every((item) => isOfType(String(item), type)))
  return {
    id: next,
    field: formsOf(type).includes(form) ? renamed.field : next,
    operator: kept,
    value: isFitting && (kept === operator || !Array.isArray(value)) ? value : undefined,
  }
}

/** Functions within functions stay as they are until an attribute is chosen: the id is half typed until then. */
function renamedField({ id, field }: EditedLeaf, next: string, types: ConditionChoices['types']): string {
  const form = fieldForm(field, id)
  if (form.name !== 'Written') return fieldOf(form, next)
  if (types[next] === undefined) return field
  for (const name of [id, ...Object.keys(types)]) {
    const at = field.lastIndexOf(name)
    const [before, after] = [field.slice(0, at), field.slice(at + name.length)]
    if (at !== -1 && before.trimEnd().endsWith('(') && /^\s*[,)]/.test(after)) return before + next + after
  }
  return field
}

/** Whether a text can be a value of a type. The API checks the rest. */
function isOfType(text: string, type: string): boolean {
  if (type === 'Boolean') return text === 'true' || text === 'false'
  if (type === 'DateTime') return /^(\d{4}-|Today|AddDays)/.test(text)
  if (type === 'Guid' || type === 'List') return /^[\da-f-]{36}$/i.test(text)
  return type !== 'Integer' || /^-?\d+$/.test(text)
}

/** The types of attributes with which a leaf can be compared. None where only values are allowed. */
export function operandTypes({ operator, field, id }: EditedLeaf, type: string | undefined): readonly string[] {
  if (id === MEMBER_OF_COLLECTION || takesList(operator) || operator === 'IsNull' || field !== id) return []
  if (type === 'List') return ['Guid']
  if (type === 'StringList') return ['String']
  return type === undefined || type === 'ExternalList' || type === 'Array' ? [] : [type]
}

/** A list has several values, any other operator one. Lists and "is empty" are compared with no other attribute. */
export function withOperator({ value }: EditedLeaf, operator: Operator): Partial<EditedLeaf> {
  if (isOperand(value)) return { operator, value: takesList(operator) || operator === 'IsNull' ? undefined : value }
  const values = value === undefined ? [] : [value].flat()
  return { operator, value: takesList(operator) ? (value === undefined ? undefined : values) : values[0] }
}

/** The operators of the attribute's type; all of them while the type is unknown. */
export function allowedOperators(id: string, type: string | undefined): readonly Operator[] {
  if (id === MEMBER_OF_COLLECTION) return MEMBERSHIP_OPERATORS
  return isType(type) ? OPERATORS_OF[type] : OPERATORS
}

function isType(type: string | undefined): type is AttributeType {
  return type !== undefined && Object.hasOwn(OPERATORS_OF, type)
}
