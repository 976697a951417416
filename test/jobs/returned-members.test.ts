import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeLink } from '../../shared/domain/group-links/link-lease.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { type Linked, linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

/** A worker whose steps of removals are recorded. Before the directory answers one, something happens. */
function recordingRemovals(happens: (stepCount: number) => Promise<void> | void) {
  const { directory } = fixture.deps
  const steps: (readonly string[])[] = []
  const removeMembers: typeof directory.removeMembers = async (...args) => {
    steps.push(args[2])
    const outcome = await directory.removeMembers(...args)
    await happens(steps.length)
    return outcome
  }
  const deps: SyncDependencies = { ...fixture.deps, directory: { ...directory, removeMembers } }
  return { deps, steps }
}

describe('A member who comes back while a job removes members', () => {
  /** The steps of removals of a job that finds 20 of 100 members in the collection. */
  async function removing(happens: (linked: Linked, stepCount: number) => Promise<void> | void) {
    const linked = await syncedLink(fixture, users(0, 100))
    fixture.collections.change(linked.collectionId, users(0, 20))
    const { jobId } = await requestSync(TENANT, linked.collectionId, fixture.deps)
    const { deps, steps } = recordingRemovals((stepCount) => happens(linked, stepCount))
    await runSyncJob({ tenantId: TENANT, jobId }, deps)
    return { ...linked, jobId, steps, deps }
  }

  it('is not removed: a reverted change stops the removals, and those who were removed are added again', async () => {
    const { groupId, jobId, steps } = await removing(async ({ collectionId }, stepCount) => {
      if (stepCount > 1) return
      fixture.collections.change(collectionId, users(0, 100))
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    })
    assert.deepEqual(steps, [users(20, 20)])
    assert.equal((await fixture.job(jobId)).removed, 20)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 100)))
  })

  it('is left out of a step whose other accounts are removed, also when the collection changes before each step', async () => {
    const { groupId, jobId, steps } = await removing(({ collectionId }, stepCount) => {
      fixture.collections.change(collectionId, [...users(0, 20), user(20 + 20 * stepCount)])
    })
    assert.deepEqual(steps, [users(20, 20), users(41, 19), users(61, 19), users(81, 19)])
    assert.equal((await fixture.job(jobId)).status, 'Succeeded')
    fixture.sentMessages.length = 0
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 20), user(40), user(60), user(80)]))
  })

  it('keeps the others in the group who have not been removed, when it has no account', async () => {
    const { groupId, jobId, steps, deps } = await removing(({ collectionId }) => {
      fixture.collections.change(collectionId, users(0, 20), 1)
    })
    await fixture.drain(deps)
    assert.deepEqual(steps, [users(20, 20)])
    const { status, skipped, removed } = await fixture.job(jobId)
    assert.deepEqual({ status, skipped, removed }, { status: 'Succeeded', skipped: 1, removed: 20 })
    assert.equal((await fixture.membersOf(groupId)).size, 80)
  })

  it('is not removed when it gets an account that was to be removed', async () => {
    const { groupId, steps } = await removing(async ({ collectionId, linkId }, stepCount) => {
      if (stepCount > 1) return
      fixture.collections.exchange(collectionId, [...users(1, 19), user(99)])
      const accountsChangedAtMs = fixture.clock.nowMs()
      await changeLink(TENANT, linkId, (link) => ({ ...link, accountsChangedAtMs }), fixture.deps)
    })
    assert.deepEqual(steps.at(-1), users(80, 19))
    assert.ok((await fixture.membersOf(groupId)).has(user(99)))
    await fixture.drain()
  })

  it('costs one read of the collection for each change', async () => {
    let readCount = 0
    const { findAccounts } = fixture.deps.collections
    const collections = {
      ...fixture.deps.collections,
      findAccounts: (...args: Parameters<typeof findAccounts>) => {
        readCount += 1
        return findAccounts(...args)
      },
    }
    const { collectionId } = await syncedLink(fixture, users(0, 100))
    fixture.collections.change(collectionId, [])
    const { jobId } = await requestSync(TENANT, collectionId, fixture.deps)
    const { deps, steps } = recordingRemovals((stepCount) => {
      if (stepCount === 2) fixture.collections.change(collectionId, users(99, 1))
    })
    await runSyncJob({ tenantId: TENANT, jobId }, { ...deps, collections })
    assert.deepEqual([steps.length, readCount], [5, 2])
    await fixture.drain()
  })
})

it('Members who come back while an incremental sync removes others are not removed by its next step', async () => {
  const { collectionId, groupId } = await syncedLink(fixture, users(0, 100))
  fixture.collections.change(collectionId, users(0, 20))
  await notifyOfMembershipChange(fixture, collectionId)
  const { deps, steps } = recordingRemovals((stepCount) => {
    if (stepCount === 2) fixture.collections.change(collectionId, users(0, 100))
  })
  await fixture.deliverNext(deps)
  assert.deepEqual(steps, [users(20, 20), users(40, 20)])
  await fixture.drain()
  assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 100)))
})

it('A member who comes back while the directory checks the accounts of an incremental sync is not removed', async () => {
  const { collectionId, groupId } = await syncedLink(fixture, users(0, 10))
  fixture.collections.change(collectionId, users(0, 9))
  await notifyOfMembershipChange(fixture, collectionId)
  const { deps, steps } = recordingRemovals(() => undefined)
  const checkChange: typeof deps.directory.checkChange = async (...args) => {
    fixture.collections.change(collectionId, users(0, 10))
    return deps.directory.checkChange(...args)
  }
  await fixture.deliverNext({ ...deps, directory: { ...deps.directory, checkChange } })
  assert.deepEqual(steps, [])
  await fixture.drain()
  assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 10)))
})
