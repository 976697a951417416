import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newestEntries } from '../../functions/console/newest-entries.ts'

const page = (days: readonly number[], nextCursor?: string) => {
  return { items: days.map((day) => ({ at: `2030-03-0${day}T12:00:00Z` })), nextCursor }
}

describe('The newest entries of several lists', () => {
  for (const [claim, pages, expected, areAll] of [
    ['are all of them, the newest first', [page([5, 1]), page([3])], [5, 3, 1], true],
    ['end where a list has more', [page([9, 6], 'more'), page([8, 4])], [9, 8, 6], false],
    ['end with the list that ends first', [page([9, 2], 'more'), page([8, 7], 'more')], [9, 8, 7], false],
    ['are those of the others where a page is empty', [page([], 'more'), page([4])], [4], false],
    ['are none without lists', [], [], true],
  ] as const) {
    it(claim, () => {
      const newest = newestEntries(pages)
      assert.deepEqual(
        newest.entries.map(({ at }) => Number(at.slice(9, 10))),
        expected,
      )
      assert.equal(newest.areAll, areAll)
    })
  }
})
