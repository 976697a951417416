import { Type } from 'typebox'
import { Refusal } from '../kernel/refusals.ts'
import type { Page } from '../kernel/versioned.ts'
import type { RouteResult } from './envelope.ts'
import { type SignatureBinding, signedTexts } from './signed-texts.ts'

const PAGE_SIZE_DEFAULT = 2000
const PAGE_SIZE_LIMIT = 5000
const CORE_OBJECT_PAGE_SIZE_LIMIT = 10_000

const pageSizeUpTo = (maximum: number) =>
  Type.Integer({
    minimum: 1,
    maximum,
    description: `Maximum number of items per page. Default: the page size of the cursor, or ${PAGE_SIZE_DEFAULT} without one.`,
  })

/** The query of paged lists. */
export const PageQuery = Type.Object({
  pageSize: Type.Optional(pageSizeUpTo(PAGE_SIZE_LIMIT)),
  nextCursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The `nextCursor` of the previous page. Opaque; valid for the same list and caller only.',
    }),
  ),
})

/** The query of lists of core objects, which are synced in large pages. */
export const CoreObjectPageQuery = Type.Object({
  ...PageQuery.properties,
  pageSize: Type.Optional(pageSizeUpTo(CORE_OBJECT_PAGE_SIZE_LIMIT)),
})
type AskedPage = { readonly pageSize?: number | undefined; readonly nextCursor?: string | undefined }

/**
 * Returns one page of a list. Without `pageSize` in the query, the page size of the cursor applies.
 * @throws Refusal `InvalidCursor`.
 */
export function pagedResult<T>(
  query: AskedPage,
  binding: CursorBinding,
  cursors: OpenCursors,
  read: (after: string | undefined, size: number) => Promise<Page<T>>,
  defaultSize = PAGE_SIZE_DEFAULT,
): Promise<RouteResult<readonly T[]>> {
  const readItems = async (after: string | undefined, size: number) => {
    const { items, continueAfter } = await read(after, size)
    return { data: items, continueAfter }
  }
  return pagedRecord(query, binding, cursors, readItems, defaultSize)
}

/** As `pagedResult`, for a record that has the page among its members. */
export async function pagedRecord<T>(
  { pageSize, nextCursor }: AskedPage,
  binding: CursorBinding,
  cursors: OpenCursors,
  read: (after: string | undefined, size: number) => Promise<{ data: T; continueAfter?: string | undefined }>,
  defaultSize = PAGE_SIZE_DEFAULT,
): Promise<RouteResult<T>> {
  const position = nextCursor === undefined ? undefined : (await cursors()).open(nextCursor, binding)
  const size = pageSize ?? position?.pageSize ?? defaultSize
  const { data, continueAfter } = await read(position?.after, size)
  if (continueAfter === undefined) return { data }
  return { data, nextCursor: (await cursors()).sign({ after: continueAfter, pageSize: size }, binding) }
}

/** Where the next page starts. */
type CursorPosition = {
  /** The last id of the previous page. */
  readonly after: string
  readonly pageSize: number
}

/** What a cursor is valid for: tenant, operation, the caller's scope, filters. */
export type CursorBinding = SignatureBinding

export type Cursors = {
  sign(position: CursorPosition, binding: CursorBinding): string
  /** @throws Refusal `InvalidCursor` for anything that `sign` did not return for the same binding. */
  open(cursor: string, binding: CursorBinding): CursorPosition
}

/** Resolves when the keys are loaded. */
export type OpenCursors = () => Promise<Cursors>

const PREFIX = 'v1_'

/**
 * Cursors whose position is readable (plain base64url) but authenticated: a client cannot alter one or use it for
 * another list. They survive a restart.
 * @param keys See `signedTexts`.
 */
export function cursors(keys: readonly string[]): Cursors {
  const signed = signedTexts(PREFIX, keys)
  return {
    sign: ({ after, pageSize }, binding) => signed.sign(JSON.stringify([after, pageSize]), binding),
    open(cursor, binding) {
      const text = signed.open(cursor, binding)
      if (text === undefined) {
        throw new Refusal('InvalidCursor', 'The cursor is invalid or belongs to another list', 'nextCursor')
      }
      const [after, pageSize] = JSON.parse(text) as [string, number]
      return { after, pageSize }
    },
  }
}
