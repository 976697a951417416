import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setLinkState } from '../../shared/domain/links/change-link.ts'
import { requestSync } from '../../shared/domain/links/request-sync.ts'
import { TENANT, users } from './link-directory.ts'
import { openWorld, syncedLink } from './link-world.ts'

describe('A link that is disabled while a sync is asked for', () => {
  it('gets no job', async () => {
    const world = await openWorld()
    const { collectionId, linkId } = await syncedLink(world, users(0, 2))
    const links: typeof world.deps.links = {
      ...world.deps.links,
      async ofCollection(...asked) {
        const found = await world.deps.links.ofCollection(...asked)
        await setLinkState({ tenantId: TENANT, linkId, ifMatch: undefined }, 'Disabled', world.deps)
        return found
      },
    }
    await assert.rejects(requestSync(TENANT, collectionId, { ...world.deps, links }), { code: 'LinkDisabled' })
    assert.equal((await world.jobsOf(collectionId)).length, 1)
    await world.close()
  })
})
