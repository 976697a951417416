import { hasControls } from '../../kernel/control-characters.ts'
import { isGuid } from '../../kernel/guid.ts'
import { nearMiss } from '../../kernel/near-misses.ts'
import { normalisedText } from '../../kernel/normalised-text.ts'
import { type RefusalCode, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import {
  ATTRIBUTES,
  type AttributeDefinition,
  type AttributeKind,
  attributeDefinition,
  CUSTOM_ATTRIBUTE_PREFIX,
  type ObjectType,
} from '../core/core-object.ts'
import { type DataValue, EXTERNAL_ID_LIMIT_COUNT, type ObjectData } from './connector-object.ts'

/** Maximum length of a string attribute in characters, custom attributes included. */
const STRING_LIMIT_COUNT = 2000
const CUSTOM_ATTRIBUTES_LIMIT_COUNT = 100
const LIST_LIMIT_COUNT = 5000
/** Maximum size of an object's data as JSON in UTF-8. A documented limit of the API. */
const DATA_LIMIT_BYTES = 512 * 1024
/** Maximum number of faults reported for one object. */
const FAULTS_REPORTED_COUNT = 50
/** Starts with a letter or digit; at most 100 characters. */
const CUSTOM_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,99}$/u
const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

export type ParsedData = { readonly data: ObjectData; readonly faults: readonly RefusalEntry[] }

type Fault = { readonly code: RefusalCode; readonly message: string; readonly below?: string }
/** The stored form (undefined for a value that is stored as absent), or the faults of the value. */
type Checked = { readonly value: DataValue | undefined } | { readonly faults: readonly Fault[] }

/**
 * Validates `data` by the attributes of its type and converts it to its stored form: normalised texts, GUIDs in lower case, without
 * nulls, blank strings and empty lists, so that blank keys never join identities. Faults have JSON pointers below
 * `target`.
 */
export function parseObjectData(objectType: ObjectType, data: unknown, target: string): ParsedData {
  if (!isRecord(data)) return { data: {}, faults: [refusalEntry('InvalidType', 'data must be an object', target)] }
  const kept: [string, DataValue][] = []
  const faults: RefusalEntry[] = []
  let customCount = 0
  for (const [name, value] of Object.entries(data)) {
    if (faults.length >= FAULTS_REPORTED_COUNT || customCount > CUSTOM_ATTRIBUTES_LIMIT_COUNT) break
    const checked = checkAttribute(objectType, name, value)
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

function checkAttribute(objectType: ObjectType, name: string, value: unknown): Checked {
  const definition = attributeDefinition(objectType, name)
  if (definition === undefined || !isValidName(name)) {
    const meant = name.startsWith(CUSTOM_ATTRIBUTE_PREFIX)
      ? undefined
      : nearMiss(name, Object.keys(ATTRIBUTES[objectType]))
    const hint = meant === undefined ? '' : `, only ${meant}`
    return fault('UnknownAttribute', `${objectType} has no attribute ${name.slice(0, 100)}${hint}`)
  }
  return value === null ? { value: undefined } : CHECKS[definition.kind](value, name, definition)
}

const sizeBytes = (data: ObjectData): number => Buffer.byteLength(JSON.stringify(data))

function isValidName(name: string): boolean {
  return !name.startsWith(CUSTOM_ATTRIBUTE_PREFIX) || CUSTOM_NAME.test(name.slice(CUSTOM_ATTRIBUTE_PREFIX.length))
}

const CHECKS: Record<AttributeKind, (value: unknown, name: string, definition: AttributeDefinition) => Checked> = {
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

function checkString(value: unknown, name: string): Checked {
  if (typeof value !== 'string') return wrongType(name, 'a string')
  const count = characterCount(value)
  if (count > STRING_LIMIT_COUNT) {
    return fault('InvalidLength', `${name} has ${count} characters; the maximum is ${STRING_LIMIT_COUNT}`)
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
  return { value: { externalId } }
}

/**
 * Checks each entry and removes duplicates, keeping the order. An empty list counts as absent.
 */
function checkList(value: unknown, name: string, check: (entry: unknown, name: string) => Checked): Checked {
  if (!Array.isArray(value)) return wrongType(name, 'a list')
  if (value.length > LIST_LIMIT_COUNT) {
    return fault('InvalidLength', `${name} has ${value.length} entries; the maximum is ${LIST_LIMIT_COUNT}`)
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

/** Whether the text is a valid calendar date, with an optional time. */
function isDate(text: string): boolean {
  const [, year, month, day] = ISO_DATE.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.toISOString().startsWith(`${year}-${month}-${day}`)
}

function fault(code: RefusalCode, message: string, below?: string): Checked {
  return { faults: [below === undefined ? { code, message } : { code, message, below }] }
}

const wrongType = (name: string, expected: string): Checked => fault('InvalidType', `${name} must be ${expected}`)

const shown = (value: unknown): string => JSON.stringify(String(value).slice(0, 100))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Escapes a name for a JSON pointer: RFC 6901, section 3. */
const escaped = (name: string): string => name.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')
