import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import { type LazyContext, lazyContextOver, objectTypeOf } from '../collections/live-members.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import { objectEvaluationTask } from '../criteria/evaluate.ts'
import { type Bitmap, bitsWithout, equalBits } from '../tenant-index/rows/bitmap.ts'
import type { MembersInput, PlannedMembers } from './planned-members.ts'

/** More collections with the same members are not listed. */
const MAX_LISTED_COUNT = 20

/** Members, and other objects, that distinguish most collections. */
const SAMPLE_COUNT = 8

/**
 * The other criteria collections of the same object type that have exactly these members after the change. The warnings
 * of a plan name them, since a second definition of one group of people is probably not intended. A few objects
 * distinguish most collections. Only those that agree on these objects are evaluated.
 * @param collections All collections of both kinds, with the changed one as it would be stored.
 */
export function* sameMembersTask(
  members: Bitmap,
  collections: ReadonlyMap<string, Collection>,
  planned: PlannedMembers,
  input: MembersInput,
): Task<Collection[]> {
  const { graph, rows, todayMs, joined } = input
  const conditionOf = (collection: Collection): CompiledCondition => {
    const condition = input.conditionOf(collection)
    if (condition === undefined) throw new Error(`The condition of collection ${collection.id} is invalid`)
    return condition
  }
  const memberships = (id: string) => {
    const found = joined.get(id)
    return found?.kind === 'joinable' ? found.memberships : []
  }
  const lazy = lazyContextOver(collections, rows, todayMs, memberships, conditionOf)
  const samples = samplesOf(members, input)
  const found: Collection[] = []
  for (const collection of graph.criteria.values()) {
    yield
    if (collection.id === graph.change.after.id || collection.objectType !== graph.change.after.objectType) continue
    const closure = graph.closureOf([collection.id])
    // A collection that cannot be evaluated keeps the members that are stored.
    if (closure.length === 0 || closure.some((referred) => input.conditionOf(referred) === undefined)) continue
    if (!(yield* agreesOn(samples, collection, conditionOf(collection), lazy, input))) continue
    const others = yield* planned.membersOf(collection.id)
    if (equalBits(others.after, members)) found.push(collection)
    if (found.length === MAX_LISTED_COUNT) break
  }
  return found
}

/** Objects by id, and whether they are members. */
type Samples = ReadonlyMap<string, boolean>

function samplesOf(members: Bitmap, { graph, rows }: MembersInput): Samples {
  const table = rows.tables[CORE_TYPE[objectTypeOf(graph.change.after)]]
  const others = bitsWithout(table.liveSlots(), members)
  const idsOf = (slots: Bitmap) => spreadSlots(slots).map((slot) => table.ids.idOf(slot))
  return new Map([
    ...idsOf(members).map((id) => [id, true] as const),
    ...idsOf(others).map((id) => [id, false] as const),
  ])
}

/** Some slots of a set, from all over it. */
function spreadSlots(slots: Bitmap): number[] {
  const found: number[] = []
  for (let part = 0; part < SAMPLE_COUNT; part += 1) {
    const [from, to] = [part, part + 1].map((edge) => Math.floor((edge * slots.length) / SAMPLE_COUNT))
    const index = slots.findIndex((word, at) => at >= (from ?? 0) && at < (to ?? 0) && word !== 0)
    const word = slots[index] ?? 0
    if (word !== 0) found.push((index << 5) + 31 - Math.clz32(word & -word))
  }
  return found
}

function* agreesOn(
  samples: Samples,
  collection: Collection,
  condition: CompiledCondition,
  { context, running }: LazyContext,
  { rows }: MembersInput,
): Task<boolean> {
  for (const [id, isMember] of samples) {
    const task = objectEvaluationTask(condition, rows, objectTypeOf(collection), [id], context)
    const verdicts = yield* running(task)
    if (verdicts.get(id) !== isMember) return false
  }
  return true
}
