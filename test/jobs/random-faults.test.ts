import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import type { RequestRecord } from '../../infra/local/directory/request-log.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

const RUNS_COUNT = 200

/** Accounts of the collection (two PATCHes), and members of the group at the start (one PATCH). */
const WANTED_COUNT = 25
const FIRST_COUNT = 20

const faults: fc.Arbitrary<FaultDefinition[]> = fc.array(
  fc.record(
    {
      method: fc.constantFrom('GET', 'PATCH', 'POST', 'DELETE'),
      times: fc.integer({ min: 1, max: 6 }),
      status: fc.constantFrom(403, 409, 429, 500, 502, 503, 504),
      applyFirst: fc.boolean(),
      drop: fc.boolean(),
      html: fc.boolean(),
    },
    { requiredKeys: ['method', 'times', 'status'] },
  ),
  { maxLength: 4 },
)

/** Reads show none of the writes since the group was created. */
const staleReads = fc.integer({ min: -4, max: 3 }).map((times): FaultDefinition[] => {
  return times <= 0 ? [] : [{ method: 'GET', path: '/members$', staleMs: 3_600_000, times }]
})

const written = (requests: readonly RequestRecord[]): RequestRecord[] =>
  requests
    .flatMap((request) => request.batch ?? [request])
    .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/getByIds'))

describe('A sync job with random directory faults', () => {
  let fixture: LinkFixture
  before(async () => {
    // The test's clock runs faster than the directory's, which would throttle this many writes.
    fixture = await openFixture({ isDirect: true, quotas: { writesPer150S: 1e9, unitsPer10S: [1e9, 1e9, 1e9] } })
  })
  after(() => fixture.close())

  it('removes no account of the collection, changes no other group, and succeeds once the faults have ended', async () => {
    const shifts = fc.integer({ min: 0, max: WANTED_COUNT + FIRST_COUNT })
    await fc.assert(
      fc.asyncProperty(faults, staleReads, shifts, async (list, stale, shift) => {
        const wanted = new Set(users(shift, WANTED_COUNT))
        const { collectionId, groupId } = await fixture.linked([...wanted], users(WANTED_COUNT, FIRST_COUNT))
        fixture.server.setFaults([...stale, ...list])
        await fixture.drain()
        fixture.server.setFaults([])
        const requests = written(fixture.server.requests())
        const [first] = await fixture.jobsOf(collectionId)
        if (first?.status !== 'Succeeded' || stale.length > 0) {
          await requestSync(TENANT, collectionId, fixture.deps)
          await fixture.drain()
          assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Succeeded')
          requests.push(...written(fixture.server.requests()).slice(requests.length))
        }
        assert.deepEqual(await fixture.membersOf(groupId), wanted)
        for (const { method, path, deletesMember } of requests) {
          assert.ok(path.startsWith(`/v1.0/groups/${groupId}`) || path === '/v1.0/$batch', path)
          assert.notEqual(deletesMember, true)
          assert.ok(method !== 'DELETE' || !wanted.has(path.split('/').at(-2) ?? ''), `${path} is of the collection`)
        }
      }),
      { numRuns: RUNS_COUNT, seed: 20_261_121, endOnFailure: true },
    )
  })
})
