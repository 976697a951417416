import type {
  Container,
  FeedOptions,
  ItemDefinition,
  JSONObject,
  OperationInput,
  QueryIterator,
  Resource,
  SqlParameter,
  SqlQuerySpec,
} from '@azure/cosmos'
import type { RefusalCode } from '../kernel/refusal-register.ts'
import { Refusal } from '../kernel/refusals.ts'

/** What the database adds to every document. */
export type Stored<T> = T & Resource

/** Operations that Cosmos takes in one transaction. https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
export const OPERATIONS_PER_BATCH_COUNT = 100

/**
 * Documents of a page of whole core objects or connector objects, which can have hundreds of values each. The SDK
 * parses a response in one step, which holds up all other requests: that of 250 documents with 100 values each takes
 * 5 ms.
 */
export const WHOLE_DOCUMENTS_PER_PAGE_COUNT = 250

/** Documents of a page of few properties where a list may be long, so that it costs few round trips. */
export const DOCUMENTS_PER_PAGE_COUNT = 20_000

/** Values of a query by the names that it has for them, without `@`. */
export type QueryParameters = Readonly<Record<string, string | number | readonly string[] | object>>

/** Parameters as the SDK wants them. */
export function sqlParameters(parameters: QueryParameters): SqlParameter[] {
  return Object.entries(parameters).map(([name, value]) => ({ name: `@${name}`, value }) as SqlParameter)
}

/** Undefined when there is none: the SDK answers 404 rather than throwing. */
export async function readDocument<T extends ItemDefinition>(
  container: Container,
  id: string,
  partition: string,
): Promise<Stored<T> | undefined> {
  const { resource } = await container.item(id, partition).read<T>()
  return resource as Stored<T> | undefined
}

/** All documents of one partition that the query finds, page after page. */
export async function* queryDocuments<T>(
  container: Container,
  partition: string,
  query: SqlQuerySpec,
  options: FeedOptions = {},
): AsyncGenerator<T[]> {
  yield* pagesOf(container.items.query<T>(query, { ...options, partitionKey: partition }))
}

/** All documents of all partitions that the query finds. Without an order, which costs more there. */
export async function queryPartitions<T>(container: Container, query: SqlQuerySpec): Promise<T[]> {
  return (await Array.fromAsync(pagesOf(container.items.query<T>(query)))).flat()
}

async function* pagesOf<T>(iterator: QueryIterator<T>): AsyncGenerator<T[]> {
  while (iterator.hasMoreResults()) {
    const { resources } = await iterator.fetchNext()
    if (resources !== undefined && resources.length > 0) yield resources
  }
}

/** All documents of one partition that the query finds. Only for queries that are bounded by what they ask. */
export async function queryAll<T>(
  container: Container,
  partition: string,
  query: SqlQuerySpec,
  options: FeedOptions = {},
): Promise<T[]> {
  const all: T[] = []
  for await (const page of queryDocuments<T>(container, partition, query, options)) all.push(...page)
  return all
}

/**
 * The number of documents of one partition; with a condition as in a query, of those that satisfy it. The database may
 * count in several pages, each with the count of a part: https://github.com/Azure/azure-cosmosdb-node/issues/224
 */
export async function countDocuments(
  container: Container,
  partition: string,
  condition?: string,
  parameters: QueryParameters = {},
): Promise<number> {
  const query = `SELECT VALUE COUNT(1) FROM c${condition === undefined ? '' : ` WHERE ${condition}`}`
  const counts = await queryAll<number>(container, partition, { query, parameters: sqlParameters(parameters) })
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Creates a document unless one with its id exists. @returns What was created; undefined otherwise. */
export async function createUnlessExists<T extends ItemDefinition>(
  container: Container,
  document: T,
): Promise<Stored<T> | undefined> {
  const created = await container.items.create<T>(document).catch((error: unknown) => {
    if (statusOf(error) !== 409) throw error
  })
  return created?.resource
}

/** Deletes a document, unless it is gone already. */
export async function deleteUnlessGone(container: Container, id: string, partition: string): Promise<void> {
  const deletion = container.item(id, partition).delete()
  await deletion.catch((error: unknown) => {
    if (statusOf(error) !== 404) throw error
  })
}

/** Quotes the version that was read: the write fails with 412 if the document was changed concurrently. */
export function ifVersion(version: string): { accessCondition: { type: 'IfMatch'; condition: string } } {
  return { accessCondition: { type: 'IfMatch', condition: version } }
}

/** For `.catch()`: turns known statuses into refusals; what it does not know goes on untouched. */
export function refuse(codes: Readonly<Record<number, RefusalCode>>): (error: unknown) => never {
  return (error) => {
    const code = codes[statusOf(error) ?? 0]
    if (code === undefined) throw error
    throw new Refusal(code, undefined, undefined, error)
  }
}

/** The HTTP status of an error of the SDK, also of a batch refused as a whole. */
export function statusOf(error: unknown): number | undefined {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  if (typeof code === 'number') return code
  return typeof cause?.code === 'number' ? cause.code : undefined
}

/** Whether a write failed because the document was concurrently deleted (404), created (409) or changed (412). */
export function isWriteConflict(status: number | undefined): boolean {
  return status === 404 || status === 409 || status === 412
}

type Document = { readonly id: string; readonly [member: string]: unknown }

/** The creation of a document in a transaction, or the replacement of the version that was read. */
export function writeOf(document: Document, version: string | undefined): OperationInput {
  const resourceBody = document as JSONObject & { id: string }
  return version === undefined
    ? { operationType: 'Create', resourceBody }
    : { operationType: 'Replace', id: document.id, resourceBody, ifMatch: version }
}

/** A deletion in a transaction, of this version alone. The SDK's type lacks `ifMatch`, which the service takes. */
export function deletionOf(id: string, version: string): OperationInput {
  const deletion: OperationInput & { ifMatch: string } = { operationType: 'Delete', id, ifMatch: version }
  return deletion
}

/**
 * Writes all operations in one transaction, at most `OPERATIONS_PER_BATCH_COUNT`.
 * @returns The status of the operation that failed, or undefined when all were written.
 */
export async function writeTogether(
  container: Container,
  partition: string,
  operations: OperationInput[],
): Promise<TransactionFailure | undefined> {
  const outcome = await versionsTogether(container, partition, operations)
  return 'status' in outcome ? outcome : undefined
}

/** Deletes documents in one transaction, at most `OPERATIONS_PER_BATCH_COUNT`. Ignores those that are gone already. */
export async function deleteTogether(container: Container, partition: string, ids: readonly string[]): Promise<void> {
  const deletions = ids.map((id): OperationInput => ({ operationType: 'Delete', id }))
  const failed = await writeTogether(container, partition, deletions)
  if (failed === undefined) return
  if (failed.status !== 404) throw new Error(`Deleting documents of ${partition} failed with ${failed.status}`)
  await deleteTogether(container, partition, ids.toSpliced(failed.index, 1))
}

/** The operation of a transaction that failed. */
export type TransactionFailure = { readonly status: number; readonly index: number }

/**
 * Writes all operations in one transaction, at most `OPERATIONS_PER_BATCH_COUNT`.
 * @returns The versions of what was written, in the order of the operations, or the operation that failed.
 */
export async function versionsTogether(
  container: Container,
  partition: string,
  operations: OperationInput[],
): Promise<TransactionFailure | { readonly versions: readonly (string | undefined)[] }> {
  if (operations.length === 0) return { versions: [] }
  // What is written is known: nothing of it has to come back.
  const options = { contentResponseOnWriteEnabled: false }
  const { result, code } = await container.items.batch(operations, partition, options)
  if (code !== 207) return { versions: (result ?? []).map(({ eTag }) => eTag) }
  // All but the failing operation answer 424.
  const index = (result ?? []).findIndex(({ statusCode }) => statusCode >= 400 && statusCode !== 424)
  return { status: result?.[index]?.statusCode ?? 500, index }
}

/**
 * Creates a document, or replaces the version that was read.
 * @returns The new version; undefined when others have written the document.
 */
export async function savedVersion(
  container: Container,
  partition: string,
  document: Document,
  version: string | undefined,
): Promise<string | undefined> {
  try {
    const { etag } =
      version === undefined
        ? await container.items.create(document)
        : await container.item(document.id, partition).replace(document, ifVersion(version))
    return etag
  } catch (error) {
    const conflicts = version === undefined ? [409] : [404, 412]
    if (conflicts.includes(statusOf(error) ?? 0)) return undefined
    throw error
  }
}

/** As `savedVersion`. @throws Refusal `StaleVersion` when others have written the document. */
export async function saveCurrent(...write: Parameters<typeof savedVersion>): Promise<string> {
  const saved = await savedVersion(...write)
  if (saved === undefined) throw new Refusal('StaleVersion')
  return saved
}
