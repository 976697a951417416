import { normalisedText } from '../../kernel/normalised-text.ts'
import { schemaName } from './attribute-names.ts'
import { CUSTOM_ATTRIBUTE_PREFIX, type ObjectType } from './core-object.ts'

/** The types that a connector can give to a custom attribute. */
export const CUSTOM_TYPES = ['String', 'Integer', 'Boolean', 'DateTime', 'StringList'] as const
export type CustomType = (typeof CUSTOM_TYPES)[number]

/**
 * The types of a tenant's custom attributes, by schema name. An attribute without an entry is a string.
 *
 * A type decides how stored values are read and not how they are stored: a list is stored as a list of strings, every
 * other value as a string. So a change of a type changes no stored value, and it takes effect for all values at once.
 */
export type CustomTypes = ReadonlyMap<string, CustomType>

export const NO_CUSTOM_TYPES: CustomTypes = new Map()

export function isCustomAttribute(attribute: string): boolean {
  return attribute.startsWith(CUSTOM_ATTRIBUTE_PREFIX) && attribute.length > CUSTOM_ATTRIBUTE_PREFIX.length
}

/** The type of a custom attribute. @param attribute As in `custom/<name>`. */
export function customTypeOf(types: CustomTypes, objectType: ObjectType, attribute: string): CustomType {
  return types.get(schemaName(objectType, attribute)) ?? 'String'
}

export function isSameCustomTypes(one: CustomTypes, other: CustomTypes): boolean {
  return one === other || (one.size === other.size && one.entries().every(([name, type]) => other.get(name) === type))
}

/** Equal for equal types; empty without types. */
export function fingerprintOf(types: CustomTypes): string {
  return types.size === 0 ? '' : JSON.stringify([...types].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** A value of a custom attribute as JSON of its type. */
export type CustomValue = string | number | boolean | readonly string[]

/**
 * Reads a value as a type: a stored one, or one in a request that has been normalised. Undefined for a value that does
 * not read as the type. A list of one string and that string read as each other.
 */
export function readAs(type: CustomType, value: unknown): CustomValue | undefined {
  if (type === 'StringList') return textsIn(value)
  const [text, ...more] = scalarsIn(value)
  if (text === undefined || more.length > 0) return undefined
  switch (type) {
    case 'String':
      return text
    case 'Integer':
      return parseInteger(text)
    case 'Boolean':
      return parseBoolean(text)
    case 'DateTime':
      return isDate(text) ? text : undefined
  }
}

/** The form in which a value is stored. */
export function storedForm(value: CustomValue): string | readonly string[] {
  return typeof value === 'object' ? value : String(value)
}

/** The values of an object as JSON of their types. Custom attributes whose values do not read as their type are left out. */
export function asTyped<Value>(
  objectType: ObjectType,
  attributes: Readonly<Record<string, Value>>,
  types: CustomTypes,
): Readonly<Record<string, Value | CustomValue>> {
  const entries = Object.entries(attributes).flatMap(([name, value]): [string, Value | CustomValue][] => {
    const type = isCustomAttribute(name) ? customTypeOf(types, objectType, name) : undefined
    if (type === undefined || (type === 'String' && typeof value === 'string')) return [[name, value]]
    const read = readAs(type, value)
    return read === undefined ? [] : [[name, read]]
  })
  return Object.fromEntries(entries)
}

function scalarsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.every((entry) => typeof entry === 'string') ? value : []
  if (typeof value === 'string') return [normalisedText(value)]
  return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []
}

function textsIn(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [normalisedText(value)]
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined
}

const INTEGER = /^[+-]?\d{1,16}$/

/** An integer that a double represents exactly; undefined for any other text. */
export function parseInteger(text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : Number.NaN
  // Adding zero turns -0 into 0.
  return Number.isSafeInteger(value) ? value + 0 : undefined
}

/** `true` or `false`, in any case; undefined for any other text. */
function parseBoolean(text: string): boolean | undefined {
  const lower = text.length > 5 ? '' : text.toLowerCase()
  return lower === 'true' || lower === 'false' ? lower === 'true' : undefined
}

const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

/** Whether the text is a valid calendar date, with an optional time. */
export function isDate(text: string): boolean {
  const [, year, month, day] = ISO_DATE.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.toISOString().startsWith(`${year}-${month}-${day}`)
}
