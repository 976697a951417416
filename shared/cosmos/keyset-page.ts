import type { Container, SqlParameter } from '@azure/cosmos'
import type { Page } from '../domain/versioned.ts'
import { queryAll } from './documents.ts'

type KeysetQuery = {
  /** A condition on `c`. */
  readonly where: string
  readonly parameters: readonly SqlParameter[]
  /** The last id of the page before. */
  readonly after: string | undefined
  readonly size: number
}

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
  // In one answer, if it is not too large for one.
  const found = await queryAll<T>(container, partition, query, { maxItemCount: size + 1 })
  const items = found.slice(0, size)
  const last = items.at(-1)
  return found.length > size && last !== undefined ? { items, continueAfter: last.id } : { items }
}
