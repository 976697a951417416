import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { EXTERNAL_ID_LIMIT_COUNT, type ObjectData } from './connector-object.ts'
import { readObjectData } from './object-data.ts'

export const BATCH_OPERATIONS = ['upsert', 'delete'] as const
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT_CHARACTER = /[\u0000-\u001f\u007f\p{Cs}]/u

/**
 * One change of a connector space. `create` wants no live object of these names, `replace` wants one; `rejoin` changes
 * nothing of what the connector says, and looks again to which core object it belongs. `recreate` is a `create` that may
 * have been made already, and takes a live object that says the same for its own.
 */
export type ObjectWrite =
  | {
      readonly operation: 'create' | 'recreate' | 'upsert' | 'replace' | 'rejoin'
      readonly objectType: ObjectType
      readonly externalId: string
      readonly data: ObjectData
    }
  | { readonly operation: 'delete'; readonly objectType: ObjectType; readonly externalId: string }

/** A change as read from a request, or all that is wrong with it. */
export type ReadWrite = { readonly write: ObjectWrite } | { readonly faults: readonly RefusalEntry[] }

/** Reads the items of a batch. Each stands for itself; of those that name the same object, the first counts. */
export function readBatchItems(items: readonly unknown[]): ReadWrite[] {
  const named = new Set<string>()
  return items.map((item, index) => {
    const read = readItem(item, `/items/${index}`)
    if ('faults' in read) return read
    const name = JSON.stringify([read.write.objectType, read.write.externalId])
    if (named.has(name)) {
      const message = `An earlier item names ${read.write.objectType} ${read.write.externalId} as well`
      return { faults: [refusalEntry('DuplicateItem', message, `/items/${index}`)] }
    }
    named.add(name)
    return read
  })
}

function readItem(item: unknown, target: string): ReadWrite {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { faults: [refusalEntry('InvalidType', 'An item has to be an object', target)] }
  }
  const { op, objectType, externalId, data } = item as Record<string, unknown>
  const faults = [
    ...wordFaults(op, BATCH_OPERATIONS, 'op', target),
    ...wordFaults(objectType, OBJECT_TYPES, 'objectType', target),
    ...externalIdFaults(externalId, target),
  ]
  const names = { objectType: objectType as ObjectType, externalId: String(externalId) }
  if (op === 'delete') return faults.length > 0 ? { faults } : { write: { operation: 'delete', ...names } }
  if (data === undefined) faults.push(refusalEntry('MissingMember', 'data is required', `${target}/data`))
  else if ((OBJECT_TYPES as readonly unknown[]).includes(objectType)) {
    const read = readObjectData(names.objectType, data, `${target}/data`)
    faults.push(...read.faults)
    if (faults.length === 0) return { write: { operation: 'upsert', ...names, data: read.data } }
  }
  return { faults }
}

function wordFaults(value: unknown, words: readonly string[], name: string, target: string): RefusalEntry[] {
  if (value === undefined) return [refusalEntry('MissingMember', `${name} is required`, `${target}/${name}`)]
  if (typeof value === 'string' && words.includes(value)) return []
  const code = typeof value === 'string' ? 'InvalidValue' : 'InvalidType'
  const shown = JSON.stringify(value).slice(0, 100)
  return [refusalEntry(code, `${name} has to be one of ${words.join(', ')}, not ${shown}`, `${target}/${name}`)]
}

function externalIdFaults(value: unknown, target: string): RefusalEntry[] {
  const place = `${target}/externalId`
  if (value === undefined) return [refusalEntry('MissingMember', 'externalId is required', place)]
  if (typeof value !== 'string') return [refusalEntry('InvalidType', 'externalId has to be a string', place)]
  if (value === '' || characterCount(value) > EXTERNAL_ID_LIMIT_COUNT) {
    const message = `externalId has to have 1 to ${EXTERNAL_ID_LIMIT_COUNT} characters`
    return [refusalEntry('InvalidLength', message, place)]
  }
  if (!UNFIT_CHARACTER.test(value)) return []
  return [refusalEntry('InvalidValue', 'externalId holds control characters or halves of surrogate pairs', place)]
}
