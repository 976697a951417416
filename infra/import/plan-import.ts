import { createHash } from 'node:crypto'
import { parseObjectData } from '../../shared/domain/connectors/object-data.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { asTyped, type CustomTypes, NO_CUSTOM_TYPES } from '../../shared/domain/core/custom-types.ts'
import { nameOf, type SpaceItem, type SpaceObject } from './connector-space.ts'
import type { FileEntry, FileObject, InvalidLine } from './import-file.ts'
import { isInvalid } from './import-file.ts'
import { keptPeople } from './kept-people.ts'
import { withoutMadeRenames } from './made-renames.ts'
import { decideLines, formerNameOf, type Line, referredNames, takenNamesOf } from './plan-lines.ts'
import { withPeople } from './rekeyed-people.ts'

export type PlannedItem = {
  readonly item: SpaceItem
  /** Its line in a file. Undefined for a deletion. */
  readonly from: FileObject | undefined
  /** The items of a round are sent after those of the rounds before it. */
  readonly round: number
  /** Whether an earlier item has sent the same line. */
  readonly isRepeated: boolean
  /** Whether an object gets another name. */
  readonly isRename: boolean
  /** One batch sends all items with this text: they give a person another external id. */
  readonly person?: string
}

export type ImportPlan = {
  readonly items: readonly PlannedItem[]
  /** One of the lines whose objects are as in the file. */
  readonly unchanged: PlannedItem | undefined
  readonly invalidLines: readonly InvalidLine[]
  readonly counts: {
    readonly lines: number
    readonly created: number
    readonly updated: number
    readonly unchanged: number
    readonly deleted: number
    /** Objects of the connector that are not in the files, of the types that have lines there. */
    readonly missing: number
    /** Other objects that are not in the files: people whom an invalid line may mean, and their positions. */
    readonly kept: number
  }
  /** The types of other objects that are not in the files. A file that was not delivered must delete nothing. */
  readonly typesWithoutLines: readonly ObjectType[]
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
  const [invalidLines, lines, named]: [InvalidLine[], Line[], Map<string, FileObject>] = [[], [], new Map()]
  let hasUnnamed = false
  for await (const entry of entries) {
    if (isInvalid(entry)) {
      hasUnnamed = true
      invalidLines.push(entry)
      continue
    }
    const line = checkedLine(entry, named, types)
    if (line.reason === undefined) named.set(nameOf(entry), line.object)
    lines.push(line)
  }
  const counts = { lines: invalidLines.length + lines.length, created: 0, updated: 0, unchanged: 0 }
  const [changed, repeated]: [PlannedItem[], PlannedItem[]] = [[], []]
  const keptNames = new Set<string>()
  const unchanged: FileObject[] = []
  const { lines: decidable, isKept } = keptPeople(lines, present)
  const decisions = decideLines(withoutMadeRenames(decidable, present), present)
  const takenNames = takenNamesOf(decisions)
  for (const [{ object }, decision] of decisions) {
    keptNames.add(nameOf(object))
    // What a line renames is not missing, even if the line is invalid or the API refuses it.
    const former = decision.kind === 'unchanged' ? undefined : formerNameOf(object)
    if (former !== undefined) keptNames.add(former)
    if (decision.kind === 'invalid') {
      invalidLines.push({ file: object.file, line: object.line, reason: decision.reason })
      continue
    }
    const isUnchanged = decision.kind === 'unchanged'
    if (isUnchanged) unchanged.push(object)
    else {
      const isRename = decision.kind === 'updated' && decision.isNameFree
      changed.push({ ...upsertOf(object, decision.round), isRename })
    }
    // A rename takes references to the former name along, which mean the object that gets the name.
    const isSentLast = referredNames(object).some((name) => takenNames.has(name))
    if (isSentLast) repeated.push({ ...unrenamed(object, LAST_ROUND), isRepeated: !isUnchanged })
    counts[isUnchanged && isSentLast ? 'updated' : decision.kind] += 1
  }
  const absent = [...present.values()].filter((object) => !keptNames.has(nameOf(object)))
  const typesOfLines = new Set(lines.map(({ object }) => object.objectType))
  const missing = absent.filter((object) => typesOfLines.has(object.objectType) && !isKept(object))
  const absentTypes = new Set(absent.map(({ objectType }) => objectType))
  const withholdsDeletions = deletesMissing && hasUnnamed
  const deletions = deletesMissing && !hasUnnamed ? missing.map(deletionOf) : []
  const items = [...inOrder(changed), ...inOrder(repeated), ...inOrder(deletions).reverse()]
  // A connector that supplements others can deliver nothing but identities.
  const one = unchanged.find(({ objectType }) => objectType === 'identity') ?? unchanged[0]
  return {
    unchanged: one && unrenamed(one, 0),
    items: withPeople(items, deletions.length === 0 ? [] : missing),
    invalidLines,
    counts: { ...counts, deleted: deletions.length, missing: missing.length, kept: absent.filter(isKept).length },
    typesWithoutLines: ORDER.filter((type) => absentTypes.has(type) && !typesOfLines.has(type)),
    withholdsDeletions,
  }
}

/** The line with its data as the service returns them, or with all its errors. */
function checkedLine(object: FileObject, named: ReadonlyMap<string, FileObject>, types: CustomTypes): Line {
  const { objectType } = object
  const first = named.get(nameOf(object))
  const invalid = (reason: string): Line => ({ object, digest: '', reason })
  if (first !== undefined) return invalid(`${nameOf(object)} is already in ${first.file}:${first.line}`)
  const { data, faults } = parseObjectData(objectType, object.data, '', types)
  if (faults.length > 0) return invalid(faults.map(({ message }) => message).join('; '))
  const typed = { ...object, data: asTyped(objectType, data, types) }
  return { object: typed, digest: digestOfData(typed.data), reason: undefined }
}

function upsertOf(object: FileObject, round: number): PlannedItem {
  const { objectType, externalId, previousExternalId, data } = object
  const names = { objectType, externalId, ...(previousExternalId !== undefined && { previousExternalId }) }
  return { item: { op: 'upsert', ...names, data }, from: object, round, isRepeated: false, isRename: false }
}

/** The upsert of an object that has its name already. */
function unrenamed(object: FileObject, round: number): PlannedItem {
  const { previousExternalId: _former, ...renamed } = object
  return { ...upsertOf(renamed, round), from: object }
}

const LAST_ROUND = Number.POSITIVE_INFINITY

const deletionOf = ({ objectType, externalId }: SpaceObject): PlannedItem => ({
  item: { op: 'delete', objectType, externalId },
  from: undefined,
  round: 0,
  isRepeated: false,
  isRename: false,
})

const ORDER: readonly ObjectType[] = ['orgUnit', 'identity', 'relationship']

const inOrder = (items: readonly PlannedItem[]): PlannedItem[] =>
  items.toSorted(
    (first, second) =>
      ORDER.indexOf(first.item.objectType) - ORDER.indexOf(second.item.objectType) || first.round - second.round,
  )
