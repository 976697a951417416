import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import { storedConditionTask } from '../collections/condition-entry.ts'
import type { WireGroup, WireLeaf } from '../criteria/condition.ts'
import { areEquivalentTask } from '../criteria/proofs/equivalent-conditions.ts'
import type { RowSettings } from '../tenant-index/row-settings.ts'
import type { PlanInput } from './plan-input.ts'

/** More equivalent collections are not listed. */
const MAX_LISTED_COUNT = 20

/** Conditions compared in one plan: a comparison lasts at most about a millisecond. */
const MAX_COMPARED_COUNT = 200
/** Steps of automata in the comparisons of one plan: some tens of milliseconds. */
const MAX_STEPS_COUNT = 1_000_000

/**
 * The other criteria collections of the same object type whose conditions hold on the same rows as the changed one,
 * for all data. Only conditions that read the same attributes are compared.
 * @param mayRead Whether the caller may learn what values objects have for a schema name.
 */
export function* equivalentCollectionsTask(
  { change: { after }, graph, conditions }: Pick<PlanInput, 'change' | 'graph' | 'conditions'>,
  { zone, types }: RowSettings,
  mayRead: (name: string) => boolean,
): Task<Collection[]> {
  const names = attributesIn(after)
  if (!names.values().every(mayRead)) return []
  const { root } = yield* storedConditionTask(after, types)
  const context = { budget: { stepCount: MAX_STEPS_COUNT }, zone }
  const found: Collection[] = []
  let comparedCount = 0
  for (const collection of graph.criteria.values()) {
    yield
    if (collection.id === after.id || collection.objectType !== after.objectType) continue
    const others = attributesIn(collection)
    if (others.size !== names.size || !others.isSubsetOf(names)) continue
    // The condition of a collection that cannot be evaluated is invalid.
    if (conditions.get(collection) === undefined) continue
    comparedCount += 1
    const condition = yield* storedConditionTask(collection, types)
    if (yield* areEquivalentTask(root, condition.root, context)) found.push(collection)
    if (found.length === MAX_LISTED_COUNT || comparedCount === MAX_COMPARED_COUNT) break
  }
  return found
}

/** The schema names in a stored condition. */
function attributesIn({ definition }: Collection): ReadonlySet<string> {
  const names = new Set<string>()
  const open: (WireGroup | WireLeaf)[] = [definition as WireGroup]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('conditions' in node) {
      open.push(...node.conditions)
      continue
    }
    names.add(node.id)
    if (typeof node.value === 'object' && 'attribute' in node.value) names.add(node.value.attribute)
  }
  return names
}
