import { inLanes } from '../../shared/domain/lanes.ts'
import { slicesWithin } from '../../shared/domain/slices.ts'
import type { ConnectorSpace } from './connector-space.ts'
import type { InvalidLine } from './import-file.ts'
import type { PlannedItem } from './plan-import.ts'

export type SendOutcome = {
  readonly sentCount: number
  /** Lines whose items the API refused. */
  readonly invalidLines: readonly InvalidLine[]
  /** Deletions that the API refused, with the reason. */
  readonly failedDeletions: readonly string[]
}

/** Limits of a batch: items, and body size with a margin. Decisions, sections 4 and 1. */
const ITEMS_PER_BATCH_COUNT = 1000
const BATCH_LIMIT_BYTES = 3_500_000
const BATCHES_AT_ONCE_COUNT = 3

/**
 * Sends batches concurrently. Writes all upserts of one object type before those of the next.
 * @param onSent receives the number of items sent so far
 */
export async function sendItems(
  items: readonly PlannedItem[],
  space: ConnectorSpace,
  onSent: (count: number) => void,
): Promise<SendOutcome> {
  const [invalidLines, failedDeletions]: [InvalidLine[], string[]] = [[], []]
  let sentCount = 0
  const sendBatch = async (batch: readonly PlannedItem[]): Promise<void> => {
    const results = await space.write(batch.map(({ item }) => item))
    for (const { index, status, errors = [] } of results) {
      const planned = batch[index]
      if (planned === undefined || status < 300) continue
      const reason = errors.map(({ message }) => message).join('; ') || `the API returned ${status}`
      if (planned.from !== undefined) invalidLines.push({ file: planned.from.file, line: planned.from.line, reason })
      // 404: the object was deleted in the meantime.
      else if (status !== 404) failedDeletions.push(`${planned.item.objectType} ${planned.item.externalId}: ${reason}`)
    }
    sentCount += batch.length
    onSent(sentCount)
  }
  for (const group of Map.groupBy(items, ({ item }) => `${item.op} ${item.objectType}`).values()) {
    await inLanes(inBatches(group), BATCHES_AT_ONCE_COUNT, sendBatch)
  }
  return { sentCount, invalidLines, failedDeletions }
}

function inBatches(items: readonly PlannedItem[]): PlannedItem[][] {
  const limits = { atMostCount: ITEMS_PER_BATCH_COUNT, atMostBytes: BATCH_LIMIT_BYTES }
  return slicesWithin(items, limits, ({ item }) => Buffer.byteLength(JSON.stringify(item)) + 1)
}
