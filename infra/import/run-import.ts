import type { Ask } from './ask-on-terminal.ts'
import type { ConnectorSpace, SpaceObject } from './connector-space.ts'
import { type FaultyLine, type FileEntry, filesToImport, readImportFile } from './import-file.ts'
import type { ImportOptions } from './import-options.ts'
import { ImportRefusal } from './import-refusal.ts'
import { type ImportPlan, planImport } from './plan-import.ts'
import type { Progress } from './progress.ts'
import { sendItems } from './send-items.ts'

export type ImportSurroundings = {
  readonly space: ConnectorSpace
  readonly progress: Progress
  /** Words for the person who watches, line by line. */
  say(line: string): void
  /** Asks a yes-or-no question; undefined where nobody can be asked. */
  readonly ask: Ask | undefined
}

/** More than this part of the objects is not deleted unasked. */
const UNASKED_DELETIONS_PART = 0.1
const FAULTY_LINES_SHOWN_COUNT = 100

/**
 * Brings the connector's space to what the files say. What is there already is not sent, so that a run that was cut off
 * goes on where it ended when it is started again.
 * @returns The exit code: 0 when every line is in, else 1.
 * @throws ImportRefusal when nothing can be imported, or too much would be deleted.
 */
export async function runImport(options: ImportOptions, around: ImportSurroundings): Promise<number> {
  const { space, progress, say } = around
  const files = await filesToImport(options.path)
  const present = await space.readAll((count) => progress.show('reading the connector', count, undefined))
  progress.end()
  const plan = await planImport(entriesOf(files, progress), present, options.deletesMissing)
  progress.end()
  sayPlan(plan, options, say)
  if (options.isDryRun) {
    sayFaultyLines(plan.faultyLines, say)
    return plan.faultyLines.length > 0 ? 1 : 0
  }
  await confirmDeletions(plan, present, options, around)
  const total = plan.items.length
  const outcome = await sendItems(plan.items, space, (count) => progress.show('sending', count, total))
  progress.end()
  const faultyLines = [...plan.faultyLines, ...outcome.faultyLines].sort(byPlace)
  sayFaultyLines(faultyLines, say)
  for (const failure of outcome.failedDeletions) say(`not deleted: ${failure}`)
  const failedCount = faultyLines.length + outcome.failedDeletions.length
  const writtenCount = outcome.sentCount - outcome.faultyLines.length - outcome.failedDeletions.length
  say(`done: ${writtenCount} written, ${plan.counts.unchanged} unchanged, ${failedCount} faulty`)
  return failedCount > 0 ? 1 : 0
}

async function* entriesOf(files: readonly string[], progress: Progress): AsyncGenerator<FileEntry> {
  let count = 0
  for (const file of files) {
    for await (const entry of readImportFile(file)) {
      count += 1
      progress.show('reading files, lines', count, undefined)
      yield entry
    }
  }
}

function sayPlan(
  { counts, faultyLines, withholdsDeletions }: ImportPlan,
  options: ImportOptions,
  say: (line: string) => void,
): void {
  const { lines, created, updated, unchanged, deleted, missing } = counts
  const verb = options.isDryRun ? 'would be' : 'to be'
  say(`${lines} objects in the files, ${faultyLines.length} of them faulty`)
  say(`${created} ${verb} created, ${updated} ${verb} updated, ${deleted} ${verb} deleted, ${unchanged} unchanged`)
  if (withholdsDeletions) say('nothing is deleted, for some lines cannot be read and may hold what seems to be missing')
  else if (missing > deleted) say(`${missing} objects of the connector are in no file; --delete-missing deletes them`)
}

/** @throws ImportRefusal unless the deletions are few, or were agreed to. */
async function confirmDeletions(
  { counts: { deleted } }: ImportPlan,
  present: ReadonlyMap<string, SpaceObject>,
  { isConfirmed }: ImportOptions,
  { ask }: ImportSurroundings,
): Promise<void> {
  if (isConfirmed || deleted <= present.size * UNASKED_DELETIONS_PART) return
  const what = `${deleted} of ${present.size} objects`
  if (ask === undefined)
    throw new ImportRefusal(`${what} would be deleted: say --yes if that is meant`, { exitCode: 1 })
  if (!(await ask(`Delete ${what}?`))) throw new ImportRefusal('Nothing was changed', { exitCode: 1 })
}

function sayFaultyLines(lines: readonly FaultyLine[], say: (line: string) => void): void {
  for (const { file, line, reason } of lines.slice(0, FAULTY_LINES_SHOWN_COUNT)) say(`${file}:${line}: ${reason}`)
  if (lines.length > FAULTY_LINES_SHOWN_COUNT) say(`... and ${lines.length - FAULTY_LINES_SHOWN_COUNT} more`)
}

const byPlace = (one: FaultyLine, other: FaultyLine): number =>
  one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1
