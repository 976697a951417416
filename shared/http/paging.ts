import { type Static, Type } from 'typebox'
import type { Page } from '../kernel/versioned.ts'
import type { CursorBinding, OpenCursors } from './cursor.ts'
import type { RouteResult } from './envelope.ts'

/** Statement, "Paging", and decisions, section 3. */
const PAGE_SIZE_DEFAULT = 2000
const PAGE_SIZE_LIMIT = 5000

/** The query of every list that is read page by page. */
export const PageQuery = Type.Object({
  pageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_LIMIT,
      description: `Left out: that of the cursor, or ${PAGE_SIZE_DEFAULT}.`,
    }),
  ),
  nextCursor: Type.Optional(
    Type.String({ maxLength: 1000, description: 'As the page before gave it. Opaque, and good for this list alone.' }),
  ),
})
export type PageQuery = Static<typeof PageQuery>

/**
 * Answers one page of a list. The page size of a cursor is the one it was made with unless the query gives another.
 * @throws Refusal `InvalidCursor`.
 */
export async function pagedAnswer<T>(
  { pageSize, nextCursor }: PageQuery,
  binding: CursorBinding,
  cursors: OpenCursors,
  read: (after: string | undefined, size: number) => Promise<Page<T>>,
): Promise<RouteResult<readonly T[]>> {
  const position = nextCursor === undefined ? undefined : (await cursors()).open(nextCursor, binding)
  const size = pageSize ?? position?.pageSize ?? PAGE_SIZE_DEFAULT
  const { items, continueAfter } = await read(position?.after, size)
  if (continueAfter === undefined) return { data: items }
  return { data: items, nextCursor: (await cursors()).seal({ after: continueAfter, pageSize: size }, binding) }
}
