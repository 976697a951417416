import type { Container, SqlParameter } from '@azure/cosmos'
import { type Page, pageFrom } from '../kernel/versioned.ts'
import { queryAll, queryDocuments } from './documents.ts'

type KeysetQuery = {
  /** A condition on `c`. */
  readonly where: string
  readonly parameters: readonly SqlParameter[]
  /** The last id of the previous page. */
  readonly after: string | undefined
  readonly size: number
}

/**
 * Maximum number of query responses, of up to 4 MB each, that one page is read from. A page normally fits in two. A
 * page of unusually large documents ends early to bound the memory used.
 * https://learn.microsoft.com/azure/cosmos-db/concepts-limits
 */
const RESPONSES_PER_PAGE_COUNT = 5

/** Returns the next values of a property, in ascending order, of the documents that satisfy a condition on `c`. */
export function readValues(
  container: Container,
  partition: string,
  { property, where, after, size }: Pick<KeysetQuery, 'where' | 'after' | 'size'> & { readonly property: string },
): Promise<string[]> {
  const query = `SELECT TOP @size VALUE ${property} FROM c WHERE ${property} > @after AND ${where} ORDER BY ${property}`
  const parameters = [
    { name: '@size', value: size },
    { name: '@after', value: after ?? '' },
  ]
  return queryAll<string>(container, partition, { query, parameters }, { maxItemCount: size })
}

/** Returns a page ordered by id. Reads one document more than the page size to detect the last page. */
export async function readPage<T extends { id: string }>(
  container: Container,
  partition: string,
  { where, parameters, after, size }: KeysetQuery,
): Promise<Page<T>> {
  const from = after === undefined ? '' : 'AND c.id > @after'
  const query = {
    query: `SELECT TOP @count * FROM c WHERE ${where} ${from} ORDER BY c.id`,
    parameters: [
      ...parameters.filter(({ value }) => value !== null),
      { name: '@count', value: size + 1 },
      ...(after === undefined ? [] : [{ name: '@after', value: after }]),
    ],
  }
  const found: T[] = []
  let responseCount = 0
  // One response holds the page unless it exceeds the size limit.
  for await (const response of queryDocuments<T>(container, partition, query, { maxItemCount: size + 1 })) {
    found.push(...response)
    responseCount += 1
    if (responseCount === RESPONSES_PER_PAGE_COUNT) break
  }
  return pageFrom(found, size, ({ id }) => id, found.length > size || responseCount === RESPONSES_PER_PAGE_COUNT)
}
