import { normalisedOperand } from '../../kernel/normalised-text.ts'
import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { parseInstantMs } from '../../kernel/timestamp.ts'
import { attributeKind } from '../core/attribute-names.ts'
import { parseInteger } from '../core/custom-types.ts'
import { isComputed } from './computed-attributes.ts'
import type { ComparedValue, FieldFunction, RelativeDay, WireScalar } from './condition.ts'
import { type AttributeType, schemaSource } from './schema.ts'

/** Functions around one field. The limit equals that of the depth of the tree. */
const MAX_FUNCTION_COUNT = 16
/** The range of an ECMAScript date, in days before and after 1970. */
const MAX_DAYS = 100_000_000

const CALL = /^([A-Za-z]+)\s*\(/
const WHOLE_NUMBER = /^-?\d{1,15}$/

/** The type of field that each function works on. */
export const FUNCTION_TYPES = {
  Substring: 'String',
  ToUpper: 'String',
  ToLower: 'String',
  AddDays: 'DateTime',
  Today: 'DateTime',
} as const satisfies Record<FieldFunction['name'], AttributeType>
export type FunctionName = keyof typeof FUNCTION_TYPES

/** The start of a call of a function of days. */
const DAY_CALL = /^(?:Today|AddDays)\s*\(/i

export type FieldFault = { readonly code: RefusalCode; readonly message: string }
export type FieldExpression = { readonly functions: readonly FieldFunction[]; readonly wire: string }

/**
 * Parses `field`: the attribute in `id`, or functions around it. Function names ignore case. Attribute names may
 * contain commas and brackets, so calls are removed from the outside until `id` is left.
 */
export function parseField(field: string, id: string, type: AttributeType): FieldExpression | FieldFault {
  const outermostFirst: FieldFunction[] = []
  let rest = field.trim()
  while (rest !== id) {
    const call = outermostCall(rest)
    if (call === undefined)
      return { code: 'FieldNotNamedById', message: `Field ${excerpt(field)} does not read ${excerpt(id)}` }
    if ('code' in call) return call
    outermostFirst.push(call.function)
    if (outermostFirst.length > MAX_FUNCTION_COUNT) {
      return { code: 'TooManyFunctions', message: `A field may have at most ${MAX_FUNCTION_COUNT} functions around it` }
    }
    if (call.function.name === 'Today') break
    rest = call.inner
  }
  return functionFault(outermostFirst, type) ?? expression(outermostFirst.reverse(), id)
}

/** `Today()` or `AddDays(Today(),n)`; undefined for any other text. */
function parseRelativeDay(text: string): RelativeDay | undefined {
  const outer = outermostCall(text.trim())
  if (outer === undefined || 'code' in outer) return undefined
  if (outer.function.name === 'Today') return { daysFromToday: 0 }
  if (outer.function.name !== 'AddDays') return undefined
  const inner = outermostCall(outer.inner)
  if (inner === undefined || 'code' in inner || inner.function.name !== 'Today') return undefined
  return { daysFromToday: outer.function.days }
}

/** Whether a value is written as a call of `Today` or `AddDays`, valid or not. */
export function isDayFunction(text: string): boolean {
  const call = text.trim()
  return call.endsWith(')') && DAY_CALL.test(call)
}

/** The stored form of a relative day. */
function wireRelativeDay(day: RelativeDay): string {
  return day.daysFromToday === 0 ? 'Today()' : `AddDays(Today(),${day.daysFromToday})`
}

/** The start of a text for a message; the text may be a mebibyte long. */
export function excerpt(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}...`
}

function functionFault(functions: readonly FieldFunction[], type: AttributeType): FieldFault | undefined {
  if (type === 'DateTime' && functions.length > 1) {
    return { code: 'NestedFunctions', message: 'Nested functions not allowed on DateTime field' }
  }
  const misplaced = functions.find(({ name }) => FUNCTION_TYPES[name] !== type)
  if (misplaced === undefined) return undefined
  return { code: 'FunctionNotAllowed', message: `Function ${misplaced.name} not allowed on ${type} field` }
}

type Call = { readonly function: FieldFunction; readonly inner: string }

function outermostCall(text: string): Call | FieldFault | undefined {
  const match = CALL.exec(text)
  if (match === null || !text.endsWith(')')) return undefined
  const written = match[1] as string
  const name = (Object.keys(FUNCTION_TYPES) as FunctionName[]).find(
    (known) => known.toLowerCase() === written.toLowerCase(),
  )
  if (name === undefined) return { code: 'UnknownFunction', message: `Function ${excerpt(written)} does not exist` }
  const call = readArguments(name, text.slice(match[0].length, -1).trim())
  return (
    call ?? {
      code: 'InvalidFunctionArgument',
      message: `Function ${name} has arguments that are not valid: ${excerpt(text)}`,
    }
  )
}

function readArguments(name: FunctionName, text: string): Call | undefined {
  switch (name) {
    case 'ToUpper':
    case 'ToLower':
      return { function: { name }, inner: text }
    case 'Today':
      return text === '' ? { function: { name }, inner: '' } : undefined
    case 'AddDays': {
      const [inner, days] = lastArgument(text)
      return days === undefined || Math.abs(days) > MAX_DAYS ? undefined : { function: { name, days }, inner }
    }
    case 'Substring': {
      const [before, length] = lastArgument(text)
      const [inner, start] = lastArgument(before)
      if (start === undefined || length === undefined || start < 0 || length < 0) return undefined
      return { function: { name, start, length }, inner }
    }
  }
}

function lastArgument(text: string): [before: string, argument: number | undefined] {
  const comma = text.lastIndexOf(',')
  const argument = text.slice(comma + 1).trim()
  // Adding zero turns -0 into 0.
  return [text.slice(0, Math.max(comma, 0)).trim(), WHOLE_NUMBER.test(argument) ? Number(argument) + 0 : undefined]
}

function expression(functions: readonly FieldFunction[], id: string): FieldExpression {
  return { functions, wire: functions.reduce(wireCall, id) }
}

function wireCall(inner: string, call: FieldFunction): string {
  switch (call.name) {
    case 'Substring':
      return `Substring(${inner},${call.start},${call.length})`
    case 'AddDays':
      return `AddDays(${inner},${call.days})`
    case 'Today':
      return 'Today()'
    default:
      return `${call.name}(${inner})`
  }
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE = /^\d{4}-\d\d-\d\d$/

/** A value in compared and in stored form. */
export type ParsedValue = { readonly value: ComparedValue; readonly wire: WireScalar }

/** The type of a leaf's value: that of the field, or of the elements of a list. */
export function comparedType(name: string, type: AttributeType): AttributeType {
  if (!isList(type)) return type
  if (isComputed(name)) return 'Guid'
  const source = schemaSource(name)
  const kind = source?.kind === 'attribute' ? attributeKind(source.objectType, source.attribute) : undefined
  return kind === 'guids' || kind === 'references' ? 'Guid' : 'String'
}

/** Whether the type is a list, on which Contains tests membership. */
export function isList(type: AttributeType): boolean {
  return type === 'List' || type === 'ExternalList' || type === 'Array' || type === 'StringList'
}

/** Parses a JSON string, number or boolean as the type; undefined when it is not valid. */
export function parseValue(raw: unknown, type: AttributeType): ParsedValue | undefined {
  if (typeof raw !== 'string' && typeof raw !== 'boolean' && !isNumberAsSent(raw)) return undefined
  const text = String(raw)
  switch (type) {
    case 'Integer':
      return parsed(parseInteger(text), raw)
    case 'Boolean': {
      const lower = text.length > 5 ? '' : text.toLowerCase()
      return lower === 'true' || lower === 'false' ? { value: lower, wire: raw } : undefined
    }
    case 'DateTime': {
      const day = parseRelativeDay(text)
      if (day !== undefined) return { value: day, wire: wireRelativeDay(day) }
      const instantMs = parseInstantMs(text)
      return DATE.test(text) && instantMs !== undefined ? { value: { date: text }, wire: raw } : parsed(instantMs, raw)
    }
    case 'Guid': {
      const lower = GUID.test(text) ? text.toLowerCase() : undefined
      return lower === undefined ? undefined : { value: lower, wire: lower }
    }
    default: {
      const value = normalisedOperand(text)
      return { value, wire: typeof raw === 'string' ? value : raw }
    }
  }
}

/** Whether the number is exactly the one that was sent: larger ones lose digits when JSON is parsed. */
function isNumberAsSent(raw: unknown): raw is number {
  return typeof raw === 'number' && Math.abs(raw) <= Number.MAX_SAFE_INTEGER
}

function parsed(value: number | undefined, wire: WireScalar): ParsedValue | undefined {
  return value === undefined ? undefined : { value, wire }
}
