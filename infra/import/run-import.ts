import { ATTRIBUTES, CUSTOM_ATTRIBUTE_PREFIX, OBJECT_TYPES } from '../../shared/domain/core/core-object.ts'
import type { CustomTypes } from '../../shared/domain/core/custom-types.ts'
import { CommandError } from '../command.ts'
import type { ConnectorSpace, SpaceObject } from './connector-space.ts'
import type { CsvDelimiter } from './csv.ts'
import type { FileEncoding } from './file-text.ts'
import { type FileEntry, type FileFormat, filesToImport, type InvalidLine, readImportFile } from './import-file.ts'
import type { ImportOptions } from './import-options.ts'
import { type ImportPlan, planImport } from './plan-import.ts'
import { byPosition, sendPlan } from './send-items.ts'
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
 * interrupted one. Without differences, it sends one unchanged object.
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
  const outcome = await sendPlan(plan, space, (count) => progress.show('Sending', count, total))
  progress.end()
  const invalidLines = [...plan.invalidLines, ...outcome.invalidLines, ...outcome.refusedUnchanged].sort(byPosition)
  printInvalidLines(invalidLines, say)
  printAttributes(invalidLines, say)
  printWarnings(outcome.warnings, say)
  for (const failure of outcome.failedDeletions) say(`Not deleted: ${failure}`)
  for (const name of outcome.deletedAlone)
    say(`Deleted: ${name}, though the API refused what replaces it. Correct that line and import again`)
  const failedCount = invalidLines.length + outcome.failedDeletions.length
  const repeatedCount = plan.items.filter(({ isRepeated }) => isRepeated).length
  const writtenCount = total - repeatedCount - outcome.invalidLines.length - outcome.failedDeletions.length
  const unchangedCount = plan.counts.unchanged - outcome.refusedUnchanged.length
  say(`Done: ${writtenCount} written, ${unchangedCount} unchanged, ${failedCount} failed`)
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
