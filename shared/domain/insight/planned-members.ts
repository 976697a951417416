import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import { CORE_TYPE, type CollectionMembers, memberSlots } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import { memberSlotsTask } from '../criteria/evaluate.ts'
import type { EvaluationContext } from '../criteria/evaluation-context.ts'
import { newLeafResults, SharedResults } from '../criteria/shared-results.ts'
import { type Bitmap, emptyBitmap, equalBits } from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ReferenceGraph } from './reference-graph.ts'

/** The members of a collection before and after the change; the same set when the change has no effect on it. */
export type MembersOfBoth = { readonly before: Bitmap; readonly after: Bitmap }

type Version = keyof MembersOfBoth

export type MembersInput = {
  readonly graph: ReferenceGraph
  readonly rows: RowSnapshot
  readonly todayMs: number
  /** Undefined for an invalid stored condition. */
  conditionOf(collection: Collection): CompiledCondition | undefined
  /** The joinable collections that conditions refer to. */
  readonly joined: ReadonlyMap<string, CollectionMembers>
  /** The stored members of collections that cannot be evaluated before the change. */
  readonly stored: ReadonlyMap<string, readonly string[]>
}

/**
 * The members of criteria collections before and after a change of one of them, evaluated on one state of the rows. As
 * in an evaluation, a collection with an invalid condition keeps its members, and so do those that refer to it. Members
 * are kept only while a later collection needs them.
 */
export class PlannedMembers {
  readonly #input: MembersInput
  readonly #members = new Map<string, MembersOfBoth>()
  readonly #changed = new Set<string>()
  readonly #leafResults = newLeafResults()
  readonly #invalid = { before: new Set<string>(), after: new Set<string>() }
  /** The number of affected collections that are still to be evaluated and refer to a collection. */
  readonly #waiting = new Map<string, number>()

  constructor(input: MembersInput) {
    this.#input = input
    for (const to of input.graph.affected.flatMap((from) => input.graph.referencesOf(from))) {
      this.#waiting.set(to, (this.#waiting.get(to) ?? 0) + 1)
    }
  }

  /**
   * Evaluates the collections that the change can affect.
   * @param visit Called for the changed collection and for each other one whose members change, in order of evaluation.
   */
  *evaluate(visit: (collection: Collection, members: MembersOfBoth) => Task<void>): Task<void> {
    const { graph } = this.#input
    for (const collection of graph.affected) {
      const references = graph.referencesOf(collection)
      const isRoot = collection.id === graph.change.after.id
      if (isRoot || references.some((to) => this.#changed.has(to))) {
        const members = yield* this.#resolved(collection.id)
        if (isRoot || members.before !== members.after) yield* visit(collection, members)
      }
      for (const to of references) this.#waiting.set(to, (this.#waiting.get(to) ?? 0) - 1)
      this.#release()
    }
  }

  /** Undefined for an id that is not that of a criteria collection. */
  collection(id: string): Collection | undefined {
    return this.#input.graph.criteria.get(id)
  }

  /** The members of any criteria collection, once the affected ones are evaluated. */
  *membersOf(collectionId: string): Task<MembersOfBoth> {
    const members = yield* this.#resolved(collectionId)
    this.#release()
    return members
  }

  #release(): void {
    for (const id of this.#members.keys()) if ((this.#waiting.get(id) ?? 0) === 0) this.#members.delete(id)
  }

  *#resolved(id: string): Task<MembersOfBoth> {
    for (const collection of this.#input.graph.closureOf([id], (known) => this.#members.has(known))) {
      this.#members.set(collection.id, yield* this.#evaluated(collection))
    }
    const members = this.#members.get(id)
    if (members === undefined) throw new Error(`Collection ${id} cannot be evaluated`)
    return members
  }

  *#evaluated(collection: Collection): Task<MembersOfBoth> {
    const { id } = collection
    const { graph } = this.#input
    const isRoot = id === graph.change.after.id
    const shared = new SharedResults(this.#leafResults)
    const before = yield* this.#before(isRoot ? graph.change.before : collection, collection, shared)
    const isAffected = isRoot || graph.referencesOf(collection).some((to) => this.#changed.has(to))
    if (!isAffected && this.#invalid.before.has(id)) this.#invalid.after.add(id)
    if (!isAffected) return { before, after: before }
    const after = (yield* this.#membersIn(collection, 'after', shared)) ?? before
    const isRepaired = this.#invalid.before.has(id) !== this.#invalid.after.has(id)
    const isSame = equalBits(before, after)
    if (!isSame || isRepaired) this.#changed.add(id)
    return { before, after: isSame ? before : after }
  }

  *#before(stored: Collection | undefined, { objectType, id }: Collection, shared: SharedResults): Task<Bitmap> {
    const { rows } = this.#input
    const type = CORE_TYPE[objectType as keyof typeof CORE_TYPE]
    if (stored === undefined) return emptyBitmap(rows.tables[type].slotCount)
    const evaluated = yield* this.#membersIn(stored, 'before', shared)
    if (evaluated !== undefined) return evaluated
    const ids = new Set(this.#input.stored.get(id))
    const slots = yield* memberSlots({ kind: 'criteria', objectType: objectTypeOf(stored), ids }, rows)
    return slots[type] ?? emptyBitmap(rows.tables[type].slotCount)
  }

  /** Undefined when the collection cannot be evaluated and keeps its members. */
  *#membersIn(collection: Collection, version: Version, shared: SharedResults): Task<Bitmap | undefined> {
    const { graph, rows, conditionOf } = this.#input
    const invalid = this.#invalid[version]
    const condition = conditionOf(collection)
    if (condition === undefined || graph.referencesOf(collection, version).some((to) => invalid.has(to))) {
      invalid.add(collection.id)
      return undefined
    }
    yield
    condition.boundTo(rows)
    yield
    return yield* memberSlotsTask(condition, rows, objectTypeOf(collection), this.#context(version), shared)
  }

  #context(version: Version): EvaluationContext {
    const { graph, joined, todayMs } = this.#input
    return {
      todayMs,
      membersOf: (id) => {
        const members = this.#members.get(id)
        const collection = graph.criteria.get(id)
        if (members === undefined || collection === undefined) return joined.get(id)
        return { kind: 'bySlot', objectType: objectTypeOf(collection), slots: members[version] }
      },
    }
  }
}
