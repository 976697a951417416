import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import type { Creation } from '../../shared/domain/idempotency/run-once.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { openWorld, syncedLink } from '../support/jobs/link-world.ts'

describe('A link that is disabled during a sync request', () => {
  it('gets no job', async () => {
    const world = await openWorld()
    const { collectionId, linkId } = await syncedLink(world, users(0, 2))
    const links: typeof world.deps.links = {
      ...world.deps.links,
      async ofCollection(...args) {
        const found = await world.deps.links.ofCollection(...args)
        await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, world.deps)
        return found
      },
    }
    await assert.rejects(requestSync(TENANT, collectionId, { ...world.deps, links }), { code: 'LinkDisabled' })
    assert.equal((await world.jobsOf(collectionId)).length, 1)
    await world.close()
  })
})

describe('A link that is disabled while one of its jobs runs and another one waits', () => {
  it('ends the waiting job, and leaves the lease to the worker of the running one', async (context) => {
    const world = await openWorld()
    context.after(() => world.close())
    const { collectionId, linkId } = await syncedLink(world, users(0, 2))
    const before = await world.deps.links.find(TENANT, linkId)
    assert.ok(before !== undefined)
    const lease = { owner: randomUUID(), token: before.value.lastToken + 1, expiresAtMs: world.clock.nowMs() + 60_000 }
    await world.deps.links.replace({ ...before.value, lease, lastToken: lease.token }, before.version)
    await requestSync(TENANT, collectionId, world.deps)
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, world.deps)
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Failed')
    assert.deepEqual((await world.link(linkId)).lease, lease)
  })
})

describe('A link creation that is retried while the first attempt is running', () => {
  it('creates one link for both attempts', async () => {
    const world = await openWorld()
    const [linkId, jobId] = [randomUUID(), randomUUID()]
    const creationOf = (isRetry: boolean): Creation => {
      const ids = [linkId, jobId].values()
      return { newId: () => ids.next().value ?? '', isRetry }
    }
    const input = { collectionId: world.collections.make(users(0, 2)), directoryGroupId: await world.newGroup() }
    let isFirst = true
    const readGroup: typeof world.directory.readGroup = async (...args) => {
      if (isFirst) {
        isFirst = false
        assert.equal(await createLink(TENANT, input, world.deps, creationOf(false)), linkId)
      }
      return world.directory.readGroup(...args)
    }
    const deps = { ...world.deps, directory: { ...world.deps.directory, readGroup } }
    assert.equal(await createLink(TENANT, input, deps, creationOf(true)), linkId)
    await world.drain()
    assert.equal((await world.jobsOf(input.collectionId)).length, 1)
    await world.close()
  })
})
