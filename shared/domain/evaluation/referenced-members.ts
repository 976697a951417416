import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { evaluationTask } from '../criteria/evaluate.ts'
import type { HeldLease } from './held-lease.ts'
import type { CachedEvaluation, EvaluationPass } from './members-now.ts'

type Snapshots = Pick<CollectionDependencies['snapshots'], 'reading'>

type Pass = Pick<EvaluationPass, 'rows' | 'context'> & {
  readonly criteria: readonly Collection[]
  readonly evaluations: ReadonlyMap<string, CachedEvaluation>
  readonly lease: Pick<HeldLease, 'renew'>
}

/**
 * The released members of collections that others refer to, for a pass. They are computed again only for a collection
 * that is evaluated, so that a pass of limited time reaches further collections each time.
 */
export class ReferencedMembers {
  readonly #pass: Pass
  readonly #snapshots: Snapshots
  readonly #criteria: ReadonlyMap<string, Collection>
  readonly #restored = new Map<string, Promise<void>>()

  constructor(pass: Pass, snapshots: Snapshots) {
    this.#pass = pass
    this.#snapshots = snapshots
    this.#criteria = new Map(pass.criteria.map((collection) => [collection.id, collection]))
  }

  /** Called before a collection is evaluated: without their members, those that it refers to would appear empty. */
  async restore({ refersTo }: Collection): Promise<void> {
    for (const id of refersTo) {
      const [collection, evaluation] = [this.#criteria.get(id), this.#pass.evaluations.get(id)]
      if (collection === undefined || evaluation?.isReleased !== true) continue
      const restored = this.#restored.get(id) ?? this.#restoreOne(collection, evaluation)
      this.#restored.set(id, restored)
      await restored
    }
  }

  /** The pass has evaluated what a change concerns: the rows yield the members that are stored. */
  async #restoreOne(collection: Collection, evaluation: CachedEvaluation): Promise<void> {
    const { rows, context, lease } = this.#pass
    await this.restore(collection)
    await lease.renew()
    const task = evaluationTask(evaluation.condition, rows, collection.objectType as CriteriaObjectType, context)
    evaluation.ids = await this.#snapshots.reading(rows, task)
    evaluation.isReleased = false
  }
}
