import type { CollectionDependencies, CollectionRemovals } from '../collections/collection-dependencies.ts'

/** Evaluations that were running when a collection was deleted have ended by then. */
const WRITERS_GONE_AFTER_MS = 60 * 60 * 1000

export type OrphanDependencies = Pick<CollectionDependencies, 'memberships' | 'nowMs'> & {
  readonly collections: CollectionRemovals
}

/**
 * Removes members of collections that were deleted an hour ago or earlier: those whose removal failed, and those that
 * an evaluation wrote at the same time before it crashed. A removal that is recorded after one look is due an hour
 * later, so that this process looks again after an hour, or when the first of the recorded ones is due.
 */
export class OrphanedMembers {
  readonly #deps: OrphanDependencies
  /** By tenant. */
  readonly #lookAgainMs = new Map<string, number>()

  constructor(deps: OrphanDependencies) {
    this.#deps = deps
  }

  async remove(tenantId: string): Promise<void> {
    const { collections, memberships, nowMs } = this.#deps
    const lookedMs = nowMs()
    if (lookedMs < (this.#lookAgainMs.get(tenantId) ?? 0)) return
    let lookAgainMs = lookedMs + WRITERS_GONE_AFTER_MS
    for (const { collectionId, removedAtMs } of await collections.removals(tenantId)) {
      const dueMs = removedAtMs + WRITERS_GONE_AFTER_MS
      if (dueMs < lookedMs) {
        await memberships.remove(tenantId, collectionId)
        await collections.deleteRemovalRecord(tenantId, collectionId)
      } else lookAgainMs = Math.min(lookAgainMs, dueMs + 1)
    }
    this.#lookAgainMs.set(tenantId, lookAgainMs)
  }
}
