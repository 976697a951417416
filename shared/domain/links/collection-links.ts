import type { CollectionLinks } from '../collections/collection-dependencies.ts'
import { Refusal } from '../refusal.ts'
import type { LinkStore } from './link-store.ts'
import { changeLink } from './write-link.ts'

/** What collections need to know of links, told by the store of links. */
export function collectionLinks(links: LinkStore, nowMs: () => number): CollectionLinks {
  return {
    async linksOf(tenantId, collectionId) {
      return (await links.ofCollection(tenantId, collectionId)).map(({ value }) => value.id)
    },
    async linkedCollections(tenantId) {
      const enabled = (await links.ofTenant(tenantId)).filter(({ value }) => value.state === 'Enabled')
      return new Set(enabled.map(({ value }) => value.collectionId))
    },
    async accountsMoved(tenantId, collectionIds) {
      for (const { value } of await links.ofTenant(tenantId)) {
        if (value.state !== 'Enabled' || !collectionIds.includes(value.collectionId)) continue
        const accountsMovedAtMs = nowMs()
        await changeLink(tenantId, value.id, (link) => ({ ...link, accountsMovedAtMs }), { links }).catch(unlessGone)
      }
    },
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
}
