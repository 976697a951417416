import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiUnreachable } from '../../functions/console/api.ts'
import { type DecideResult, decideAll } from '../../functions/console/decide-all.ts'

const REFUSED = { index: 7, status: 409, errors: [{ code: 'StaleVersion', message: 'The request has changed.' }] }
const LOST = new ApiUnreachable('The service is not reachable')

const requests = Array.from({ length: 250 }, (_, index) => ({
  id: `request ${index}`,
  collectionId: 'parking',
  requesterName: `Person ${index}`,
  updatedAt: '2030-06-01T08:00:00.000+00:00',
}))
const idsFrom = (start: number): string[] => requests.slice(start).map(({ id }) => id)

/** Decides on all requests. @param answers of the calls, in order. */
async function decided(answers: readonly (readonly DecideResult[] | Error)[]) {
  const counts: number[] = []
  const result = await decideAll(requests, { decision: 'Approve', notes: '' }, async (decisions) => {
    const answer = answers[counts.length] ?? []
    counts.push(decisions.length)
    if (answer instanceof Error) throw answer
    return answer
  })
  return { ...result, counts }
}

const refusedPerson = (index: number) => [{ name: `Person ${index}`, errors: REFUSED.errors }]

describe('A decision on many requests', () => {
  for (const [claim, answers, expected] of [
    [
      'decides on a hundred at once, and names whom it was refused for',
      [[], [REFUSED], []],
      { doneCount: 249, failures: refusedPerson(107), restIds: [], error: undefined, counts: [100, 100, 50] },
    ],
    [
      'counts what was decided before a call failed, and leaves the rest',
      [[REFUSED], LOST],
      { doneCount: 99, failures: refusedPerson(7), restIds: idsFrom(100), error: LOST, counts: [100, 100] },
    ],
    [
      'leaves all of them where the first call failed',
      [LOST],
      { doneCount: 0, failures: [], restIds: idsFrom(0), error: LOST, counts: [100] },
    ],
  ] as const) {
    it(claim, async () => assert.deepEqual(await decided(answers), expected))
  }

  it('decides on each request in the version that was shown', async () => {
    const shown = requests.slice(0, 2).map((request, index) => ({ ...request, updatedAt: `version ${index}` }))
    const sent: object[] = []
    await decideAll(shown, { decision: 'Reject', notes: 'Full' }, async (decisions) => {
      sent.push(...decisions)
      return []
    })
    const decision = { collectionId: 'parking', decision: 'Reject', notes: 'Full' }
    assert.deepEqual(sent, [
      { ...decision, requestId: 'request 0', updatedAt: 'version 0' },
      { ...decision, requestId: 'request 1', updatedAt: 'version 1' },
    ])
  })
})
