import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lengthOf, type PeopleSource } from '../../functions/console/listed-people.ts'

const source = (limit?: number): PeopleSource => ({
  path: '',
  read: async () => ({ items: [], nextCursor: undefined }),
  ...(limit !== undefined && { limit }),
})

describe('A list of people', () => {
  for (const [claim, limit, loadedCount, isComplete, count, total, isCutOff] of [
    ['counts all who belong to it, and tells that it is cut off', 10, 10, true, 12, 12, true],
    ['tells that it is cut off before all of it is loaded', 10, 5, false, 12, 12, true],
    ['is not cut off where it has as many as it can have', 10, 10, true, 10, 10, false],
    ['counts those loaded where fewer belong to it now', 10, 9, true, 12, 9, false],
    ['counts those loaded where it has no limit', undefined, 12, true, 11, 12, false],
    ['counts as many as it was opened with until all are loaded', undefined, 5, false, 12, 12, false],
  ] as const) {
    it(claim, () => assert.deepEqual(lengthOf(source(limit), { loadedCount, isComplete }, count), { total, isCutOff }))
  }
})
