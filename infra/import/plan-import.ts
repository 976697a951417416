import { createHash } from 'node:crypto'
import { parseObjectData } from '../../shared/domain/connectors/object-input.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { nameOf, type SpaceItem, type SpaceObject } from './connector-space.ts'
import type { FaultyLine, FileEntry, FileObject } from './import-file.ts'
import { isFaulty } from './import-file.ts'

/** An item to send, and the line it comes from; a deletion has none. */
export type PlannedItem = { readonly item: SpaceItem; readonly from: FileObject | undefined }

export type ImportPlan = {
  readonly items: readonly PlannedItem[]
  readonly faultyLines: readonly FaultyLine[]
  readonly counts: {
    readonly lines: number
    readonly created: number
    readonly updated: number
    readonly unchanged: number
    readonly deleted: number
    /** Objects that the connector has and the files have not. */
    readonly missing: number
    /** Objects that the connector has. */
    readonly present: number
  }
  /** Deletions were wanted, but a line that names nothing may be what seems to be missing. */
  readonly withholdsDeletions: boolean
}

/** The same text for the same data, in whatever order its attributes come. */
export function digestOfData(data: unknown): string {
  const members = Object.entries(data as Record<string, unknown>).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(members)).digest('base64')
}

/**
 * Compares what the files say with what the connector has. What others refer to comes first; deletions go the other
 * way round.
 */
export async function planImport(
  entries: AsyncIterable<FileEntry>,
  present: ReadonlyMap<string, SpaceObject>,
  deletesMissing: boolean,
): Promise<ImportPlan> {
  const [faultyLines, changed, named]: [FaultyLine[], PlannedItem[], Map<string, FileObject>] = [[], [], new Map()]
  const counts = { lines: 0, created: 0, updated: 0, unchanged: 0 }
  const allNames = new Set<string>()
  let hasNameless = false
  for await (const entry of entries) {
    counts.lines += 1
    const checked = checkedEntry(entry, named)
    if (isFaulty(entry)) hasNameless = true
    else allNames.add(nameOf(entry))
    if (isFaulty(checked)) {
      faultyLines.push(checked)
      continue
    }
    named.set(nameOf(checked), checked)
    const before = present.get(nameOf(checked))
    if (before?.digest === digestOfData(checked.data)) counts.unchanged += 1
    else {
      counts[before === undefined ? 'created' : 'updated'] += 1
      const { objectType, externalId, data } = checked
      changed.push({ item: { op: 'upsert', objectType, externalId, data }, from: checked })
    }
  }
  // A line that is faulty still names its object: that it could not be read is no reason to delete it.
  const missing = [...present.values()].filter((object) => !allNames.has(nameOf(object)))
  const withholdsDeletions = deletesMissing && hasNameless
  const deletions = deletesMissing && !hasNameless ? missing.map(deletionOf) : []
  return {
    items: [...inOrder(changed), ...inOrder(deletions).reverse()],
    faultyLines,
    counts: { ...counts, deleted: deletions.length, missing: missing.length, present: present.size },
    withholdsDeletions,
  }
}

/** The entry with its data in the form in which they are stored, or all that is wrong with it. */
function checkedEntry(entry: FileEntry, named: ReadonlyMap<string, FileObject>): FileEntry {
  if (isFaulty(entry)) return entry
  const { file, line, objectType } = entry
  const first = named.get(nameOf(entry))
  if (first !== undefined)
    return { file, line, reason: `${nameOf(entry)} stands in ${first.file}:${first.line} already` }
  const { data, faults } = parseObjectData(objectType, entry.data, '')
  if (faults.length > 0) return { file, line, reason: faults.map(({ message }) => message).join('; ') }
  return { ...entry, data }
}

const deletionOf = ({ objectType, externalId }: SpaceObject): PlannedItem => ({
  item: { op: 'delete', objectType, externalId },
  from: undefined,
})

const ORDER: readonly ObjectType[] = ['orgUnit', 'identity', 'relationship']

const inOrder = (items: readonly PlannedItem[]): PlannedItem[] =>
  items.toSorted((one, other) => ORDER.indexOf(one.item.objectType) - ORDER.indexOf(other.item.objectType))
