import { hasControls } from '../../kernel/control-characters.ts'
import { isGuid } from '../../kernel/guid.ts'
import { pointerPart } from '../../kernel/json.ts'
import { nearMiss } from '../../kernel/near-misses.ts'
import { normalisedText } from '../../kernel/normalised-text.ts'
import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import {
  ATTRIBUTES,
  type AttributeKind,
  attributeDefinition,
  CUSTOM_ATTRIBUTE_PREFIX,
  type ObjectType,
} from '../core/core-object.ts'
import {
  type CustomType,
  type CustomTypes,
  customTypeOf,
  isCustomAttribute,
  isDate,
  NO_CUSTOM_TYPES,
  readAs,
  storedForm,
} from '../core/custom-types.ts'
import { type DataValue, EXTERNAL_ID_LIMIT_COUNT, type ObjectData } from './connector-object.ts'

/** Maximum length of a string attribute in characters, custom attributes included. */
const STRING_LIMIT_COUNT = 2000
const CUSTOM_ATTRIBUTES_LIMIT_COUNT = 100
const LIST_LIMIT_COUNT = 5000
/** Texts of a custom attribute that is a list, and characters of each. */
const [MAX_TEXTS, TEXT_LIMIT_COUNT] = [100, 400]
/** Maximum size of an object's data as JSON in UTF-8. A documented limit of the API. */
const DATA_LIMIT_BYTES = 512 * 1024
/** Maximum number of faults reported for one object. */
const FAULTS_REPORTED_COUNT = 50
/** Starts with a letter or digit; at most 100 characters. */
const CUSTOM_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,99}$/u

export type ParsedData = { readonly data: ObjectData; readonly faults: readonly RefusalEntry[] }

type Fault = { readonly code: RefusalCode; readonly message: string; readonly below?: string }
/** The stored form (undefined for a value that is stored as absent), or the faults of the value. */
type Checked = { readonly value: DataValue | undefined } | { readonly faults: readonly Fault[] }

/**
 * Validates `data` by the attributes of its type and converts it to its stored form: normalised texts, GUIDs in lower case, without
 * nulls, blank strings and empty lists, so that blank keys never join identities. Faults have JSON pointers below
 * `target`.
 * @param types Of the tenant's custom attributes.
 */
export function parseObjectData(
  objectType: ObjectType,
  data: unknown,
  target: string,
  types: CustomTypes = NO_CUSTOM_TYPES,
): ParsedData {
  if (!isRecord(data)) return { data: {}, faults: [refusalEntry('InvalidType', 'data must be an object', target)] }
  const kept: [string, DataValue][] = []
  const faults: RefusalEntry[] = []
  let customCount = 0
  for (const [name, value] of Object.entries(data)) {
    if (faults.length >= FAULTS_REPORTED_COUNT || customCount > CUSTOM_ATTRIBUTES_LIMIT_COUNT) break
    const checked = checkAttribute(objectType, name, value, types)
    if ('faults' in checked) {
      const place = `${target}/${escaped(name)}`
      faults.push(...checked.faults.map(({ code, message, below = '' }) => refusalEntry(code, message, place + below)))
    } else if (checked.value !== undefined) {
      kept.push([name, checked.value])
      if (name.startsWith(CUSTOM_ATTRIBUTE_PREFIX)) customCount += 1
    }
  }
  if (customCount > CUSTOM_ATTRIBUTES_LIMIT_COUNT) {
    faults.push(
      refusalEntry('InvalidLength', `data has more than ${CUSTOM_ATTRIBUTES_LIMIT_COUNT} custom attributes`, target),
    )
  }
  const read = Object.fromEntries(kept)
  if (faults.length === 0 && sizeBytes(read) > DATA_LIMIT_BYTES) {
    faults.push(refusalEntry('InvalidLength', `data is larger than ${DATA_LIMIT_BYTES} bytes`, target))
  }
  return { data: read, faults: faults.slice(0, FAULTS_REPORTED_COUNT) }
}

function checkAttribute(objectType: ObjectType, name: string, value: unknown, types: CustomTypes): Checked {
  const definition = attributeDefinition(objectType, name)
  if (definition === undefined || !isValidName(name)) {
    const meant = name.startsWith(CUSTOM_ATTRIBUTE_PREFIX)
      ? undefined
      : nearMiss(name, Object.keys(ATTRIBUTES[objectType]))
    const hint = meant === undefined ? '' : `, only ${meant}`
    return fault('UnknownAttribute', `${objectType} has no attribute ${name.slice(0, 100)}${hint}`)
  }
  if (value === null) return { value: undefined }
  const type = isCustomAttribute(name) ? customTypeOf(types, objectType, name) : 'String'
  return type === 'String' ? CHECKS[definition.kind](value, name) : checkTyped(value, name, type)
}

const TYPE_NAMES = {
  Integer: `an integer of at most ${Number.MAX_SAFE_INTEGER}`,
  Boolean: 'true or false',
  DateTime: 'an ISO 8601 date or timestamp',
  StringList: 'a list of strings',
} as const satisfies Record<Exclude<CustomType, 'String'>, string>

/** Checks a value of a custom attribute whose type is not String. */
function checkTyped(value: unknown, name: string, type: Exclude<CustomType, 'String'>): Checked {
  if (type === 'StringList' && Array.isArray(value)) return checkList(value, name, checkEntry, MAX_TEXTS)
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  if (typeof value !== 'string' && !isScalar) return wrongType(name, TYPE_NAMES[type])
  const check = type === 'StringList' ? checkEntry : checkString
  const checked = check(isScalar && type !== 'StringList' ? String(value) : value, name)
  if ('faults' in checked || checked.value === undefined) return checked
  const read = readAs(type, checked.value)
  if (read !== undefined) return { value: storedForm(read) }
  return fault('InvalidValue', `${name} must be ${TYPE_NAMES[type]}, not ${shown(value)}`)
}

/** A text in a list. */
function checkEntry(value: unknown, name: string): Checked {
  return checkString(value, name, TEXT_LIMIT_COUNT)
}

const sizeBytes = (data: ObjectData): number => Buffer.byteLength(JSON.stringify(data))

function isValidName(name: string): boolean {
  return !name.startsWith(CUSTOM_ATTRIBUTE_PREFIX) || CUSTOM_NAME.test(name.slice(CUSTOM_ATTRIBUTE_PREFIX.length))
}

const CHECKS: Record<AttributeKind, (value: unknown, name: string) => Checked> = {
  string: (value, name) => checkString(value, name),
  boolean: (value, name) => (typeof value === 'boolean' ? { value } : wrongType(name, 'true or false')),
  date: (value, name) => {
    const checked = checkString(value, name)
    if ('faults' in checked || checked.value === undefined || isDate(String(checked.value))) return checked
    return fault('InvalidValue', `${name} must be an ISO 8601 date or timestamp, not ${shown(value)}`)
  },
  guid: (value, name) => (isBlank(value) ? { value: undefined } : checkGuid(value, name)),
  guids: (value, name) => checkList(value, name, checkGuid),
  reference: (value, name) => checkReference(value, name),
  references: (value, name) => checkList(value, name, checkReference),
}

function checkString(value: unknown, name: string, limitCount = STRING_LIMIT_COUNT): Checked {
  if (typeof value !== 'string') return wrongType(name, 'a string')
  const count = characterCount(value)
  if (count > limitCount) {
    return fault('InvalidLength', `${name} has ${count} characters; the maximum is ${limitCount}`)
  }
  if (isBlank(value)) return { value: undefined }
  if (hasControls(value)) return fault('InvalidValue', `${name} contains a control character`)
  if (!value.isWellFormed()) return fault('InvalidValue', `${name} contains an unpaired surrogate`)
  return { value: normalisedText(value) }
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

function checkGuid(value: unknown, name: string): Checked {
  if (typeof value !== 'string') return wrongType(name, 'a GUID')
  if (!isGuid(value)) return fault('InvalidId', `${name} must be a GUID, not ${shown(value)}`)
  return { value: value.toLowerCase() }
}

const REFERENCE_MEMBERS = ['externalId']

function checkReference(value: unknown, name: string): Checked {
  if (!isRecord(value)) return wrongType(name, 'a reference { "externalId": "..." }')
  const { externalId } = value
  if (typeof externalId === 'string' && hasControls(externalId))
    return fault('InvalidValue', `${name}.externalId contains a control character`, '/externalId')
  const misspelt = Object.keys(value).find((key) => nearMiss(key, REFERENCE_MEMBERS) !== undefined)
  if (misspelt !== undefined) {
    return fault('UnknownMember', `There is no member ${misspelt}, only externalId`, `/${escaped(misspelt)}`)
  }
  if (typeof externalId !== 'string') return fault('InvalidType', `${name}.externalId must be a string`, '/externalId')
  if (externalId === '' || characterCount(externalId) > EXTERNAL_ID_LIMIT_COUNT) {
    return fault(
      'InvalidLength',
      `${name}.externalId must have 1 to ${EXTERNAL_ID_LIMIT_COUNT} characters`,
      '/externalId',
    )
  }
  if (!externalId.isWellFormed())
    return fault('InvalidValue', `${name}.externalId contains an unpaired surrogate`, '/externalId')
  return { value: { externalId } }
}

/**
 * Checks each entry and removes duplicates, keeping the order. An empty list counts as absent.
 */
function checkList(
  value: unknown,
  name: string,
  check: (entry: unknown, name: string) => Checked,
  limitCount = LIST_LIMIT_COUNT,
): Checked {
  if (!Array.isArray(value)) return wrongType(name, 'a list')
  if (value.length > limitCount) {
    return fault('InvalidLength', `${name} has ${value.length} entries; the maximum is ${limitCount}`)
  }
  const entries = new Map<string, DataValue>()
  const faults: Fault[] = []
  for (const [index, entry] of value.entries()) {
    const checked = check(entry, name)
    if ('faults' in checked) {
      faults.push(...checked.faults.map((found) => ({ ...found, below: `/${index}${found.below ?? ''}` })))
    } else if (checked.value !== undefined) entries.set(JSON.stringify(checked.value), checked.value)
  }
  if (faults.length > 0) return { faults }
  return { value: entries.size === 0 ? undefined : ([...entries.values()] as string[]) }
}

function fault(code: RefusalCode, message: string, below?: string): Checked {
  return { faults: [below === undefined ? { code, message } : { code, message, below }] }
}

const wrongType = (name: string, expected: string): Checked => fault('InvalidType', `${name} must be ${expected}`)

const shown = (value: unknown): string => JSON.stringify(String(value).slice(0, 100))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Escapes a name for a JSON pointer: RFC 6901, section 3. */
const escaped = (name: string): string => pointerPart(name.slice(0, 200))
