import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { OPERATIONS_PER_BATCH_COUNT, type TransactionFailure, versionsTogether, writeTogether } from './documents.ts'

/** A document to be written, with the version it replaces; without one it must be new. */
export type VersionedWrite = { readonly document: JSONObject & { id: string }; readonly version: string | undefined }

/** Bytes. The store takes 2 MB in one transaction; what is around the documents needs its part. */
const TRANSACTION_LIMIT_BYTES = 1_800_000
const TRANSACTIONS_AT_ONCE_COUNT = 4
/** Someone else wrote, removed or made the document first. */
const OVERTAKEN_STATUSES = [404, 409, 412]

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
  const next = transactions.values()
  const work = async (): Promise<void> => {
    for (const transaction of next) {
      const operations = [...companions, ...transaction.map(operationOf)]
      const failure = await writeTogether(container, partition, operations)
      if (failure === undefined) continue
      refuseFault(failure)
      for (const { document } of transaction) overtaken.add(document.id)
    }
  }
  await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE_COUNT }, work))
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
      refuseFault(outcome)
      const unwritten = transactions.slice(position).flat()
      return new Set(unwritten.map((write) => write.document.id))
    }
    headVersion = outcome.versions[0]
    if (headVersion === undefined) throw new Error(`The database told no version of ${document.id}`)
  }
  return new Set()
}

function refuseFault({ status, index }: TransactionFailure): void {
  if (!OVERTAKEN_STATUSES.includes(status)) throw new Error(`Operation ${index} of a transaction failed: ${status}`)
}

function inTransactions(writes: readonly VersionedWrite[], limitCount: number): VersionedWrite[][] {
  const transactions: VersionedWrite[][] = []
  let sizeBytes = Number.POSITIVE_INFINITY
  for (const write of writes) {
    const writeBytes = Buffer.byteLength(JSON.stringify(write.document))
    const current = transactions.at(-1)
    const isFull = current?.length === limitCount || sizeBytes + writeBytes > TRANSACTION_LIMIT_BYTES
    if (current === undefined || isFull) {
      transactions.push([write])
      sizeBytes = writeBytes
    } else {
      current.push(write)
      sizeBytes += writeBytes
    }
  }
  return transactions
}

function operationOf({ document, version }: VersionedWrite): OperationInput {
  return version === undefined
    ? { operationType: 'Create', resourceBody: document }
    : { operationType: 'Replace', id: document.id, resourceBody: document, ifMatch: version }
}
