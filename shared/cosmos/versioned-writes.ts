import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { chunkWithin } from '../kernel/chunk.ts'
import { forEachConcurrent } from '../kernel/concurrency.ts'
import {
  isWriteConflict,
  OPERATIONS_PER_BATCH_COUNT,
  type TransactionFailure,
  versionsTogether,
  writeTogether,
} from './documents.ts'

/** A document to be written, with the version it replaces; without one it must be new. */
export type VersionedWrite = { readonly document: JSONObject & { id: string }; readonly version: string | undefined }

/** Bytes. The store takes 2 MB in one transaction; what is around the documents needs its part. */
const TRANSACTION_LIMIT_BYTES = 1_800_000
const TRANSACTIONS_AT_ONCE_COUNT = 4

/**
 * Writes all in as few transactions as possible, a few at a time.
 * @param companions Operations that each transaction does as well: where one fails, so does the transaction.
 * @returns The ids of those that were not written because one of their transaction was overtaken by someone else.
 */
export async function writeVersioned(
  container: Container,
  partition: string,
  writes: readonly VersionedWrite[],
  companions: readonly OperationInput[] = [],
): Promise<ReadonlySet<string>> {
  const transactions = inTransactions(writes, OPERATIONS_PER_BATCH_COUNT - companions.length)
  const overtaken = new Set<string>()
  await forEachConcurrent(transactions, TRANSACTIONS_AT_ONCE_COUNT, async (transaction) => {
    const operations = [...companions, ...transaction.map(operationOf)]
    const failure = await writeTogether(container, partition, operations)
    if (failure === undefined) return
    throwUnlessConflict(failure)
    for (const { document } of transaction) overtaken.add(document.id)
  })
  return overtaken
}

/**
 * Writes all in order, each transaction on the condition that nobody but the one before it has written `head` since the
 * version that it quotes. After the first that was overtaken, none is tried.
 * @returns The ids of those that were not written.
 */
export async function writeInChain(
  container: Container,
  partition: string,
  writes: readonly VersionedWrite[],
  { document, version }: VersionedWrite,
  companions: readonly OperationInput[],
): Promise<ReadonlySet<string>> {
  const transactions = inTransactions(writes, OPERATIONS_PER_BATCH_COUNT - companions.length - 1)
  let headVersion = version
  for (const [position, transaction] of transactions.entries()) {
    const head = operationOf({ document, version: headVersion })
    const operations = [head, ...companions, ...transaction.map(operationOf)]
    const outcome = await versionsTogether(container, partition, operations)
    if ('status' in outcome) {
      throwUnlessConflict(outcome)
      const unwritten = transactions.slice(position).flat()
      return new Set(unwritten.map((write) => write.document.id))
    }
    headVersion = outcome.versions[0]
    if (headVersion === undefined) throw new Error(`The database told no version of ${document.id}`)
  }
  return new Set()
}

function throwUnlessConflict({ status, index }: TransactionFailure): void {
  if (!isWriteConflict(status)) throw new Error(`Operation ${index} of a transaction failed: ${status}`)
}

function inTransactions(writes: readonly VersionedWrite[], atMostCount: number): VersionedWrite[][] {
  const limits = { atMostCount, atMostBytes: TRANSACTION_LIMIT_BYTES }
  return chunkWithin(writes, limits, ({ document }) => Buffer.byteLength(JSON.stringify(document)))
}

function operationOf({ document, version }: VersionedWrite): OperationInput {
  return version === undefined
    ? { operationType: 'Create', resourceBody: document }
    : { operationType: 'Replace', id: document.id, resourceBody: document, ifMatch: version }
}
