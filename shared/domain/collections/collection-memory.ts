import { compile } from '../criteria/compile.ts'
import { attributesRead, dependsOnDay } from '../criteria/condition.ts'
import { Refusal } from '../refusal.ts'
import type { Collection } from './collection.ts'
import { storedCondition } from './condition-entry.ts'
import type { Known } from './members-now.ts'
import type { MembershipStore } from './membership-store.ts'

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
    for (const collection of criteria) {
      const memory = before?.get(collection.id)
      const isCurrent = memory?.definitionVersion === collection.definitionVersion
      known.set(collection.id, isCurrent ? memory : await this.#begun(collection))
    }
    return known
  }

  async #begun(collection: Collection): Promise<Known> {
    const head = await this.#memberships.head(collection.tenantId, collection.id)
    if (Number.parseInt(head?.value.definitionKey ?? '0', 10) > collection.definitionVersion) {
      throw new Refusal('StaleVersion', `Collection ${collection.id} was changed and evaluated meanwhile`)
    }
    const condition = storedCondition(collection)
    return {
      definitionVersion: collection.definitionVersion,
      condition: compile(condition),
      dependsOnDay: dependsOnDay(condition),
      attributesRead: attributesRead(condition),
      head,
      ids: undefined,
    }
  }
}
