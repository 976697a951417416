import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import type { Creation } from '../../shared/domain/idempotency/run-once.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { openFixture, syncedLink } from '../support/jobs/link-fixture.ts'

describe('A link that is disabled during a sync request', () => {
  it('gets no job', async () => {
    const fixture = await openFixture()
    const { collectionId, linkId } = await syncedLink(fixture, users(0, 2))
    const links: typeof fixture.deps.links = {
      ...fixture.deps.links,
      async ofCollection(...args) {
        const found = await fixture.deps.links.ofCollection(...args)
        await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
        return found
      },
    }
    await assert.rejects(requestSync(TENANT, collectionId, { ...fixture.deps, links }), { code: 'LinkDisabled' })
    assert.equal((await fixture.jobsOf(collectionId)).length, 1)
    await fixture.close()
  })
})

describe('A sync request whose message cannot be enqueued', () => {
  it('has its job, which the next sweep enqueues', async (context) => {
    const fixture = await openFixture()
    context.after(() => fixture.close())
    const { collectionId } = await syncedLink(fixture, users(0, 2))
    const enqueue = () => Promise.reject(new Error('The queue is away'))
    const { jobId } = await requestSync(TENANT, collectionId, { ...fixture.deps, messageQueue: { enqueue } })
    assert.equal((await fixture.job(jobId)).status, 'Queued')
    await sweepTenant(TENANT, fixture.deps)
    await fixture.drain()
    assert.equal((await fixture.job(jobId)).status, 'Succeeded')
  })
})

describe('A link that is disabled while one of its jobs runs and another one waits', () => {
  it('ends the waiting job, and leaves the lease to the worker of the running one', async (context) => {
    const fixture = await openFixture()
    context.after(() => fixture.close())
    const { collectionId, linkId } = await syncedLink(fixture, users(0, 2))
    const before = await fixture.deps.links.find(TENANT, linkId)
    assert.ok(before !== undefined)
    const lease = {
      owner: randomUUID(),
      token: before.value.lastToken + 1,
      expiresAtMs: fixture.clock.nowMs() + 60_000,
    }
    await fixture.deps.links.replace({ ...before.value, lease, lastToken: lease.token }, before.version)
    await requestSync(TENANT, collectionId, fixture.deps)
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Failed')
    assert.deepEqual((await fixture.link(linkId)).lease, lease)
  })
})

describe('A link creation that is retried while the first attempt is running', () => {
  it('creates one link for both attempts', async () => {
    const fixture = await openFixture()
    const [linkId, jobId] = [randomUUID(), randomUUID()]
    const creationOf = (isRetry: boolean): Creation => {
      const ids = [linkId, jobId].values()
      return { newId: () => ids.next().value ?? '', isRetry }
    }
    const input = { collectionId: fixture.collections.make(users(0, 2)), directoryGroupId: await fixture.newGroup() }
    let isFirst = true
    const readGroup: typeof fixture.directory.readGroup = async (...args) => {
      if (isFirst) {
        isFirst = false
        assert.equal(await createLink(TENANT, input, fixture.deps, creationOf(false)), linkId)
      }
      return fixture.directory.readGroup(...args)
    }
    const deps = { ...fixture.deps, directory: { ...fixture.deps.directory, readGroup } }
    assert.equal(await createLink(TENANT, input, deps, creationOf(true)), linkId)
    await fixture.drain()
    assert.equal((await fixture.jobsOf(input.collectionId)).length, 1)
    await fixture.close()
  })
})
