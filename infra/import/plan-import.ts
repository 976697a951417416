import { createHash } from 'node:crypto'
import { parseObjectData } from '../../shared/domain/connectors/object-data.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { asTyped, type CustomTypes, NO_CUSTOM_TYPES } from '../../shared/domain/core/custom-types.ts'
import { nameOf, type SpaceItem, type SpaceObject } from './connector-space.ts'
import type { FileEntry, FileObject, InvalidLine } from './import-file.ts'
import { isInvalid } from './import-file.ts'

/** An item to send, and its line in a file. Undefined for a deletion. */
export type PlannedItem = { readonly item: SpaceItem; readonly from: FileObject | undefined }

export type ImportPlan = {
  readonly items: readonly PlannedItem[]
  readonly invalidLines: readonly InvalidLine[]
  readonly counts: {
    readonly lines: number
    readonly created: number
    readonly updated: number
    readonly unchanged: number
    readonly deleted: number
    /** Objects of the connector that are not in the files. */
    readonly missing: number
  }
  /** Deletions were requested but are skipped: an unreadable line may contain an object that seems to be missing. */
  readonly withholdsDeletions: boolean
}

/** A digest of the data that does not depend on the order of attributes. */
export function digestOfData(data: unknown): string {
  const members = Object.entries(data as Record<string, unknown>).sort(([first], [second]) => (first < second ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(members)).digest('base64')
}

/**
 * Compares the files with the objects of the connector. Referenced objects are written before the objects that refer to
 * them, and deleted after them.
 * @param types Of the tenant's custom attributes.
 */
export async function planImport(
  entries: AsyncIterable<FileEntry>,
  present: ReadonlyMap<string, SpaceObject>,
  deletesMissing: boolean,
  types: CustomTypes = NO_CUSTOM_TYPES,
): Promise<ImportPlan> {
  const [invalidLines, changed, named]: [InvalidLine[], PlannedItem[], Map<string, FileObject>] = [[], [], new Map()]
  const counts = { lines: 0, created: 0, updated: 0, unchanged: 0 }
  const allNames = new Set<string>()
  let hasUnnamed = false
  for await (const entry of entries) {
    counts.lines += 1
    const checked = checkedEntry(entry, named, types)
    if (isInvalid(entry)) hasUnnamed = true
    else allNames.add(nameOf(entry))
    if (isInvalid(checked)) {
      invalidLines.push(checked)
      continue
    }
    named.set(nameOf(checked), checked)
    const { objectType, externalId, previousExternalId, data } = checked
    const own = present.get(nameOf(checked))
    const former = previousExternalId === undefined ? undefined : nameOf({ objectType, externalId: previousExternalId })
    // An object that is renamed is not missing.
    if (own === undefined && former !== undefined) allNames.add(former)
    const before = own ?? (former === undefined ? undefined : present.get(former))
    if (own?.digest === digestOfData(data)) counts.unchanged += 1
    else {
      counts[before === undefined ? 'created' : 'updated'] += 1
      const names = { objectType, externalId, ...(previousExternalId !== undefined && { previousExternalId }) }
      changed.push({ item: { op: 'upsert', ...names, data }, from: checked })
    }
  }
  // The object of an invalid line is not missing: it must not be deleted.
  const missing = [...present.values()].filter((object) => !allNames.has(nameOf(object)))
  const withholdsDeletions = deletesMissing && hasUnnamed
  const deletions = deletesMissing && !hasUnnamed ? missing.map(deletionOf) : []
  return {
    items: [...inOrder(changed), ...inOrder(deletions).reverse()],
    invalidLines,
    counts: { ...counts, deleted: deletions.length, missing: missing.length },
    withholdsDeletions,
  }
}

/** The entry with its data as the service returns them, or an invalid line with all errors. */
function checkedEntry(entry: FileEntry, named: ReadonlyMap<string, FileObject>, types: CustomTypes): FileEntry {
  if (isInvalid(entry)) return entry
  const { file, line, objectType } = entry
  const first = named.get(nameOf(entry))
  if (first !== undefined) return { file, line, reason: `${nameOf(entry)} is already in ${first.file}:${first.line}` }
  const { data, faults } = parseObjectData(objectType, entry.data, '', types)
  if (faults.length > 0) return { file, line, reason: faults.map(({ message }) => message).join('; ') }
  return { ...entry, data: asTyped(objectType, data, types) }
}

const deletionOf = ({ objectType, externalId }: SpaceObject): PlannedItem => ({
  item: { op: 'delete', objectType, externalId },
  from: undefined,
})

const ORDER: readonly ObjectType[] = ['orgUnit', 'identity', 'relationship']

const inOrder = (items: readonly PlannedItem[]): PlannedItem[] =>
  items.toSorted((first, second) => ORDER.indexOf(first.item.objectType) - ORDER.indexOf(second.item.objectType))
