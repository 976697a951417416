import { slices } from '../slices.ts'
import type { Versioned } from '../versioned.ts'
import type { Collection } from './collection.ts'
import { type Known, newlyKnown } from './members-now.ts'
import type { MembershipHead, MembershipStore } from './membership-store.ts'

/** Heads of collections that are read at once: each has a partition of its own. */
const HEADS_AT_ONCE_COUNT = 20

/** What the evaluator remembers of criteria collections, by tenant. */
export class CollectionMemory {
  readonly #memberships: Pick<MembershipStore, 'head'>
  readonly #known = new Map<string, Map<string, Known>>()

  constructor(memberships: Pick<MembershipStore, 'head'>) {
    this.#memberships = memberships
  }

  /** Whether there is anything of the tenant. */
  has(tenantId: string): boolean {
    return this.#known.has(tenantId)
  }

  tenantIds(): Iterable<string> {
    return this.#known.keys()
  }

  /** From now on this is what is remembered of the tenant. */
  keep(tenantId: string, known: Map<string, Known>): void {
    this.#known.set(tenantId, known)
  }

  forget(tenantId: string): void {
    this.#known.delete(tenantId)
  }

  forgetCollections(tenantId: string, collectionIds: readonly string[]): void {
    for (const id of collectionIds) this.#known.get(tenantId)?.delete(id)
  }

  /**
   * The memory of each collection as it is defined now. Of those that nothing is remembered of, the head is read.
   * @throws Refusal `StaleVersion` for one that was changed, and evaluated by another, since it was read.
   */
  async of(tenantId: string, criteria: readonly Collection[]): Promise<Map<string, Known>> {
    const before = this.#known.get(tenantId)
    const known = new Map<string, Known>()
    for (const some of slices(criteria, HEADS_AT_ONCE_COUNT)) {
      const memories = some.map(async (collection): Promise<[string, Known]> => {
        const memory = before?.get(collection.id)
        const isCurrent = memory?.definitionVersion === collection.definitionVersion
        return [collection.id, isCurrent ? memory : newlyKnown(collection, await this.#headOf(collection))]
      })
      for (const [id, memory] of await Promise.all(memories)) known.set(id, memory)
    }
    return known
  }

  #headOf({ tenantId, id }: Collection): Promise<Versioned<MembershipHead> | undefined> {
    return this.#memberships.head(tenantId, id)
  }
}
