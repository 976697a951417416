import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { JoinedCollection, JoinedMembers } from './joined-members.ts'

type Remembered = { readonly collection: JoinedCollection; readonly members: CollectionMembers }

/** What the evaluator remembers of the joinable collections that conditions name: they are read again when they change. */
export class JoinedMembersCache {
  readonly #joined: JoinedMembers
  readonly #known = new Map<string, ReadonlyMap<string, Remembered>>()

  constructor(joined: JoinedMembers) {
    this.#joined = joined
  }

  /** Who is in these collections now, and in which of them that is not what it was the last time. */
  async refreshed(
    tenantId: string,
    collectionIds: readonly string[],
  ): Promise<{ changed: ReadonlySet<string>; members: ReadonlyMap<string, CollectionMembers> }> {
    const before = this.#known.get(tenantId) ?? new Map<string, Remembered>()
    const versions = await this.#joined.versions(tenantId, collectionIds)
    const changed = collectionIds.filter((id) => before.get(id)?.collection.membershipVersion !== versions.get(id))
    const read = await this.#joined.of(tenantId, changed)
    const now = new Map<string, Remembered>()
    for (const id of collectionIds) {
      const collection = read.get(id)
      const known = before.get(id)
      if (collection !== undefined) {
        now.set(id, { collection, members: { kind: 'joinable', memberships: collection.memberships } })
      } else if (known !== undefined) now.set(id, known)
    }
    this.#known.set(tenantId, now)
    return { changed: new Set(changed), members: new Map([...now].map(([id, { members }]) => [id, members])) }
  }

  forget(tenantId: string): void {
    this.#known.delete(tenantId)
  }
}
