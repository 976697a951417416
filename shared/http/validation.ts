import { Ajv2020, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { TObject, TSchema } from 'typebox'
import { hasControls, hasControlsInLines } from '../kernel/control-characters.ts'
import { isGuid } from '../kernel/guid.ts'
import { pointerPart } from '../kernel/json.ts'
import type { RefusalCode } from '../kernel/refusal-register.ts'
import { type RefusalEntry, refusalEntry } from '../kernel/refusals.ts'
import { misspeltMembers, misspeltParameters } from './unknown-names.ts'

/** Errors that one response reports at most. */
const MAX_ERRORS = 50

const ajv = new Ajv2020({ allErrors: true, strict: true, validateSchema: false, verbose: true, allowUnionTypes: true })
addFormats.default(ajv)
ajv.addKeyword({ keyword: 'x-guid', schemaType: 'boolean' })
ajv.addKeyword({
  keyword: 'x-lower-case',
  schemaType: 'boolean',
  type: 'string',
  modifying: true,
  errors: false,
  validate: (_schema: boolean, text: string, _parent?: AnySchemaObject, place?: DataValidationCxt) => {
    if (place !== undefined) place.parentData[place.parentDataProperty] = text.toLowerCase()
    return true
  },
})

const compiled = new WeakMap<object, ValidateFunction>()

/** Schemas are compiled on first use, so that a cold start compiles only what it needs. */
function validator(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile(withoutLongLists(schema) as AnySchemaObject)
  compiled.set(schema, made)
  return made
}

/**
 * Validates the items of a list only if the list is not too long. With a million invalid items, validation would
 * produce a million errors: seconds of work and a gigabyte of memory.
 */
function withoutLongLists(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutLongLists)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutLongLists(part)]))
  if (parts.type !== 'array' || parts.maxItems === undefined || parts.if !== undefined) return parts
  const { items, ...list } = parts
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  return { ...list, if: { maxItems: list.maxItems }, then: { items } }
}

/** The parts of a JSON schema that say which members a value can have. */
type MemberSchema = {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly items?: TSchema
}

/** Returns the body without the optional members that are null: null means left out, except where it is the default. */
export function withoutOptionalNulls(schema: TSchema, body: unknown): unknown {
  const { properties, required = [], items } = schema as MemberSchema
  if (Array.isArray(body)) {
    const hasMembers = items !== undefined && ('properties' in items || 'items' in items)
    return hasMembers ? body.map((item) => withoutOptionalNulls(items, item)) : body
  }
  if (properties === undefined || typeof body !== 'object' || body === null) return body
  const parameters = Object.entries(body).filter(
    ([name, value]) =>
      value !== null || required.includes(name) || !Object.hasOwn(properties, name) || isSetByNull(properties[name]),
  )
  return Object.fromEntries(
    parameters.map(([name, value]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, property === undefined ? value : withoutOptionalNulls(property, value)]
    }),
  )
}

const isSetByNull = (schema: TSchema | undefined): boolean =>
  (schema as { default?: unknown } | undefined)?.default === null

/** All validation errors of a body, misspelt members first, with JSON pointers. Converts GUIDs in the body to lower case. */
export function bodyFaults(schema: TSchema, body: unknown): RefusalEntry[] {
  const validate = validator(schema)
  const misspelt = misspeltMembers(schema, body)
  if (validate(body)) return misspelt
  return [...misspelt, ...entriesOf(validate.errors ?? [], (pointer) => pointer)]
}

/** Members of several lines: they may have line feeds and tabs. */
const LONG_TEXTS: ReadonlySet<string> = new Set(['description', 'notes'])

/** An entry for each text or name of a member with control characters. */
export function controlFaults(value: unknown, pointer = '', name = ''): RefusalEntry[] {
  if (typeof value === 'string') {
    const isFaulty = LONG_TEXTS.has(name) ? hasControlsInLines(value) : hasControls(value)
    return isFaulty ? [refusalEntry('InvalidValue', 'A text must not have control characters', pointer)] : []
  }
  if (typeof value !== 'object' || value === null) return []
  const faults = Object.entries(value).flatMap(([key, member]) => {
    if (hasControls(key)) return [refusalEntry('InvalidValue', 'A name must not have control characters', pointer)]
    return controlFaults(member, `${pointer}/${pointerPart(key)}`, key)
  })
  return faults.slice(0, MAX_ERRORS)
}

/** Parameters as they are read, with an entry for each invalid one; `target` is its name. */
export type ReadParameters<Value> = {
  readonly values: Readonly<Record<string, Value>>
  readonly faults: readonly RefusalEntry[]
}

/** Whether a message has this shape. */
export function conforms(schema: TSchema, value: unknown): boolean {
  return validator(schema)(value) === true
}

/**
 * Parses the query: numbers, booleans and lists are converted from text. Unknown parameters are ignored unless they
 * resemble a known one.
 */
export function readQuery(schema: TObject | undefined, search: URLSearchParams): ReadParameters<unknown> {
  if (schema === undefined) return { values: {}, faults: [] }
  const query: Record<string, unknown> = {}
  const twice: RefusalEntry[] = []
  for (const [name, property] of Object.entries(schema.properties as Record<string, TSchema & { type?: string }>)) {
    const values = search.getAll(name)
    if (values.length === 0) continue
    if (property.type === 'array') query[name] = values
    else query[name] = readText(values[0] ?? '', property.type)
    const isTwice = property.type !== 'array' && values.length > 1
    if (isTwice) twice.push(refusalEntry('InvalidValue', `${name} must not be repeated`, name))
  }
  const validate = validator(schema)
  const faults = validate(query) ? [] : entriesOf(validate.errors ?? [], (pointer) => pointer.split('/')[1] ?? '')
  const all = [
    ...misspeltParameters(schema, search),
    ...twice,
    ...faults.filter(({ target }) => twice.every((entry) => entry.target !== target)),
  ]
  return { values: query, faults: all }
}

function readText(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/**
 * Validates the path parameters and converts GUIDs to lower case. The code of those that must be a GUID is `InvalidId`.
 */
export function readPath(
  path: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, TSchema>> = {},
): ReadParameters<string> {
  const entries = Object.entries(path)
  const faults = entries.flatMap(([name, value]) => pathFaults(name, value, schemas[name]))
  const values = entries.map(([name, value]) => [name, schemas[name] === undefined ? value.toLowerCase() : value])
  return { values: Object.fromEntries(values), faults }
}

function pathFaults(name: string, value: string, schema: TSchema | undefined): RefusalEntry[] {
  if (schema === undefined) return isGuid(value) ? [] : [refusalEntry('InvalidId', `${value} is not a GUID`, name)]
  const validate = validator(schema)
  return validate(value) ? [] : entriesOf(validate.errors ?? [], () => name, name)
}

const CODE_OF_KEYWORD: Readonly<Record<string, RefusalCode>> = {
  required: 'MissingMember',
  type: 'InvalidType',
  minLength: 'InvalidLength',
  maxLength: 'InvalidLength',
  minItems: 'InvalidLength',
  maxItems: 'InvalidLength',
  maxProperties: 'InvalidLength',
}

/** @param whole The name of the validated value, for errors at its root. */
function entriesOf(
  errors: readonly ErrorObject[],
  target: (pointer: string) => string,
  whole = 'The body',
): RefusalEntry[] {
  const specific = errors.filter((error) => !SUMMARIES.has(error.keyword) && !isNullBranch(error))
  const first = new Map<string, ErrorObject>()
  for (const error of specific.length > 0 ? specific : errors) {
    const pointer = pointerOf(error)
    if (!first.has(pointer)) first.set(pointer, error)
  }
  return [...first].slice(0, MAX_ERRORS).map(([pointer, error]) => {
    const parent = error.parentSchema as { 'x-guid'?: boolean } | undefined
    const code = parent?.['x-guid'] && error.keyword === 'pattern' ? 'InvalidId' : CODE_OF_KEYWORD[error.keyword]
    return refusalEntry(code ?? 'InvalidValue', messageOf(error, pointer, whole), target(pointer))
  })
}

/** Errors that only summarize others. Reported when there are no others. */
const SUMMARIES: ReadonlySet<string> = new Set(['anyOf', 'if', 'propertyNames'])

/** Errors are reported once per place: null, for example, has the wrong type and is not in the enum either. */
function pointerOf({ keyword, instancePath, params, propertyName }: ErrorObject): string {
  const member = keyword === 'required' ? params.missingProperty : propertyName
  return member === undefined ? instancePath : `${instancePath}/${pointerPart(member)}`
}

/** The null branch of a nullable schema. The error of the other branch is the useful one. */
function isNullBranch({ keyword, params }: ErrorObject): boolean {
  return keyword === 'type' && params.type === 'null'
}

/** The requirement of each schema keyword, in words. */
const REQUIREMENTS: Readonly<Record<string, (required: unknown) => string>> = {
  type: (type) => `must be of type ${[type].flat().join(' or ')}`,
  enum: (words) => `must be one of ${[words].flat().join(', ')}`,
  minLength: (length) => `must have at least ${length} characters`,
  maxLength: (length) => `must have at most ${length} characters`,
  minItems: (count) => `must have at least ${count} entries`,
  maxItems: (count) => `must have at most ${count} entries`,
  maxProperties: (count) => `must have at most ${count} members`,
  minimum: (least) => `must be at least ${least}`,
  maximum: (most) => `must be at most ${most}`,
  pattern: (pattern) => (pattern === '\\S' ? 'must not be blank' : `must match ${pattern}`),
}

function messageOf(error: ErrorObject, pointer: string, whole: string): string {
  const name = pointer === '' ? whole : pointer.slice(1).replaceAll('/', '.')
  const parent = error.parentSchema as { 'x-guid'?: boolean } | undefined
  if (error.keyword === 'required') return `${name} is required`
  if (parent?.['x-guid']) return `${name} must be a GUID, not ${shown(error.data)}`
  const requirement = REQUIREMENTS[error.keyword]?.(error.schema) ?? error.message
  return `${name} ${requirement}, not ${shown(error.data)}`
}

/** The offending value, short enough for a message. */
function shown(value: unknown): string {
  if (typeof value === 'string' && value.length > 100) return `a string of ${value.length} characters`
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return JSON.stringify(value) ?? 'nothing'
}
