import type { RefusalCode } from '../../kernel/refusal-register.ts'
import type { CheckedNode } from './condition.ts'
import { excerpt } from './field-expression.ts'
import type { ConditionSchema } from './schema.ts'

/** Leaves of a condition, at any depth. */
export const MAX_LEAF_COUNT = 500

/** Limits the response to a very large invalid condition. */
export const MAX_FAULT_COUNT = 1000

/** `pointer` is a JSON pointer into the condition, '' its root. */
export type ConditionFault = { readonly code: RefusalCode; readonly message: string; readonly pointer: string }

/**
 * Where a condition comes from. Some values of a request are refused because they nearly always mean something else. A
 * stored condition with such a value stays valid.
 */
export type ConditionOrigin = 'request' | 'stored'

/** What the check of a condition has found so far, and what it depends on. */
export type Findings = {
  readonly schema: ConditionSchema
  readonly origin: ConditionOrigin
  readonly objectType: string | undefined
  /** Whether the node is within a group over all positions. */
  isOverPositions: boolean
  readonly faults: ConditionFault[]
  leafCount: number
}

/** A node as it is evaluated and as it is stored. */
export type Checked<Node extends CheckedNode, Wire> = { readonly node: Node; readonly wire: Wire }
/** An object as it was sent, before it is checked. */
export type InputObject = Readonly<Record<string, unknown>>

/** A member that must be a text. Reports another one. */
export function checkText(input: InputObject, member: string, pointer: string, findings: Findings): string | undefined {
  const text = own(input, member)
  if (typeof text === 'string') return text
  if (text === undefined) return report(findings, 'MissingMember', `${member} is required`, `${pointer}/${member}`)
  return report(findings, 'InvalidMember', `${member} must be a string`, `${pointer}/${member}`)
}

/** A member that must be one of some words, in any case. Reports another one. */
export function checkWord<Word extends string>(
  input: InputObject,
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

export function reportUnknownField(name: string, pointer: string, findings: Findings): undefined {
  return report(findings, 'FieldNotInSchema', `Field ${excerpt(name)} does not exist in schema`, pointer)
}

/** Reports a fault, unless there are too many. @returns Undefined, which callers return for a node with faults. */
export function report(findings: Findings, code: RefusalCode, message: string, pointer: string): undefined {
  if (findings.faults.length < MAX_FAULT_COUNT) findings.faults.push({ code, message, pointer })
}

export function isObject(input: unknown): input is InputObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

/** Ignores inherited members, which were not sent. */
export function own(input: InputObject, member: string): unknown {
  return Object.hasOwn(input, member) ? input[member] : undefined
}

/** A value for the message of a fault. */
export function shown(raw: unknown): string {
  if (Array.isArray(raw)) return '[...]'
  return typeof raw === 'object' && raw !== null ? '{...}' : excerpt(String(raw))
}
