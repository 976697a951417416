import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Api } from '../../functions/console/api.ts'
import { lengthOf, type PeopleSource, peopleMatching } from '../../functions/console/listed-people.ts'

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

describe('The list behind a number of a preview', () => {
  const question = { preview: { objectType: 'OrgUnit', condition: {} } }
  const preview = [{ objectId: 'unit', displayName: 'Service Desk' }]

  it('is loaded when it is asked for again after a failure', async () => {
    let callCount = 0
    const send = async () => {
      callCount++
      if (callCount === 1) throw new TypeError('Failed to fetch')
      return { data: { preview } }
    }
    const { path, read } = peopleMatching({ send } as unknown as Api, question, 'preview')
    await assert.rejects(read(path), TypeError)
    assert.deepEqual(
      (await read(path)).items.map(({ name }) => name),
      ['Service Desk'],
    )
    await read(path)
    assert.equal(callCount, 2)
  })

  it('has as many people as it asks for, at most', async () => {
    const limits: unknown[] = []
    const send = async (_method: string, _path: string, { body }: { readonly body: { readonly limit: number } }) => {
      limits.push(body.limit)
      return { data: { preview } }
    }
    const { path, read, limit } = peopleMatching({ send } as unknown as Api, question, 'preview')
    await read(path)
    assert.deepEqual(limits, [limit])
  })
})
