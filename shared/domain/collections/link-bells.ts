import type { CollectionDependencies } from './collection-dependencies.ts'
import { joinableWithMovedAccounts, mayMoveAccounts } from './moved-accounts.ts'
import type { RowChanges } from './tenant-snapshots.ts'

/** What an evaluation found that links have to hear of. */
export type EvaluatedChanges = {
  /** Criteria collections whose members have changed. */
  readonly changed: ReadonlySet<string>
  /** Criteria collections in which somebody who stayed may have another account. */
  readonly moved: readonly string[]
  /** All criteria collections: whatever else is linked is a joinable one. */
  readonly criteria: ReadonlySet<string>
  readonly rows: RowChanges
}

type LinkBellDependencies = Pick<CollectionDependencies, 'links' | 'joined' | 'doorbells' | 'newId'>

/**
 * Rings for links whose collections have changed. What could not be rung for is owed: the next evaluation, which finds
 * these changes made already, rings for it.
 */
export class LinkBells {
  readonly #deps: LinkBellDependencies
  readonly #owed = new Map<string, EvaluatedChanges[]>()

  constructor(deps: LinkBellDependencies) {
    this.#deps = deps
  }

  /** One evaluation of a tenant at a time. */
  async ring(tenantId: string, changes: EvaluatedChanges): Promise<void> {
    const owed = this.#owed.get(tenantId) ?? []
    if (changes.changed.size > 0 || mayMoveAccounts(changes.rows)) owed.push(changes)
    this.#owed.set(tenantId, owed)
    for (let next = owed[0]; next !== undefined; next = owed[0]) {
      await this.#ringFor(tenantId, next)
      owed.shift()
    }
    this.#owed.delete(tenantId)
  }

  async #ringFor(tenantId: string, { changed, moved, criteria, rows }: EvaluatedChanges): Promise<void> {
    const { links, joined, doorbells, newId } = this.#deps
    const linked = await links.linkedCollections(tenantId)
    const joinable = [...linked].filter((id) => !criteria.has(id))
    const allMoved = new Set([
      ...moved.filter((id) => linked.has(id)),
      ...(await joinableWithMovedAccounts(tenantId, joinable, rows, joined)),
    ])
    if (allMoved.size > 0) await links.accountsMoved(tenantId, [...allMoved])
    for (const collectionId of linked.intersection(changed).union(allMoved)) {
      const message = { tenantId, collectionId }
      await doorbells.ring({ queue: 'membership-changes', message }, { id: `change:${newId()}` })
    }
  }
}
