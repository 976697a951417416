import type { Container, ItemDefinition } from '@azure/cosmos'
import { batchReads } from '../kernel/concurrency.ts'
import { readDocument, readInBatch, type Stored, statusOf } from './documents.ts'

/** Documents that one request reads, because Cosmos limits the size of a response. */
const DOCUMENTS_PER_READ_COUNT = 50

/** Longer than a usual read, and shorter than a delay that users notice. */
const OVERLAP_AFTER_MS = 100

export const READ_LIMITS = { keysAtMost: DOCUMENTS_PER_READ_COUNT, overlapAfterMs: OVERLAP_AFTER_MS }

/**
 * Reads documents by id; undefined if there is none. A single read is a point read. Reads of one partition during
 * another read share the next request, which costs as many request units as the same point reads. That a document is
 * missing includes all earlier writes of all instances: a caller takes it for a deletion.
 */
export function batchedDocumentReads<T extends ItemDefinition>(
  container: Container,
): (partition: string, id: string) => Promise<Stored<T> | undefined> {
  return batchReads(async (partition, ids) => {
    const found = ids.length > 1 ? undefined : await readEach<T>(container, partition, ids)
    return found !== undefined && found.size > 0 ? found : readCurrentDocuments<T>(container, partition, ids)
  }, READ_LIMITS)
}

/** So many point reads cost less than a query, which costs more than three. */
export const FEW_READS_COUNT = 3

type ReadDocuments<T> = (
  container: Container,
  partition: string,
  ids: readonly string[],
) => Promise<Map<string, Stored<T>>>

/** The documents of a few ids, each by a point read; undefined for more ids, which a query reads at less cost. */
export async function readFew<T extends ItemDefinition>(
  container: Container,
  partition: string,
  ids: readonly string[],
  read: ReadDocuments<T> = readEach,
): Promise<Stored<T>[] | undefined> {
  const different = [...new Set(ids)]
  if (different.length > FEW_READS_COUNT) return undefined
  return different.length === 0 ? [] : [...(await read(container, partition, different)).values()]
}

/** The same with all earlier writes of all instances: a batch costs as much as the point reads. */
export function readCurrentFew<T extends ItemDefinition>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Stored<T>[] | undefined> {
  return readFew<T>(container, partition, ids, readCurrentDocuments)
}

/** The documents that exist, by id, in one request if all do. Reads include all earlier writes of all instances. */
export async function readCurrentDocuments<T extends ItemDefinition>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Map<string, Stored<T>>> {
  return (await readTogether<T>(container, partition, ids)) ?? (await readEach<T>(container, partition, ids))
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
 * Reads in one transaction. Undefined if a document is missing, which fails the transaction, or if the response is too
 * large.
 */
async function readTogether<T>(
  container: Container,
  partition: string,
  ids: readonly string[],
): Promise<Map<string, Stored<T>> | undefined> {
  const response = await readInBatch(container, ids, partition).catch((error: unknown) => {
    if (statusOf(error) === 413) return undefined
    throw error
  })
  const { result } = response ?? {}
  if (result === undefined || !result.every(({ statusCode }) => statusCode === 200)) return undefined
  return new Map(ids.map((id, index) => [id, result[index]?.resourceBody as unknown as Stored<T>]))
}
