import { setImmediate as nextRound } from 'node:timers/promises'
import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { chunksWithin } from '../kernel/chunk.ts'
import {
  isWriteConflict,
  OPERATIONS_PER_BATCH_COUNT,
  type TransactionFailure,
  versionsTogether,
  writeOf,
  writeTogether,
} from './documents.ts'

/**
 * A document to write, with the version it replaces. Without a version, the document must be new. Its companion is
 * written in the same transaction.
 */
export type VersionedWrite = {
  readonly document: JSONObject & { id: string }
  readonly version: string | undefined
  readonly companion?: VersionedWrite
}

/** Operations that each transaction has besides its writes. When one fails, the transaction fails. */
export type Companions<Write> = { readonly maxCount: number; of(writes: readonly Write[]): readonly OperationInput[] }

const NO_COMPANIONS: Companions<unknown> = { maxCount: 0, of: () => [] }

/** Bytes of documents in one transaction. Cosmos accepts 2 MB, including the operations around the documents. */
const TRANSACTION_LIMIT_BYTES = 1_800_000
const TRANSACTIONS_AT_ONCE_COUNT = 4

/**
 * Writes all documents in as few transactions as possible, a few at a time.
 * @param writes Read as the transactions begin, so that thousands of documents are not converted at once.
 * @returns The ids of the documents that were not written because an operation of their transaction had a conflict.
 */
export async function writeVersioned<Write extends VersionedWrite>(
  container: Container,
  partition: string,
  writes: Iterable<Write>,
  companions: Companions<Write> = NO_COMPANIONS,
): Promise<ReadonlySet<string>> {
  const transactions = inTransactions(writes, OPERATIONS_PER_BATCH_COUNT - companions.maxCount)
  const conflicts = new Set<string>()
  const write = async (transaction: Write[]) => {
    const operations = [...companions.of(transaction), ...transaction.flatMap(operationsOf)]
    const failure = await writeTogether(container, partition, operations)
    if (failure === undefined) return
    throwUnlessConflict(failure)
    for (const { document } of transaction) conflicts.add(document.id)
  }
  let isOver = false
  const lane = async (position: number): Promise<void> => {
    // Converting and serializing a transaction takes milliseconds. Each first one has a round of the event loop of its
    // own.
    for (let round = 0; round < position && !isOver; round += 1) await nextRound()
    for (let step = transactions.next(); !step.done; step = transactions.next()) await write(step.value)
    isOver = true
  }
  await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE_COUNT }, (_, position) => lane(position)))
  return conflicts
}

/**
 * Writes all documents in order. Each transaction also replaces the head document and requires the version that the
 * previous transaction wrote, the first one the given version. The first conflict ends the chain.
 * @returns The ids of the documents that were not written.
 */
export async function writeInChain<Write extends VersionedWrite>(
  container: Container,
  partition: string,
  writes: readonly Write[],
  { document, version }: VersionedWrite,
  companions: Companions<Write>,
): Promise<ReadonlySet<string>> {
  const transactions = [...inTransactions(writes, OPERATIONS_PER_BATCH_COUNT - companions.maxCount - 1)]
  let headVersion = version
  for (const [position, transaction] of transactions.entries()) {
    const head = writeOf(document, headVersion)
    const operations = [head, ...companions.of(transaction), ...transaction.flatMap(operationsOf)]
    const outcome = await versionsTogether(container, partition, operations)
    if ('status' in outcome) {
      throwUnlessConflict(outcome)
      const unwritten = transactions.slice(position).flat()
      return new Set(unwritten.map((write) => write.document.id))
    }
    headVersion = outcome.versions[0]
    if (headVersion === undefined) throw new Error(`The database returned no version of ${document.id}`)
  }
  return new Set()
}

function throwUnlessConflict({ status, index }: TransactionFailure): void {
  if (!isWriteConflict(status)) throw new Error(`Operation ${index} of a transaction failed: ${status}`)
}

/** Companions are small, and there are few: only their number counts. */
function* inTransactions<Write extends VersionedWrite>(
  writes: Iterable<Write>,
  atMostCount: number,
): Generator<Write[]> {
  const limits = { atMostCount, atMostBytes: TRANSACTION_LIMIT_BYTES }
  for (const batch of chunksWithin(writes, limits, ({ document }) => Buffer.byteLength(JSON.stringify(document)))) {
    yield* chunksWithin(batch, { atMostCount, atMostBytes: atMostCount }, operationCount)
  }
}

const operationCount = ({ companion }: VersionedWrite): number =>
  companion === undefined ? 1 : 1 + operationCount(companion)

const operationsOf = ({ document, version, companion }: VersionedWrite): OperationInput[] => [
  writeOf(document, version),
  ...(companion === undefined ? [] : operationsOf(companion)),
]
