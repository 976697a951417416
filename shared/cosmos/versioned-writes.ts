import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { OPERATIONS_PER_BATCH_COUNT, writeTogether } from './documents.ts'

/** A document to be written, with the version it replaces; without one it must be new. */
export type VersionedWrite = { readonly document: JSONObject & { id: string }; readonly version: string | undefined }

/** Bytes. The store takes 2 MB in one transaction; what is around the documents needs its part. */
const TRANSACTION_LIMIT_BYTES = 1_800_000
const TRANSACTIONS_AT_ONCE_COUNT = 4
/** Someone else wrote, removed or made the document first. */
const OVERTAKEN_STATUSES = [404, 409, 412]

/**
 * Writes all in as few transactions as possible, a few at a time.
 * @returns The ids of those that were not written because one of their transaction was overtaken by someone else.
 */
export async function writeVersioned(
  container: Container,
  partition: string,
  writes: readonly VersionedWrite[],
): Promise<ReadonlySet<string>> {
  const transactions = inTransactions(writes)
  const overtaken = new Set<string>()
  const next = transactions.values()
  const work = async (): Promise<void> => {
    for (const transaction of next) {
      const failure = await writeTogether(container, partition, transaction.map(operationOf))
      if (failure === undefined) continue
      const { id } = transaction[failure.index]?.document ?? {}
      if (!OVERTAKEN_STATUSES.includes(failure.status)) throw new Error(`Writing ${id} failed: ${failure.status}`)
      for (const { document } of transaction) overtaken.add(document.id)
    }
  }
  await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE_COUNT }, work))
  return overtaken
}

function inTransactions(writes: readonly VersionedWrite[]): VersionedWrite[][] {
  const transactions: VersionedWrite[][] = []
  let sizeBytes = Number.POSITIVE_INFINITY
  for (const write of writes) {
    const writeBytes = Buffer.byteLength(JSON.stringify(write.document))
    const current = transactions.at(-1)
    const isFull = current?.length === OPERATIONS_PER_BATCH_COUNT || sizeBytes + writeBytes > TRANSACTION_LIMIT_BYTES
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
