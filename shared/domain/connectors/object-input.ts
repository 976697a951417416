import { hasControls } from '../../kernel/control-characters.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { nearMiss } from '../../kernel/near-misses.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import { EXTERNAL_ID_LIMIT_COUNT, type ObjectData } from './connector-object.ts'
import { parseObjectData } from './object-data.ts'

export const BATCH_OPERATIONS = ['upsert', 'delete'] as const
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const INVALID_IN_STORED_NAME = /[\u0000-\u001f\u007f\p{Cs}]/u

/**
 * One change of a connector space. `create` requires that no live object of these names exists, `replace` that one
 * does. `recreate` is a retried `create`: it also accepts a live object with the same data. `rejoin` keeps the data and
 * assigns the core object again. `replace` and `delete` apply only to a version in `ifMatch`, when there is one.
 */
export type ObjectWrite =
  | {
      readonly operation: 'create' | 'recreate' | 'upsert' | 'replace' | 'rejoin'
      readonly objectType: ObjectType
      readonly externalId: string
      readonly data: ObjectData
      /** Only of an `upsert`: the name that the object has had so far. */
      readonly previousExternalId?: string | undefined
      /** Only of a `rejoin`: whether the object was created a moment ago, beside none with its keys. */
      readonly isNew?: boolean
      readonly ifMatch?: string | undefined
    }
  | {
      readonly operation: 'delete'
      readonly objectType: ObjectType
      readonly externalId: string
      readonly ifMatch?: string | undefined
    }

/** A change parsed from a request, or all its faults. */
export type ParsedWrite = { readonly write: ObjectWrite } | { readonly faults: readonly RefusalEntry[] }

/**
 * Parses the items of a batch independently, one in each step. When several items name the same object, by its present or
 * its former name, the first is accepted.
 * @param types Of the tenant's custom attributes.
 */
export function* parseBatchItems(items: readonly unknown[], types: CustomTypes): Task<ParsedWrite[]> {
  const named = new Set<string>()
  const parsed: ParsedWrite[] = []
  for (const [index, item] of items.entries()) {
    yield
    parsed.push(withoutDuplicate(readItem(item, `/items/${index}`, types), index, named))
  }
  return parsed
}

function withoutDuplicate(read: ParsedWrite, index: number, named: Set<string>): ParsedWrite {
  if ('faults' in read) return read
  const { write } = read
  const externalIds = [write.externalId, ('previousExternalId' in write && write.previousExternalId) || []].flat()
  const nameOf = (externalId: string) => JSON.stringify([write.objectType, externalId])
  const twice = externalIds.find((externalId) => named.has(nameOf(externalId)))
  if (twice !== undefined) {
    const message = `An earlier item of the batch also names ${write.objectType} ${twice}`
    return { faults: [refusalEntry('DuplicateItem', message, `/items/${index}`)] }
  }
  for (const externalId of externalIds) named.add(nameOf(externalId))
  return read
}

function readItem(item: unknown, target: string, types: CustomTypes): ParsedWrite {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { faults: [refusalEntry('InvalidType', 'An item must be an object', target)] }
  }
  const { op, objectType, externalId, previousExternalId: previous, data } = item as Record<string, unknown>
  const faults = [
    ...misspeltFaults(item, target),
    ...enumFaults(op, BATCH_OPERATIONS, 'op', target),
    ...enumFaults(objectType, OBJECT_TYPES, 'objectType', target),
    ...externalIdFaults(externalId, 'externalId', target, op === 'delete' ? isStoredName : isValidName),
    ...(previous === undefined || previous === null
      ? []
      : externalIdFaults(previous, 'previousExternalId', target, isStoredName)),
  ]
  const names = { objectType: objectType as ObjectType, externalId: String(externalId) }
  if (op === 'delete') return faults.length > 0 ? { faults } : { write: { operation: 'delete', ...names } }
  if (data === undefined) faults.push(refusalEntry('MissingMember', 'data is required', `${target}/data`))
  else if ((OBJECT_TYPES as readonly unknown[]).includes(objectType)) {
    const read = parseObjectData(names.objectType, data, `${target}/data`, types)
    faults.push(...read.faults)
    if (faults.length === 0)
      return { write: { operation: 'upsert', ...names, ...renamingOf(previous, externalId), data: read.data } }
  }
  return { faults }
}

/** An object that has the name already is not renamed. */
const renamingOf = (previous: unknown, externalId: unknown) =>
  typeof previous === 'string' && previous !== externalId ? { previousExternalId: previous } : {}

const ITEM_MEMBERS = ['op', 'objectType', 'externalId', 'previousExternalId', 'data']

/** Members at which no further one is looked for: an item has five. */
const MISSPELT_REPORTED_COUNT = 5

function misspeltFaults(item: object, target: string): RefusalEntry[] {
  const faults: RefusalEntry[] = []
  for (const name of Object.keys(item)) {
    const meant = nearMiss(name, ITEM_MEMBERS)
    if (meant === undefined) continue
    faults.push(refusalEntry('UnknownMember', `There is no member ${name}, only ${meant}`, `${target}/${name}`))
    if (faults.length === MISSPELT_REPORTED_COUNT) break
  }
  return faults
}

function enumFaults(value: unknown, words: readonly string[], name: string, target: string): RefusalEntry[] {
  if (value === undefined) return [refusalEntry('MissingMember', `${name} is required`, `${target}/${name}`)]
  if (typeof value === 'string' && words.includes(value)) return []
  const code = typeof value === 'string' ? 'InvalidValue' : 'InvalidType'
  const shown = JSON.stringify(value).slice(0, 100)
  return [refusalEntry(code, `${name} must be one of ${words.join(', ')}, not ${shown}`, `${target}/${name}`)]
}

const isValidName = (externalId: string): boolean => !hasControls(externalId) && externalId.isWellFormed()

/** Whether an object can have the name. Earlier releases have stored C1 control characters. */
const isStoredName = (externalId: string): boolean => !INVALID_IN_STORED_NAME.test(externalId)

function externalIdFaults(
  value: unknown,
  name: string,
  target: string,
  isAllowed: (externalId: string) => boolean,
): RefusalEntry[] {
  const place = `${target}/${name}`
  if (value === undefined) return [refusalEntry('MissingMember', `${name} is required`, place)]
  if (typeof value !== 'string') return [refusalEntry('InvalidType', `${name} must be a string`, place)]
  if (value === '' || characterCount(value) > EXTERNAL_ID_LIMIT_COUNT) {
    const message = `${name} must have 1 to ${EXTERNAL_ID_LIMIT_COUNT} characters`
    return [refusalEntry('InvalidLength', message, place)]
  }
  if (isAllowed(value)) return []
  return [refusalEntry('InvalidValue', `${name} contains control characters or unpaired surrogates`, place)]
}
