import { chunkWithin } from '../../shared/kernel/chunk.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import type { ConnectorSpace } from './connector-space.ts'
import type { FaultyLine } from './import-file.ts'
import type { PlannedItem } from './plan-import.ts'

export type SendOutcome = {
  readonly sentCount: number
  /** Lines whose items were refused. */
  readonly faultyLines: readonly FaultyLine[]
  /** Deletions that were refused, in words. */
  readonly failedDeletions: readonly string[]
}

/** Decisions, sections 4 and 1: the items of a batch, and what its body may weigh, less a margin. */
const ITEMS_PER_BATCH_COUNT = 1000
const BATCH_LIMIT_BYTES = 3_500_000
const BATCHES_AT_ONCE_COUNT = 3

/**
 * Sends batches, a few at a time; upserts of one type are all written before those of the next begin.
 * @param onSent told how many items are through.
 */
export async function sendItems(
  items: readonly PlannedItem[],
  space: ConnectorSpace,
  onSent: (count: number) => void,
): Promise<SendOutcome> {
  const [faultyLines, failedDeletions]: [FaultyLine[], string[]] = [[], []]
  let sentCount = 0
  const sendBatch = async (batch: readonly PlannedItem[]): Promise<void> => {
    const results = await space.write(batch.map(({ item }) => item))
    for (const { index, status, errors = [] } of results) {
      const planned = batch[index]
      if (planned === undefined || status < 300) continue
      const reason = errors.map(({ message }) => message).join('; ') || `was answered ${status}`
      if (planned.from !== undefined) faultyLines.push({ file: planned.from.file, line: planned.from.line, reason })
      // What someone else deleted meanwhile is gone, as was wanted.
      else if (status !== 404) failedDeletions.push(`${planned.item.objectType} ${planned.item.externalId}: ${reason}`)
    }
    sentCount += batch.length
    onSent(sentCount)
  }
  for (const group of Map.groupBy(items, ({ item }) => `${item.op} ${item.objectType}`).values()) {
    await forEachConcurrent(inBatches(group), BATCHES_AT_ONCE_COUNT, sendBatch)
  }
  return { sentCount, faultyLines, failedDeletions }
}

function inBatches(items: readonly PlannedItem[]): PlannedItem[][] {
  const limits = { atMostCount: ITEMS_PER_BATCH_COUNT, atMostBytes: BATCH_LIMIT_BYTES }
  return chunkWithin(items, limits, ({ item }) => Buffer.byteLength(JSON.stringify(item)) + 1)
}
