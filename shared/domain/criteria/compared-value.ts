import { parseInstantMs } from '../../kernel/timestamp.ts'
import type { ComparedValue, WireScalar } from './condition.ts'
import { parseRelativeDay, wireRelativeDay } from './field-expression.ts'
import { type AttributeType, attributeKind, schemaSource } from './schema.ts'

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const INTEGER = /^[+-]?\d{1,16}$/

/** A value as the evaluator compares it, and as it is stored. */
export type ParsedValue = { readonly value: ComparedValue; readonly wire: WireScalar }

/** The type that a leaf's value must parse as: the field's own, or that of a list's elements. */
export function comparedType(name: string, type: AttributeType): AttributeType {
  if (!isList(type)) return type
  const source = schemaSource(name)
  const kind = source?.kind === 'attribute' ? attributeKind(source.objectType, source.attribute) : undefined
  return kind === 'guids' || kind === 'references' ? 'Guid' : 'String'
}

/** Whether values of the type are lists, on which Contains asks for membership. */
export function isList(type: AttributeType): boolean {
  return type === 'List' || type === 'ExternalList' || type === 'Array'
}

/** Reads a JSON string, number or boolean as the type; undefined when it does not read as one. Decisions, section 5. */
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
      return day === undefined ? parsed(parseInstantMs(text), raw) : { value: day, wire: wireRelativeDay(day) }
    }
    case 'Guid': {
      const lower = GUID.test(text) ? text.toLowerCase() : undefined
      return lower === undefined ? undefined : { value: lower, wire: lower }
    }
    default:
      return { value: text, wire: raw }
  }
}

/** Whether it is surely the number that was sent: a larger one has lost digits, or all of them, when JSON was read. */
function isNumberAsSent(raw: unknown): raw is number {
  return typeof raw === 'number' && Math.abs(raw) <= Number.MAX_SAFE_INTEGER
}

/** A whole number that a double holds exactly; undefined for any other text. */
export function parseInteger(text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

function parsed(value: number | undefined, wire: WireScalar): ParsedValue | undefined {
  return value === undefined ? undefined : { value, wire }
}
