import { ATTRIBUTES, CUSTOM_ATTRIBUTE_PREFIX, OBJECT_TYPES } from '../../shared/domain/core/core-object.ts'
import type { CustomTypes } from '../../shared/domain/core/custom-types.ts'
import { chunkWithin } from '../../shared/kernel/chunk.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import { CommandError } from '../command.ts'
import { type ConnectorSpace, nameOf, type SpaceObject } from './connector-space.ts'
import type { CsvDelimiter } from './csv.ts'
import type { FileEncoding } from './file-text.ts'
import {
  type FileEntry,
  type FileFormat,
  type FileObject,
  filesToImport,
  type InvalidLine,
  readImportFile,
} from './import-file.ts'
import type { ImportOptions } from './import-options.ts'
import { type ImportPlan, type PlannedItem, planImport } from './plan-import.ts'
import { formerNameOf, referredName } from './plan-lines.ts'
import type { Ask, Progress } from './terminal.ts'

export type ImportContext = {
  readonly space: ConnectorSpace
  readonly progress: Progress
  say(line: string): void
  /** Asks a yes-or-no question. Undefined without an interactive terminal. */
  readonly ask: Ask | undefined
}

/**
 * The deletion of a larger share of the objects of a type requires confirmation: that of more than one of a few, and
 * always that of all of them.
 */
const UNASKED_DELETIONS_PART = 0.1
const INVALID_LINES_SHOWN_COUNT = 100
const WARNINGS_SHOWN_COUNT = 10

/**
 * Updates the objects of the connector to match the files. Sends only differences, so that a repeated run continues an
 * interrupted one.
 * @returns The exit code: 0 if all lines are imported, otherwise 1.
 * @throws CommandError if there is nothing to import, or if deletions are not confirmed
 */
export async function runImport(options: ImportOptions, around: ImportContext): Promise<number> {
  const { space, progress, say } = around
  const files = await filesToImport(options.path)
  const types = await space.readTypes()
  const present = await space.readAll((count) => progress.show('Reading the connector', count, undefined))
  progress.end()
  const formats: FileFormat[] = []
  const onFormat = (format: FileFormat): void => void formats.push(format)
  const entries = entriesOf(files, { encoding: options.encoding, types }, onFormat, progress)
  const plan = await planImport(entries, present, options.deletesMissing, types)
  progress.end()
  for (const format of formats) say(`${format.file}: ${describedFormat(format)}`)
  printPlan(plan, options, say)
  if (options.isDryRun) {
    printInvalidLines(plan.invalidLines.toSorted(byPosition), say)
    printAttributes(plan.invalidLines, say)
    return plan.invalidLines.length > 0 ? 1 : 0
  }
  await confirmDeletions(plan, present, options, around)
  const total = plan.items.length
  const outcome = await sendItems(plan.items, space, (count) => progress.show('Sending', count, total))
  progress.end()
  const invalidLines = [...plan.invalidLines, ...outcome.invalidLines].sort(byPosition)
  printInvalidLines(invalidLines, say)
  printAttributes(invalidLines, say)
  printWarnings(outcome.warnings, say)
  for (const failure of outcome.failedDeletions) say(`Not deleted: ${failure}`)
  const failedCount = invalidLines.length + outcome.failedDeletions.length
  const repeatedCount = plan.items.filter(({ isRepeated }) => isRepeated).length
  const writtenCount = total - repeatedCount - outcome.invalidLines.length - outcome.failedDeletions.length
  say(`Done: ${writtenCount} written, ${plan.counts.unchanged} unchanged, ${failedCount} failed`)
  return failedCount > 0 ? 1 : 0
}

async function* entriesOf(
  files: readonly string[],
  { encoding, types }: { readonly encoding: FileEncoding; readonly types: CustomTypes },
  onFormat: (format: FileFormat) => void,
  progress: Progress,
): AsyncGenerator<FileEntry> {
  let count = 0
  for (const file of files) {
    for await (const entry of readImportFile(file, encoding, onFormat, types)) {
      count += 1
      progress.show('Reading lines', count, undefined)
      yield entry
    }
  }
}

const ENCODING_NAMES: Readonly<Record<FileEncoding, string>> = { 'utf-8': 'UTF-8', 'windows-1252': 'Windows-1252' }
const DELIMITER_NAMES: Readonly<Record<CsvDelimiter, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab' }

function describedFormat({ encoding, hasByteOrderMark, delimiter }: FileFormat): string {
  const name = `${ENCODING_NAMES[encoding]}${hasByteOrderMark ? ' with byte order mark' : ''}`
  return delimiter === undefined ? name : `${name}, delimiter ${DELIMITER_NAMES[delimiter]}`
}

function printPlan(
  { counts, invalidLines, typesWithoutLines, withholdsDeletions }: ImportPlan,
  options: ImportOptions,
  say: (line: string) => void,
): void {
  const { lines, created, updated, unchanged, deleted, missing, kept } = counts
  const prefix = options.isDryRun ? 'Dry run' : 'Plan'
  say(`${lines} objects in the files, ${invalidLines.length} invalid`)
  say(`${prefix}: ${created} to create, ${updated} to update, ${deleted} to delete, ${unchanged} unchanged`)
  if (withholdsDeletions) say('No objects are deleted because some lines are invalid and their objects are unknown')
  else if (!options.deletesMissing && missing > 0)
    say(`${missing} objects of the connector are not in the files. Delete them with --delete-missing`)
  if (!options.deletesMissing || withholdsDeletions) return
  if (kept > 0) say(`${kept} objects that are not in the files are kept because invalid lines may mean the same people`)
  if (typesWithoutLines.length > 0)
    say(`No objects of type ${typesWithoutLines.join(', ')} are deleted because the files have no lines of that type`)
}

/** @throws CommandError if there are many deletions and they are not confirmed */
async function confirmDeletions(
  { items }: ImportPlan,
  present: ReadonlyMap<string, SpaceObject>,
  { isConfirmed }: ImportOptions,
  { ask }: ImportContext,
): Promise<void> {
  const [deleted, all] = [
    items.filter(({ item }) => item.op === 'delete').map(({ item }) => item),
    [...present.values()],
  ]
  const shares = OBJECT_TYPES.map((type) => {
    const countIn = (objects: readonly Pick<SpaceObject, 'objectType'>[]): number =>
      objects.filter(({ objectType }) => objectType === type).length
    return { type, count: countIn(deleted), total: countIn(all) }
  })
  const isUnasked = ({ count, total }: (typeof shares)[number]): boolean =>
    count === 0 || (count < total && count <= Math.max(1, total * UNASKED_DELETIONS_PART))
  if (isConfirmed || shares.every(isUnasked)) return
  const counted = shares.filter(({ count }) => count > 0)
  const what = counted.map(({ type, count, total }) => `${count} of ${total} objects of type ${type}`).join(', ')
  if (ask === undefined) throw new CommandError(`${what} would be deleted. Confirm with --yes`, { exitCode: 1 })
  if (!(await ask(`Delete ${what}?`))) throw new CommandError('Cancelled. No changes were made', { exitCode: 1 })
}

function printInvalidLines(lines: readonly InvalidLine[], say: (line: string) => void): void {
  for (const { file, line, reason } of lines.slice(0, INVALID_LINES_SHOWN_COUNT)) say(`${file}:${line}: ${reason}`)
  if (lines.length > INVALID_LINES_SHOWN_COUNT) say(`... and ${lines.length - INVALID_LINES_SHOWN_COUNT} more`)
}

/** A warning is no failure: the object may come from a later import. */
function printWarnings(warnings: readonly InvalidLine[], say: (line: string) => void): void {
  if (warnings.length === 0) return
  say(`${warnings.length} references to objects that do not exist`)
  for (const { file, line, reason } of warnings.slice(0, WARNINGS_SHOWN_COUNT)) say(`${file}:${line}: ${reason}`)
  if (warnings.length > WARNINGS_SHOWN_COUNT) say(`... and ${warnings.length - WARNINGS_SHOWN_COUNT} more`)
}

/** Prints the attributes of each object type for which a line has an unknown one. */
function printAttributes(lines: readonly InvalidLine[], say: (line: string) => void): void {
  for (const objectType of OBJECT_TYPES) {
    if (!lines.some(({ reason }) => reason.includes(`${objectType} has no attribute`))) continue
    const names = [...Object.keys(ATTRIBUTES[objectType]), `${CUSTOM_ATTRIBUTE_PREFIX}<name>`]
    say(`Attributes of ${objectType}: ${names.join(', ')}`)
  }
}

const byPosition = (first: InvalidLine, second: InvalidLine): number =>
  first.file === second.file ? first.line - second.line : first.file < second.file ? -1 : 1

type SendOutcome = {
  /** Lines whose items the API refused, or that were not sent because it refused others. */
  readonly invalidLines: readonly InvalidLine[]
  /** Deletions that the API refused, with the reason. */
  readonly failedDeletions: readonly string[]
  /** References that lead nowhere, in order of their lines. */
  readonly warnings: readonly InvalidLine[]
}

/** Limits of `writeConnectorBatch`: items, and body size with a margin. */
const ITEMS_PER_BATCH_COUNT = 1000
const BATCH_LIMIT_BYTES = 3_500_000
const BATCHES_AT_ONCE_COUNT = 3

/**
 * Sends batches concurrently. Writes all upserts of one object type before those of the next, and renames of objects
 * before the upserts that take over their names.
 * @param onSent receives the number of items sent so far
 */
async function sendItems(
  items: readonly PlannedItem[],
  space: ConnectorSpace,
  onSent: (count: number) => void,
): Promise<SendOutcome> {
  const [invalidLines, failedDeletions]: [InvalidLine[], string[]] = [[], []]
  const warnings: (InvalidLine & { readonly referredName: string | undefined })[] = []
  const writtenNames = new Set<string>()
  let sentCount = 0
  const refused = new Set<FileObject>()
  const keptNames = new Set<string>()
  /** The former name of a refused line stays the name of its object, whose data another line must not replace. */
  const refuse = (from: FileObject, reason: string): void => {
    refused.add(from)
    invalidLines.push({ file: from.file, line: from.line, reason })
    const former = formerNameOf(from)
    if (former !== undefined) keptNames.add(former)
  }
  const sendBatch = async (batch: readonly PlannedItem[]): Promise<void> => {
    const results = await space.write(batch.map(({ item }) => item))
    for (const { index, status, errors = [], warnings: found = [] } of results) {
      const planned = batch[index]
      for (const { target } of planned?.isRepeated ? [] : found) {
        const { file, line } = planned?.from ?? { file: '', line: 0 }
        const place = target.split('/').slice(4).join('/')
        const { objectType, data = {} } = planned?.item ?? {}
        const name = objectType && referredName(objectType, data, place)
        warnings.push({ file, line, reason: `${place} leads to no object`, referredName: name })
      }
      if (planned !== undefined && planned.item.op === 'upsert' && status < 300) writtenNames.add(nameOf(planned.item))
      if (planned === undefined || status < 300) continue
      const reason = errors.map(({ message }) => message).join('; ') || `the API returned ${status}`
      if (planned.from !== undefined) refuse(planned.from, reason)
      // 404: the object was deleted in the meantime.
      else if (status !== 404) failedDeletions.push(`${planned.item.objectType} ${planned.item.externalId}: ${reason}`)
    }
    sentCount += batch.length
    onSent(sentCount)
  }
  // The people stand before the positions of others: they are where their first item is, a new identity.
  const groups = Map.groupBy(items, ({ item, round, person }) =>
    person === undefined ? `${item.op} ${item.objectType} ${round}` : 'people',
  )
  for (const group of groups.values()) {
    const free: PlannedItem[] = []
    for (const planned of group) {
      const { from } = planned
      if (from === undefined || !(refused.has(from) || keptNames.has(nameOf(from)))) free.push(planned)
      else if (!refused.has(from)) refuse(from, `${nameOf(from)} is still the name of an object that was not renamed`)
    }
    await forEachConcurrent(inBatches(free), BATCHES_AT_ONCE_COUNT, sendBatch)
  }
  // Org units are sent before the people to whom they refer.
  const leadNowhere = warnings.filter(({ referredName: name }) => name === undefined || !writtenNames.has(name))
  return { invalidLines, failedDeletions, warnings: leadNowhere.sort(byPosition) }
}

/** Items of one person stay together, unless they exceed a batch: many people can have one address. */
function inBatches(items: readonly PlannedItem[]): PlannedItem[][] {
  const limits = { atMostCount: ITEMS_PER_BATCH_COUNT, atMostBytes: BATCH_LIMIT_BYTES }
  // An item counts as the part of a batch that it takes by number, or by size if that is more.
  const leastBytes = BATCH_LIMIT_BYTES / ITEMS_PER_BATCH_COUNT
  const bytesOf = ({ item }: PlannedItem) => Math.max(leastBytes, Buffer.byteLength(JSON.stringify(item)) + 1)
  const people = [...Map.groupBy(items, (planned) => planned.person ?? planned).values()]
  const units = people.flatMap((ofOne) => chunkWithin(ofOne, limits, bytesOf))
  const sumOf = (unit: readonly PlannedItem[]) => unit.reduce((sum, planned) => sum + bytesOf(planned), 0)
  return chunkWithin(units, limits, sumOf).map((batch) => batch.flat())
}
