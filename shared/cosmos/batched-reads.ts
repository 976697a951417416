import type { Container, ItemDefinition, OperationInput } from '@azure/cosmos'
import { batchReads } from '../kernel/concurrency.ts'
import { readDocument, type Stored, statusOf } from './documents.ts'

/** Documents that one request reads, because Cosmos limits the size of a response. */
const DOCUMENTS_PER_READ_COUNT = 50

/** Longer than a usual read, and shorter than a delay that users notice. */
const OVERLAP_AFTER_MS = 100

const READ_LIMITS = { maxKeys: DOCUMENTS_PER_READ_COUNT, overlapAfterMs: OVERLAP_AFTER_MS }

/**
 * Reads documents by id; undefined if there is none. Reads of one partition during another read share the next request,
 * which costs as many request units as point reads of the same documents.
 */
export function batchedDocumentReads<T extends ItemDefinition>(
  container: Container,
): (partition: string, id: string) => Promise<Stored<T> | undefined> {
  return batchReads((partition, ids) => readDocuments<T>(container, partition, ids), READ_LIMITS)
}

/** The documents that exist, by id: a few hundred at most. In one request if all of them exist. */
export async function readDocuments<T extends ItemDefinition>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Map<string, Stored<T>>> {
  const together = ids.length > 1 ? await readTogether<T>(container, partition, ids) : undefined
  return together ?? readEach<T>(container, partition, ids)
}

/** Point reads that cost less than a query, which costs more than three of them. */
export const FEW_READS_COUNT = 3

/** The documents of a few ids; undefined for more ids, which a query reads at less cost. */
export async function readFew<T extends ItemDefinition>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Stored<T>[] | undefined> {
  const different = [...new Set(ids)]
  if (different.length > FEW_READS_COUNT) return undefined
  return [...(await readEach<T>(container, partition, different)).values()]
}

async function readEach<T extends ItemDefinition>(container: Container, partition: string, ids: readonly string[]) {
  const found = new Map<string, Stored<T>>()
  const read = async (id: string) => {
    const document = await readDocument<T>(container, id, partition)
    if (document !== undefined) found.set(id, document)
  }
  await Promise.all(ids.map(read))
  return found
}

/**
 * Reads in one transaction. Undefined if a document is missing, which fails the transaction, if the response is too
 * large, or if the connection was lost: the SDK repeats point reads, but no transactions.
 */
async function readTogether<T>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Map<string, Stored<T>> | undefined> {
  const operations: OperationInput[] = ids.map((id) => ({ operationType: 'Read', id }))
  const response = await container.items.batch(operations, partition).catch((error: unknown) => {
    if (statusOf(error) === 413 || isLostConnection(error)) return undefined
    throw error
  })
  const { result } = response ?? {}
  if (result === undefined || !result.every(({ statusCode }) => statusCode === 200)) return undefined
  return new Map(ids.map((id, index) => [id, result[index]?.resourceBody as unknown as Stored<T>]))
}

const LOST_CONNECTION_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT']

function isLostConnection(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return LOST_CONNECTION_CODES.includes(cause?.code)
}
