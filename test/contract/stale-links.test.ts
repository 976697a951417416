import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import type { Directory } from '../../shared/domain/group-links/directory.ts'
import type { LinkStore } from '../../shared/domain/group-links/link-dependencies.ts'
import { deleteLink, requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { builtService } from '../api/built-service.ts'
import { securityGroup } from '../domain/group-links/security-group.ts'
import { testCollections } from '../jobs/test-collections.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const { cosmos, newInstance } = await databaseOfInstances()

/** Two instances that have seen a tenant with one linked group. Their reads lag from then on. */
async function laggingInstances() {
  cosmos.setReplicaLag(undefined)
  const collections = testCollections()
  const directory = {
    readGroup: async (_tenantId: string, id: string) => securityGroup(id),
  } as unknown as Directory
  const newService = () =>
    builtService(newInstance().container, { nowMs: () => NOW_MS, directory, linkedCollections: collections }).links
  const [one, other] = [newService(), newService()]
  const [tenantId, directoryGroupId] = [randomUUID(), randomUUID()]
  const collectionId = collections.make([])
  const linkId = await createLink(tenantId, { collectionId, directoryGroupId }, one)
  for (const { links } of [one, other]) assert.equal((await links.ofTenant(tenantId)).length, 1)
  cosmos.setReplicaLag(STOPPED)
  const deletion = { tenantId, linkId, ifMatch: undefined, actorId: undefined }
  return { one, other, tenantId, collections, collectionId, directoryGroupId, deletion }
}

describe('An instance that does not see the group links of another instance yet', () => {
  it('queues syncs for the links of a collection that are left, if one has just been deleted', async () => {
    const { one, other, tenantId, collectionId, deletion } = await laggingInstances()
    await createLink(tenantId, { collectionId, directoryGroupId: randomUUID() }, one)
    await deleteLink(deletion, one)
    assert.equal((await requestSync(tenantId, collectionId, other)).jobIds.length, 1)
  })

  it('queues a sync for a link that has just been created', async () => {
    const { one, other, tenantId, collections } = await laggingInstances()
    const collectionId = collections.make([])
    await createLink(tenantId, { collectionId, directoryGroupId: randomUUID() }, one)
    assert.equal((await requestSync(tenantId, collectionId, other)).jobIds.length, 1)
  })
})

describe('A sync of a collection', () => {
  it('is queued for the other links, if one is deleted while they are queued', async () => {
    const { one, other, tenantId, collectionId, deletion } = await laggingInstances()
    cosmos.setReplicaLag(undefined)
    await createLink(tenantId, { collectionId, directoryGroupId: randomUUID() }, one)
    const links: LinkStore = {
      ...other.links,
      async ofCollection(...query) {
        const found = await other.links.ofCollection(...query)
        await deleteLink(deletion, one)
        return found
      },
    }
    assert.equal((await requestSync(tenantId, collectionId, { ...other, links })).jobIds.length, 1)
  })
})
