import { nearMiss } from '../../kernel/near-misses.ts'
import { isComputed } from './computed-attributes.ts'
import { type CheckedLeaf, OPERATORS, type Operator, type WireLeaf } from './condition.ts'
import {
  type Checked,
  checkText,
  checkWord,
  type Findings,
  type InputObject,
  isObject,
  MAX_LEAF_COUNT,
  own,
  report,
  reportUnknownField,
  shown,
} from './condition-findings.ts'
import { comparedType, excerpt, isDayFunction, type ParsedValue, parseField, parseValue } from './field-expression.ts'
import { isHiddenValue } from './hidden-values.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF, ORDERINGS, takesList } from './operators-of-types.ts'
import { type AttributeType, MEMBER_OF_COLLECTION } from './schema.ts'

/** Entries in the list of an `In` or a `ContainsAny`. */
export const MAX_ENTRY_COUNT = 1000

/** Checks a leaf: its attribute, its field, its operator and its values. Undefined when it has faults. */
export function checkLeaf(
  input: InputObject,
  pointer: string,
  findings: Findings,
): Checked<CheckedLeaf, WireLeaf> | undefined {
  findings.leafCount += 1
  if (findings.leafCount > MAX_LEAF_COUNT) {
    return report(findings, 'TooManyLeaves', `A condition may have at most ${MAX_LEAF_COUNT} leaves`, '')
  }
  if ((own(input, 'over') ?? null) !== null) {
    report(findings, 'InvalidMember', 'over is a property of groups', `${pointer}/over`)
  }
  const id = checkText(input, 'id', pointer, findings)
  const field = checkText(input, 'field', pointer, findings)
  const operator = checkWord(input, 'operator', OPERATORS, 'UnknownOperator', pointer, findings)
  if (id === undefined) return undefined
  const type = findings.schema.get(id)
  if (type === undefined) return reportUnknownField(id, `${pointer}/id`, findings)
  const expression = field === undefined ? undefined : checkField(field, id, type, pointer, findings)
  if (operator === undefined) return undefined
  if (!(id === MEMBER_OF_COLLECTION ? MEMBERSHIP_OPERATORS : OPERATORS_OF[type]).includes(operator)) {
    const fieldName = id === MEMBER_OF_COLLECTION ? id : type
    return report(
      findings,
      'OperatorNotAllowed',
      `Operator ${operator} not allowed on ${fieldName} field`,
      `${pointer}/operator`,
    )
  }
  const raw = own(input, 'value')
  if (findings.origin === 'request' && operator !== 'IsNull' && isHiddenValue(id, raw)) {
    const message = 'hidden stands for a stored value: send the condition as it was read, or a value'
    return report(findings, 'InvalidValue', message, `${pointer}/value`)
  }
  if (isObject(raw) && operator !== 'IsNull' && !takesList(operator)) {
    const operand = checkOperand(raw, id, type, `${pointer}/value`, findings)
    if (expression === undefined || operand === undefined) return undefined
    const { functions, wire } = expression
    return {
      node: { kind: 'leaf', name: id, type, functions, operator, values: [], operand },
      wire: { id, field: wire, operator, value: { attribute: operand } },
    }
  }
  const values = checkValues(own(input, 'value'), operator, comparedType(id, type), `${pointer}/value`, findings)
  if (expression === undefined || values === undefined) return undefined
  const written = values.map(({ wire }) => wire)
  const value = takesList(operator) ? written : written[0]
  return {
    node: {
      kind: 'leaf',
      name: id,
      type,
      functions: expression.functions,
      operator,
      values: values.map((each) => each.value),
    },
    wire: { id, field: expression.wire, operator, ...(value === undefined ? {} : { value }) },
  }
}

/** The attribute in a value `{ "attribute": "identityId" }`, which must have the type that the leaf compares. */
function checkOperand(
  raw: InputObject,
  id: string,
  type: AttributeType,
  pointer: string,
  findings: Findings,
): string | undefined {
  const compared = comparedType(id, type)
  for (const name of Object.keys(raw)) {
    const meant = nearMiss(name, OPERAND_MEMBERS)
    if (meant !== undefined)
      return report(findings, 'UnknownMember', `There is no member ${name}, only ${meant}`, `${pointer}/${name}`)
  }
  const attribute = own(raw, 'attribute')
  if (
    typeof attribute !== 'string' ||
    id === MEMBER_OF_COLLECTION ||
    attribute === MEMBER_OF_COLLECTION ||
    isComputed(attribute)
  ) {
    return report(findings, 'InvalidValue', `Value ${shown(raw)} is not a valid ${compared}`, pointer)
  }
  const at = `${pointer}/attribute`
  const attributeType = findings.schema.get(attribute)
  if (attributeType === undefined) return reportUnknownField(attribute, at, findings)
  if (attributeType === compared) return attribute
  const message = `${excerpt(attribute)} is of type ${attributeType}, and ${id} is compared with values of type ${compared}`
  return report(findings, 'ValueTypeMismatch', message, at)
}

const OPERAND_MEMBERS = ['attribute']

function checkField(field: string, id: string, type: AttributeType, pointer: string, findings: Findings) {
  const expression = parseField(field, id, type)
  if (!('code' in expression)) return expression
  const at = `${pointer}/field`
  const isOtherName =
    expression.code === 'FieldNotNamedById' && !findings.schema.has(field.trim()) && !field.includes('(')
  return isOtherName
    ? reportUnknownField(field, at, findings)
    : report(findings, expression.code, expression.message, at)
}

function checkValues(
  raw: unknown,
  operator: Operator,
  type: AttributeType,
  pointer: string,
  findings: Findings,
): ParsedValue[] | undefined {
  if (operator === 'IsNull') return checkNoDenial(raw, pointer, findings)
  if (raw === undefined) return report(findings, 'MissingMember', 'value is required', pointer)
  if (!takesList(operator)) {
    const value = checkValue(raw, operator, type, pointer, findings)
    return value === undefined ? undefined : [value]
  }
  if (!Array.isArray(raw)) return report(findings, 'ListRequired', `Value ${shown(raw)} is not a list`, pointer)
  if (raw.length > MAX_ENTRY_COUNT) {
    return report(findings, 'TooManyEntries', `A list may have at most ${MAX_ENTRY_COUNT} entries`, pointer)
  }
  const values = raw.map((entry, index) => checkValue(entry, operator, type, `${pointer}/${index}`, findings))
  return values.every((value) => value !== undefined) ? values : undefined
}

function checkValue(
  raw: unknown,
  operator: Operator,
  type: AttributeType,
  pointer: string,
  findings: Findings,
): ParsedValue | undefined {
  const mismatch = findings.origin === 'request' ? mismatchOf(raw, operator, type) : undefined
  if (mismatch !== undefined) return report(findings, 'ValueTypeMismatch', mismatch, pointer)
  return (
    parseValue(raw, type) ?? report(findings, 'InvalidValue', `Value ${shown(raw)} is not a valid ${type}`, pointer)
  )
}

/** Values that read as the type but compare as something else than the caller means. */
function mismatchOf(raw: unknown, operator: Operator, type: AttributeType): string | undefined {
  if (type !== 'DateTime' && typeof raw === 'string' && isDayFunction(raw)) {
    return `Value ${excerpt(raw)} is a day, and only DateTime fields are compared with days`
  }
  if (type !== 'String' || !ORDERINGS.includes(operator)) return undefined
  if (typeof raw !== 'number' && typeof raw !== 'boolean') return undefined
  return `Value ${shown(raw)} is a ${typeof raw}, and ${operator} compares a String field with a text, by code point`
}

/** `IsNull` ignores a value, except one that denies it: the leaf would mean the opposite. */
function checkNoDenial(raw: unknown, pointer: string, findings: Findings): ParsedValue[] | undefined {
  const isDenial = raw === false || (typeof raw === 'string' && raw.trim().toLowerCase() === 'false')
  if (!isDenial || findings.origin === 'stored') return []
  return report(findings, 'InvalidValue', 'IsNull has no value: put the leaf into a NOT group instead', pointer)
}
