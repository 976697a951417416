import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture, syncedLink } from '../support/jobs/link-fixture.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

describe('A sync job whose comparison takes long', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ sharesClock: true })
  })
  after(() => fixture.close())
  beforeEach(() => {
    fixture.sentMessages.length = 0
  })

  /** Runs a job after 250 of 300 members were removed by hand. Three steps add them. */
  async function repairing({
    readMs,
    verifyMs = 0,
    writeMs = 0,
    happens = async () => undefined,
  }: {
    readMs: number
    verifyMs?: number
    writeMs?: number
    happens?: (collectionId: string, readCount: number) => Promise<void>
  }) {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 300))
    const { directory } = fixture.deps
    await directory.removeMembers(TENANT, groupId, users(0, 250), Number.POSITIVE_INFINITY)
    let readCount = 0
    const listMembers: typeof directory.listMembers = async (...args) => {
      readCount += 1
      await fixture.clock.sleep(readMs)
      await happens(collectionId, readCount)
      return directory.listMembers(...args)
    }
    const usersAmong: typeof directory.usersAmong = async (...args) => {
      await fixture.clock.sleep(verifyMs)
      return directory.usersAmong(...args)
    }
    const addMembers: typeof directory.addMembers = async (...args) => {
      await fixture.clock.sleep(writeMs)
      return directory.addMembers(...args)
    }
    const { jobId } = await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain({ ...fixture.deps, directory: { ...directory, listMembers, usersAmong, addMembers } })
    const { status, batchCount } = await fixture.job(jobId)
    return { status, batchCount, readCount, memberCount: (await fixture.membersOf(groupId)).size }
  }

  /** One more member, and the incremental sync that writes it. */
  async function change(collectionId: string, readCount: number): Promise<void> {
    fixture.collections.change(collectionId, users(0, 300 + readCount))
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
  }

  it('writes what it has found also when the collection changes during each comparison', async () => {
    const repaired = await repairing({ readMs: 20 * SECOND_MS, happens: change })
    assert.deepEqual(repaired, { status: 'Succeeded', batchCount: 0, readCount: 1, memberCount: 301 })
  })

  it('yields to the changes after fifteen seconds of writing', async () => {
    const repaired = await repairing({ readMs: 20 * SECOND_MS, writeMs: 16 * SECOND_MS, happens: change })
    assert.deepEqual(repaired, { status: 'Succeeded', batchCount: 2, readCount: 3, memberCount: 303 })
  })

  it('writes a step before it yields to the changes, also when the directory is slow to say who is a user', async () => {
    const repaired = await repairing({ readMs: 0, verifyMs: 16 * SECOND_MS, happens: change })
    assert.deepEqual(repaired, { status: 'Succeeded', batchCount: 2, readCount: 3, memberCount: 303 })
  })

  it('writes more than one step for each comparison', async () => {
    const repaired = await repairing({ readMs: 5 * MINUTE_MS })
    assert.deepEqual(repaired, { status: 'Succeeded', batchCount: 0, readCount: 1, memberCount: 300 })
  })

  it('leaves the rest to another message before the time of an invocation is over', async () => {
    const repaired = await repairing({ readMs: 9 * MINUTE_MS })
    assert.deepEqual(repaired, { status: 'Succeeded', batchCount: 2, readCount: 3, memberCount: 300 })
  })
})
