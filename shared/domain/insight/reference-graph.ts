import type { Collection } from '../collections/collection.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'

/** A change of a criteria collection. `before` is undefined when it is created. */
export type PlannedChange = { readonly before: Collection | undefined; readonly after: Collection }

/** The references of a tenant's criteria collections, with those of the changed one before and after the change. */
export class ReferenceGraph {
  readonly change: PlannedChange
  /** All criteria collections, with the changed one as it would be stored. */
  readonly criteria: ReadonlyMap<string, Collection>
  /** The changed collection and those whose conditions refer to it, directly or not, in the order of evaluation. */
  readonly affected: readonly Collection[]
  readonly #ranks: ReadonlyMap<string, number>

  /** @param stored The tenant's criteria collections, the changed one included or not. */
  constructor(change: PlannedChange, stored: readonly Collection[]) {
    this.change = change
    this.criteria = new Map([...stored, change.after].map((collection) => [collection.id, collection]))
    const references = new Map(
      [...this.criteria.values()].map((collection) => [collection.id, this.referencesOf(collection)]),
    )
    const { order } = evaluationOrder(references)
    this.#ranks = new Map(order.map((id, rank) => [id, rank]))
    const reached = new Set([change.after.id])
    for (const id of order) if (references.get(id)?.some((to) => reached.has(to))) reached.add(id)
    this.affected = order.flatMap((id) => (reached.has(id) ? (this.criteria.get(id) ?? []) : []))
  }

  /** The collections that a condition refers to, of either kind. Without a version: in either one. */
  referencesOf({ id, refersTo }: Collection, version?: 'before' | 'after'): readonly string[] {
    if (version === 'after' || id !== this.change.after.id) return refersTo
    const before = this.change.before?.refersTo ?? []
    // Neither version has a cycle, so there is none in both together: all other references are the same.
    return version === 'before' ? before : [...new Set([...before, ...refersTo])]
  }

  /** The criteria collections and all those that they refer to, directly or not, each after those it refers to. */
  closureOf(ids: Iterable<string>, isKnown: (id: string) => boolean = () => false): Collection[] {
    const found = new Set<string>()
    const open = [...ids]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const collection = this.criteria.get(id)
      if (collection === undefined || found.has(id) || isKnown(id)) continue
      found.add(id)
      open.push(...this.referencesOf(collection))
    }
    // Collections in a cycle are never evaluated. There are none unless stored data are damaged.
    const ranked = [...found].filter((id) => this.#ranks.has(id))
    ranked.sort((left, right) => (this.#ranks.get(left) as number) - (this.#ranks.get(right) as number))
    return ranked.flatMap((id) => this.criteria.get(id) ?? [])
  }
}
