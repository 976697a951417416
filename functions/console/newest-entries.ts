import type { PageOf } from './api.ts'

type Dated = { readonly at: string }

/**
 * The entries of the first pages of several lists, the newest first. Entries from before the end of a page are left out
 * while its list has more: they would be shown with gaps between them.
 */
export function newestEntries<Entry extends Dated>(
  pages: readonly PageOf<Entry>[],
): { readonly entries: readonly Entry[]; readonly areAll: boolean } {
  const cut = pages.filter(({ nextCursor }) => nextCursor !== undefined)
  const ends = cut.filter(({ items }) => items.length > 0).map(({ items }) => Math.min(...items.map(atMs)))
  const sinceMs = Math.max(...ends)
  const entries = pages
    .flatMap(({ items }) => items)
    .filter((entry) => atMs(entry) >= sinceMs)
    .sort((left, right) => atMs(right) - atMs(left))
  return { entries, areAll: cut.length === 0 }
}

const atMs = ({ at }: Dated): number => Date.parse(at)
