import type { Container } from '@azure/cosmos'
import { type Page, pageFrom } from '../kernel/versioned.ts'
import { type QueryParameters, queryAll, sqlParameters } from './documents.ts'

/** A document with the time of its creation. Timestamps have one format, so that they sort as text. */
type Created = { readonly id: string; readonly createdAt: string }

export type CreationQuery = {
  /** A condition on `c`. It may contain `OR` only within brackets. */
  readonly where: string
  readonly parameters: QueryParameters
  readonly newestFirst: boolean
  /** The position of the last document of the previous page. */
  readonly after: string | undefined
  readonly size: number
}

/**
 * Returns a page ordered by creation, then id. The cost depends on the size of the page, not of the list. A query can
 * be ordered by one property only, so documents of the same time that a page ends between are read by queries of their
 * own.
 */
export async function readPageByCreation<T extends Created>(
  container: Container,
  partition: string,
  { after, size, ...query }: CreationQuery,
): Promise<Page<T>> {
  const find = finder<T>(container, partition, query)
  const neededCount = size + 1
  const [at, id] = after?.split(' ') ?? []
  const found = at === undefined || id === undefined ? [] : await find.ofTime(at, id, neededCount)
  if (found.length < neededCount) found.push(...(await find.beyond(at, neededCount - found.length)))
  return pageFrom(found, size, creationPosition)
}

/** The position of a document in the order of creation. */
export function creationPosition({ createdAt, id }: Created): string {
  return `${createdAt} ${id}`
}

/** Compares by creation, then id; the oldest first. */
export function compareCreation(left: Created, right: Created): number {
  const [first, second] = [creationPosition(left), creationPosition(right)]
  return first < second ? -1 : Number(first > second)
}

/** Which way a list by creation goes, and how many of its items a page has. */
type CreationRange = Pick<CreationQuery, 'newestFirst' | 'size'>

/** The first documents of several pages that start at the same position, each document once. */
export function firstOfPages<T extends Created>(
  pages: readonly Page<T>[],
  { newestFirst, size }: CreationRange,
): Page<T> {
  const all = [...new Map(pages.flatMap(({ items }) => items).map((item) => [item.id, item])).values()]
  all.sort(newestFirst ? (left, right) => compareCreation(right, left) : compareCreation)
  const isMore = all.length > size || pages.some(({ continueAfter }) => continueAfter !== undefined)
  return pageFrom(all, size, creationPosition, isMore)
}

type Finder<T> = {
  /** The first documents of a time, by id, after an id. */
  ofTime(at: string, id: string | undefined, count: number): Promise<T[]>
  /** The first documents beyond a time, by creation, then id. */
  beyond(at: string | undefined, count: number): Promise<T[]>
}

function finder<T extends Created>(
  container: Container,
  partition: string,
  { where, parameters, newestFirst }: Pick<CreationQuery, 'where' | 'parameters' | 'newestFirst'>,
): Finder<T> {
  const [after, order] = newestFirst ? ['<', 'DESC'] : ['>', 'ASC']
  const first = (condition: string, by: string, count: number, more: QueryParameters): Promise<T[]> =>
    queryAll<T>(container, partition, {
      query: `SELECT TOP @count * FROM c WHERE ${where} ${condition} ORDER BY ${by} ${order}`,
      parameters: sqlParameters({ ...parameters, ...more, count }),
    })
  const ofTime: Finder<T>['ofTime'] = (at, id, count) => {
    const rest = id === undefined ? '' : `AND c.id ${after} @id`
    return first(`AND c.createdAt = @at ${rest}`, 'c.id', count, { at, ...(id === undefined ? {} : { id }) })
  }
  return {
    ofTime,
    async beyond(at, count) {
      const rest = at === undefined ? '' : `AND c.createdAt ${after} @at`
      // One more shows whether all documents of the last time are among them: those of one time come in any order.
      const found = await first(rest, 'c.createdAt', count + 1, at === undefined ? {} : { at })
      found.sort(newestFirst ? (left, right) => compareCreation(right, left) : compareCreation)
      const last = found[count - 1]
      if (last === undefined || found[count]?.createdAt !== last.createdAt) return found.slice(0, count)
      const earlier = found.filter(({ createdAt }) => createdAt !== last.createdAt)
      return [...earlier, ...(await ofTime(last.createdAt, undefined, count - earlier.length))]
    },
  }
}

/** The conditions and parameters for those members of a filter that are given. @param conditions By member. */
export function matching<Filter extends object>(
  filter: Filter,
  conditions: Readonly<Record<keyof Filter, string>>,
): { readonly conditions: readonly string[]; readonly parameters: QueryParameters } {
  const equalities = Object.entries(filter).filter(([, value]) => value !== undefined)
  return {
    conditions: equalities.map(([member]) => conditions[member as keyof Filter]),
    parameters: Object.fromEntries(equalities),
  }
}
