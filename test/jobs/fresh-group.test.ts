import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

const GROUP_IS_MISSING = { method: 'GET', path: '/groups/[^/]+$', status: 404 }

describe('A sync job for a group that the directory does not return', () => {
  it('succeeds if the directory returns the group shortly after it was linked', async () => {
    const { groupId, collectionId } = await fixture.linked(users(0, 5))
    fixture.server.setFaults([{ ...GROUP_IS_MISSING, times: 3 }])
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Succeeded', 1])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('fails permanently if the directory does not return the group for half a minute after it was linked', async () => {
    const { collectionId } = await fixture.linked(users(0, 5))
    fixture.server.setFaults([GROUP_IS_MISSING])
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Failed', 1])
  })

  it('fails permanently at once if the group was linked long ago', async () => {
    const { collectionId } = await fixture.linked(users(0, 5))
    await fixture.drain()
    await fixture.clock.sleep(600_000)
    fixture.server.setFaults([GROUP_IS_MISSING])
    await requestSync(TENANT, collectionId, fixture.deps)
    const startMs = fixture.clock.nowMs()
    await fixture.drain()
    assert.ok(fixture.clock.nowMs() - startMs < 1_000)
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Failed', 1])
  })
})
