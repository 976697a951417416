import type { CollectionLinks } from '../collections/collection-dependencies.ts'
import type { LinkStore } from './link-store.ts'

/** What collections need to know of links, told by the store of links. */
export function collectionLinks(links: LinkStore): CollectionLinks {
  return {
    async linksOf(tenantId, collectionId) {
      return (await links.ofCollection(tenantId, collectionId)).map(({ value }) => value.id)
    },
    async linkedCollections(tenantId) {
      const enabled = (await links.ofTenant(tenantId)).filter(({ value }) => value.state === 'Enabled')
      return new Set(enabled.map(({ value }) => value.collectionId))
    },
  }
}
