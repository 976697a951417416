import { Refusal } from '../../kernel/refusals.ts'
import type { CollectionLinks } from '../collections/collection-dependencies.ts'
import type { LinkRecord } from './group-link.ts'
import type { LinkStore } from './link-store.ts'
import { changeLink } from './write-link.ts'

/**
 * A change of account is dated before it is written, by another clock: a comparison that began so shortly after it may
 * have missed it.
 */
const WRITTEN_AFTER_MS = 5 * 60 * 1000

/** What collections need to know of links, told by the store of links. */
export function collectionLinks(links: LinkStore, nowMs: () => number): CollectionLinks {
  const enabled = async (tenantId: string): Promise<LinkRecord[]> =>
    (await links.ofTenant(tenantId)).map(({ value }) => value).filter(({ state }) => state === 'Enabled')
  return {
    async linksOf(tenantId, collectionId) {
      return (await links.ofCollection(tenantId, collectionId)).map(({ value }) => value.id)
    },
    async linkedCollections(tenantId) {
      return new Set((await enabled(tenantId)).map(({ collectionId }) => collectionId))
    },
    async accountsChanged(tenantId, moved) {
      const concerned = (await enabled(tenantId)).filter((link) => mayHoldFormerAccounts(link, moved))
      for (const { id } of concerned) {
        const accountsChangedAtMs = nowMs()
        await changeLink(tenantId, id, (link) => ({ ...link, accountsChangedAtMs: accountsChangedAtMs }), {
          links,
        }).catch(unlessGone)
      }
      return new Set(concerned.map(({ collectionId }) => collectionId))
    },
    async behind(tenantId, versions) {
      const late = (await enabled(tenantId)).filter(
        ({ collectionId, appliedMembershipVersion: applied }) =>
          applied !== null && applied < (versions.get(collectionId) ?? 0),
      )
      return new Set(late.map(({ collectionId }) => collectionId))
    },
  }
}

function mayHoldFormerAccounts(
  { collectionId, comparedAtMs }: LinkRecord,
  moved: ReadonlyMap<string, number>,
): boolean {
  const movedAtMs = moved.get(collectionId)
  return movedAtMs !== undefined && (comparedAtMs ?? 0) < movedAtMs + WRITTEN_AFTER_MS
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
}
