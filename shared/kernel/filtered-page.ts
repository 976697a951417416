import type { Page } from './versioned.ts'

/** Reads for one page at most. A page has fewer items than requested when more than that is filtered out. */
const READS_PER_PAGE_COUNT = 5

/** A page of the items that pass, of a list that is read page by page. It can have fewer items than asked for. */
export async function filteredPage<T>(
  read: (after: string | undefined, size: number) => Promise<Page<T>>,
  passes: (item: T) => boolean,
  after: string | undefined,
  size: number,
): Promise<Page<T>> {
  const items: T[] = []
  let position = after
  for (let readCount = 1; ; readCount += 1) {
    const page = await read(position, size - items.length)
    items.push(...page.items.filter(passes))
    if (page.continueAfter === undefined) return { items }
    position = page.continueAfter
    if (items.length === size || readCount === READS_PER_PAGE_COUNT) return { items, continueAfter: position }
  }
}
