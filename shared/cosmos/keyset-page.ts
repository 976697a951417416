import type { Container, SqlParameter } from '@azure/cosmos'
import type { Page } from '../kernel/versioned.ts'
import { queryDocuments } from './documents.ts'

type KeysetQuery = {
  /** A condition on `c`. */
  readonly where: string
  readonly parameters: readonly SqlParameter[]
  /** The last id of the page before. */
  readonly after: string | undefined
  readonly size: number
}

/**
 * Answers of the store, of 4 MB at most each, that one page is made of: what is asked for fits into two of them, unless
 * documents are unusually large. A page of these ends early, rather than fill the memory.
 * https://learn.microsoft.com/azure/cosmos-db/concepts-limits
 */
const ANSWERS_PER_PAGE_COUNT = 5

/** A page in the order of ids. It reads one document more than it gives, so that the last page knows that it is. */
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
  let answerCount = 0
  // In one answer, if it is not too large for one.
  for await (const answer of queryDocuments<T>(container, partition, query, { maxItemCount: size + 1 })) {
    found.push(...answer)
    answerCount += 1
    if (answerCount === ANSWERS_PER_PAGE_COUNT) break
  }
  const items = found.slice(0, size)
  const last = items.at(-1)
  const isLast = found.length <= size && answerCount < ANSWERS_PER_PAGE_COUNT
  return isLast || last === undefined ? { items } : { items, continueAfter: last.id }
}
