import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { nearMiss } from '../../kernel/near-misses.ts'
import type { RefusalCode } from '../../kernel/refusals.ts'
import { isComputed } from './computed-attributes.ts'
import {
  type CheckedCondition,
  type CheckedGroup,
  type CheckedLeaf,
  type CheckedNode,
  GROUP_OPERATORS,
  GROUP_RANGES,
  type GroupRange,
  OPERATORS,
  type Operator,
  type WireGroup,
  type WireLeaf,
} from './condition.ts'
import { comparedType, excerpt, isDayFunction, type ParsedValue, parseField, parseValue } from './field-expression.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF, ORDERINGS, takesList } from './operators-of-types.ts'
import { type AttributeType, type ConditionSchema, MEMBER_OF_COLLECTION } from './schema.ts'

/** Levels of groups, including the root. */
export const MAX_DEPTH = 16
export const MAX_LEAF_COUNT = 500
/** Entries in the list of an `In` or a `ContainsAny`. */
export const MAX_ENTRY_COUNT = 1000
/** Limits the response to a very large invalid condition. */
export const MAX_FAULT_COUNT = 1000

/** `pointer` is a JSON pointer into the condition, '' its root. */
export type ConditionFault = { readonly code: RefusalCode; readonly message: string; readonly pointer: string }

export type ConditionCheck =
  | { readonly ok: true; readonly condition: CheckedCondition }
  | { readonly ok: false; readonly faults: readonly ConditionFault[] }

/**
 * Where a condition comes from. Some values of a request are refused because they nearly always mean something else. A
 * stored condition with such a value stays valid.
 */
export type ConditionOrigin = 'request' | 'stored'

/** Checks a condition from a request or a stored document: the normalised condition, or all its faults at once. */
export function checkCondition(
  input: unknown,
  schema: ConditionSchema,
  origin?: ConditionOrigin,
  objectType?: string,
): ConditionCheck {
  return runToCompletion(checkConditionTask(input, schema, origin, objectType))
}

/**
 * Checks a condition, one leaf in each step: a mebibyte of dates takes 100 ms to check.
 * @param objectType Of the collection, which may limit what its condition can test.
 */
export function* checkConditionTask(
  input: unknown,
  schema: ConditionSchema,
  origin: ConditionOrigin = 'request',
  objectType?: string,
): Task<ConditionCheck> {
  const findings: Findings = { schema, origin, objectType, isOverPositions: false, faults: [], leafCount: 0 }
  if (isObject(input) && hasMisspeltMembers(input, '', findings)) return { ok: false, faults: findings.faults }
  if (!isObject(input) || !isGroup(input)) {
    report(findings, 'RootNotGroup', 'The root of a condition must be a group', '')
    return { ok: false, faults: findings.faults }
  }
  const root = yield* checkGroup(input, '', 1, findings)
  if (findings.faults.length > 0 || root === undefined) return { ok: false, faults: findings.faults }
  return { ok: true, condition: { root: root.node, wire: root.wire } }
}

type Findings = {
  readonly schema: ConditionSchema
  readonly origin: ConditionOrigin
  readonly objectType: string | undefined
  /** Whether the node is within a group over all positions. */
  isOverPositions: boolean
  readonly faults: ConditionFault[]
  leafCount: number
}
type Checked<Node extends CheckedNode, Wire> = { readonly node: Node; readonly wire: Wire }
type JsonObject = Readonly<Record<string, unknown>>

function* checkNode(
  input: unknown,
  pointer: string,
  depth: number,
  findings: Findings,
): Task<Checked<CheckedNode, WireGroup | WireLeaf> | undefined> {
  if (!isObject(input)) return report(findings, 'InvalidNode', 'A condition item must be a group or a leaf', pointer)
  if (hasMisspeltMembers(input, pointer, findings)) return undefined
  return isGroup(input) ? yield* checkGroup(input, pointer, depth, findings) : checkLeaf(input, pointer, findings)
}

function* checkGroup(
  input: JsonObject,
  pointer: string,
  depth: number,
  findings: Findings,
): Task<Checked<CheckedGroup, WireGroup> | undefined> {
  if (depth > MAX_DEPTH) {
    return report(findings, 'ConditionTooDeep', `A condition may be at most ${MAX_DEPTH} groups deep`, pointer)
  }
  const operator = checkWord(input, 'groupOperator', GROUP_OPERATORS, 'UnknownGroupOperator', pointer, findings)
  const over = checkRange(input, pointer, findings)
  const items = own(input, 'conditions')
  const at = `${pointer}/conditions`
  if (items === undefined) return report(findings, 'MissingMember', 'conditions is required', at)
  if (!Array.isArray(items)) return report(findings, 'InvalidMember', 'conditions must be a list', at)
  if (items.length === 0) return report(findings, 'EmptyGroup', 'A group must have at least one condition', at)
  const children: CheckedNode[] = []
  const conditions: (WireGroup | WireLeaf)[] = []
  const isAroundPositions = findings.isOverPositions
  findings.isOverPositions ||= over.over !== undefined
  for (let index = 0; index < items.length && !isHopeless(findings); index += 1) {
    yield
    const child = yield* checkNode(items[index], `${at}/${index}`, depth + 1, findings)
    if (child === undefined) continue
    children.push(child.node)
    conditions.push(child.wire)
  }
  findings.isOverPositions = isAroundPositions
  if (operator === undefined) return undefined
  return {
    node: { kind: 'group', ...over, operator, children },
    wire: { groupOperator: operator, ...over, conditions },
  }
}

/** The rows over which a group is tested, where it names them. */
function checkRange(input: JsonObject, pointer: string, findings: Findings): { over?: GroupRange } {
  if ((own(input, 'over') ?? null) === null) return {}
  const at = `${pointer}/over`
  const over = checkWord(input, 'over', GROUP_RANGES, 'InvalidMember', pointer, findings)
  if (over === undefined) return {}
  if (findings.isOverPositions) {
    report(findings, 'AnyPositionNested', 'A group over AnyPosition cannot be within another one', at)
  }
  if (findings.objectType === 'OrgUnit') {
    const message = 'The rows of a collection of OrgUnit objects are those of a unit, not of a person'
    report(findings, 'AnyPositionNotAllowed', message, at)
  }
  return { over }
}

/** Groups and leaves: clients with one type for both send null for the members of the other. */
const NODE_MEMBERS = ['groupOperator', 'over', 'conditions', 'id', 'field', 'operator', 'value']

/** Reports members that resemble a known one. Nothing else is checked then: the rest follows from what is meant. */
function hasMisspeltMembers(input: JsonObject, pointer: string, findings: Findings): boolean {
  if (findings.origin === 'stored') return false
  let isMisspelt = false
  for (const name of Object.keys(input)) {
    const meant = nearMiss(name, NODE_MEMBERS)
    if (meant === undefined) continue
    report(findings, 'UnknownMember', `There is no member ${name}, only ${meant}`, `${pointer}/${name}`)
    isMisspelt = true
  }
  return isMisspelt
}

function checkLeaf(input: JsonObject, pointer: string, findings: Findings): Checked<CheckedLeaf, WireLeaf> | undefined {
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
  raw: JsonObject,
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

function checkText(input: JsonObject, member: string, pointer: string, findings: Findings): string | undefined {
  const text = own(input, member)
  if (typeof text === 'string') return text
  if (text === undefined) return report(findings, 'MissingMember', `${member} is required`, `${pointer}/${member}`)
  return report(findings, 'InvalidMember', `${member} must be a string`, `${pointer}/${member}`)
}

function checkWord<Word extends string>(
  input: JsonObject,
  member: string,
  words: readonly Word[],
  code: RefusalCode,
  pointer: string,
  findings: Findings,
): Word | undefined {
  const text = checkText(input, member, pointer, findings)
  if (text === undefined) return undefined
  const lower = text.toLowerCase()
  const word = words.find((known) => known.toLowerCase() === lower)
  return word ?? report(findings, code, `${excerpt(text)} is not one of ${words.join(', ')}`, `${pointer}/${member}`)
}

function reportUnknownField(name: string, pointer: string, findings: Findings): undefined {
  return report(findings, 'FieldNotInSchema', `Field ${excerpt(name)} does not exist in schema`, pointer)
}

function report(findings: Findings, code: RefusalCode, message: string, pointer: string): undefined {
  if (findings.faults.length < MAX_FAULT_COUNT) findings.faults.push({ code, message, pointer })
}

/** Whether further faults are of no use to the caller. */
function isHopeless(findings: Findings): boolean {
  return findings.leafCount > MAX_LEAF_COUNT || findings.faults.length >= MAX_FAULT_COUNT
}

function isObject(input: unknown): input is JsonObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

/** Clients with one type for groups and leaves send null for the members of the other. */
function isGroup(input: JsonObject): boolean {
  return (own(input, 'groupOperator') ?? own(input, 'conditions') ?? null) !== null
}

/** Ignores inherited members, which were not sent. */
function own(input: JsonObject, member: string): unknown {
  return Object.hasOwn(input, member) ? input[member] : undefined
}

function shown(raw: unknown): string {
  if (Array.isArray(raw)) return '[...]'
  return typeof raw === 'object' && raw !== null ? '{...}' : excerpt(String(raw))
}
