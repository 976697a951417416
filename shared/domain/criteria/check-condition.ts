import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { nearMiss } from '../../kernel/near-misses.ts'
import { checkLeaf } from './check-leaf.ts'
import {
  type CheckedCondition,
  type CheckedGroup,
  type CheckedNode,
  GROUP_OPERATORS,
  GROUP_RANGES,
  type GroupRange,
  type WireGroup,
  type WireLeaf,
} from './condition.ts'
import {
  type Checked,
  type ConditionFault,
  type ConditionOrigin,
  checkWord,
  type Findings,
  type InputObject,
  isObject,
  MAX_FAULT_COUNT,
  MAX_LEAF_COUNT,
  own,
  report,
} from './condition-findings.ts'
import type { ConditionSchema } from './schema.ts'

/** Levels of groups, including the root. */
export const MAX_DEPTH = 16

export type ConditionCheck =
  | { readonly ok: true; readonly condition: CheckedCondition }
  | { readonly ok: false; readonly faults: readonly ConditionFault[] }

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
  input: InputObject,
  pointer: string,
  depth: number,
  findings: Findings,
): Task<Checked<CheckedGroup, WireGroup> | undefined> {
  if (depth > MAX_DEPTH) {
    return report(findings, 'ConditionTooDeep', `A condition may be at most ${MAX_DEPTH} groups deep`, pointer)
  }
  const operator = checkWord(input, 'groupOperator', GROUP_OPERATORS, 'UnknownGroupOperator', pointer, findings)
  const over = checkRange(input, pointer, findings)
  for (const member of LEAF_MEMBERS) {
    if ((own(input, member) ?? null) === null) continue
    report(findings, 'InvalidMember', `${member} is a property of leaves`, `${pointer}/${member}`)
  }
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
function checkRange(input: InputObject, pointer: string, findings: Findings): { over?: GroupRange } {
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

export const LEAF_MEMBERS = ['id', 'field', 'operator', 'value']

/** Groups and leaves: clients with one type for both send null for the members of the other. */
const NODE_MEMBERS = ['groupOperator', 'over', 'conditions', ...LEAF_MEMBERS]

/** Reports members that resemble a known one. Nothing else is checked then: the rest follows from what is meant. */
function hasMisspeltMembers(input: InputObject, pointer: string, findings: Findings): boolean {
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

/** Whether further faults are of no use to the caller. */
function isHopeless(findings: Findings): boolean {
  return findings.leafCount > MAX_LEAF_COUNT || findings.faults.length >= MAX_FAULT_COUNT
}

/** Clients with one type for groups and leaves send null for the members of the other. */
function isGroup(input: InputObject): boolean {
  return (own(input, 'groupOperator') ?? own(input, 'conditions') ?? null) !== null
}
