import { chunkWithin } from '../../shared/kernel/chunk.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import { type ConnectorSpace, nameOf } from './connector-space.ts'
import type { FileObject, InvalidLine } from './import-file.ts'
import type { ImportPlan, PlannedItem } from './plan-import.ts'
import { formerNameOf, referredName, referredNames, unrenamedReason } from './plan-lines.ts'

type SendOutcome = {
  /** Whether the API accepted an item. */
  readonly isDelivery: boolean
  /** Lines whose items the API refused, or that were not sent because it refused others. */
  readonly invalidLines: readonly InvalidLine[]
  /** Deletions that the API refused, with the reason. */
  readonly failedDeletions: readonly string[]
  /** Former records of people that are deleted, though the API refused all records that replace them. */
  readonly deletedAlone: readonly string[]
  /** References that lead nowhere, in order of their lines. */
  readonly warnings: readonly InvalidLine[]
}

export const byPosition = (first: InvalidLine, second: InvalidLine): number =>
  first.file === second.file ? first.line - second.line : first.file < second.file ? -1 : 1

/** Limits of `writeConnectorBatch`: items, and body size with a margin. */
const ITEMS_PER_BATCH_COUNT = 1000
const BATCH_LIMIT_BYTES = 3_500_000
const BATCHES_AT_ONCE_COUNT = 3

/**
 * Sends the items of a plan. When the API has accepted none, sends an object that is unchanged: without a delivery, the
 * service reports the connector as late.
 * @param onSent receives the number of items sent so far
 */
export async function sendPlan(
  { items, unchanged }: Pick<ImportPlan, 'items' | 'unchanged'>,
  space: ConnectorSpace,
  onSent: (count: number) => void,
): Promise<SendOutcome & { readonly refusedUnchanged: readonly InvalidLine[] }> {
  const outcome = await sendItems(items, space, onSent)
  if (outcome.isDelivery || unchanged === undefined) return { ...outcome, refusedUnchanged: [] }
  const { invalidLines } = await sendItems([unchanged], space, () => undefined)
  return { ...outcome, refusedUnchanged: invalidLines }
}

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
  const [writtenNames, succeeded] = [new Set<string>(), new Set<PlannedItem>()]
  let sentCount = 0
  const refused = new Set<FileObject>()
  const [keptNames, namesNotGiven] = [new Set<string>(), new Set<string>()]
  /**
   * The former name of a refused line stays the name of its object, whose data another line must not replace. No position
   * may refer to the name that the object does not get.
   */
  const refuse = (from: FileObject, isRename: boolean, reason: string): void => {
    refused.add(from)
    invalidLines.push({ file: from.file, line: from.line, reason })
    const former = formerNameOf(from)
    if (former !== undefined) keptNames.add(former)
    if (isRename) namesNotGiven.add(nameOf(from))
  }
  const reasonToKeep = (from: FileObject): string | undefined => {
    if (keptNames.has(nameOf(from))) return `${nameOf(from)} is still the name of an object that was not renamed`
    if (from.objectType !== 'relationship') return undefined
    const name = referredNames(from).find((referred) => namesNotGiven.has(referred))
    return name === undefined ? undefined : unrenamedReason(name)
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
      if (planned !== undefined && status < 300) succeeded.add(planned)
      if (planned === undefined || status < 300) continue
      const reason = errors.map(({ message }) => message).join('; ') || `the API returned ${status}`
      if (planned.from !== undefined) refuse(planned.from, planned.isRename, reason)
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
      const { from, isRename } = planned
      if (from !== undefined && refused.has(from)) continue
      const reason = from && reasonToKeep(from)
      if (from === undefined || reason === undefined) free.push(planned)
      else refuse(from, isRename, reason)
    }
    await forEachConcurrent(inBatches(free), BATCHES_AT_ONCE_COUNT, sendBatch)
  }
  // Org units are sent before the people to whom they refer.
  const leadNowhere = warnings.filter(({ referredName: name }) => name === undefined || !writtenNames.has(name))
  const [isDelivery, deletedAlone] = [succeeded.size > 0, deletedWithoutNew(items, succeeded)]
  return { isDelivery, invalidLines, failedDeletions, deletedAlone, warnings: leadNowhere.sort(byPosition) }
}

/** In the one batch that has both, a deletion takes place also when the API refuses the new record beside it. */
function deletedWithoutNew(items: readonly PlannedItem[], succeeded: ReadonlySet<PlannedItem>): string[] {
  const identities = items.filter(({ item, person }) => person !== undefined && item.objectType === 'identity')
  return [...Map.groupBy(identities, ({ person }) => person).values()].flatMap((ofOne) => {
    const done = ofOne.filter((planned) => succeeded.has(planned))
    const isAlone = done.length > 0 && done.every(({ item }) => item.op === 'delete')
    return isAlone ? done.map(({ item }) => nameOf(item)) : []
  })
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
