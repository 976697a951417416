import { actorIdOf, type Caller, type KnownCaller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { findCycle } from '../criteria/evaluation-order.ts'
import { type Creation, singleAttempt } from '../idempotency/run-once.ts'
import type { Collection, CollectionObjectType, CriteriaCollectionUpdate, NewCriteriaCollection } from './collection.ts'
import { type CollectionDependencies, notifyEvaluation } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import { createCollection, type Definition, type ReadDefinition, updateCollection } from './write-collection.ts'

/**
 * Creates a criteria collection. Its members are evaluated in the background.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown` and those of the condition, all at once.
 */
export async function createCriteriaCollection(
  body: NewCriteriaCollection,
  caller: KnownCaller,
  deps: CollectionDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  const readDefinition: ReadDefinition = (faults) =>
    definitionOf(caller, body.condition, [...objectTypeFaults(body.objectType), ...faults], deps)
  const collection = await createCollection('criteria', body, readDefinition, caller, deps, creation)
  await notifyEvaluation(caller.tenantId, deps)
  return collection
}

/**
 * Changes a criteria collection. What the body leaves out keeps its value.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`, `CircularReference` and as creation does.
 */
export async function updateCriteriaCollection(
  id: string,
  body: CriteriaCollectionUpdate,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: CollectionDependencies,
): Promise<Versioned<Collection>> {
  const { tenantId } = caller
  const { condition } = body
  const readDefinition: ReadDefinition | undefined =
    condition && ((faults, before) => definitionOf(caller, condition, faults, deps, before))
  const target = { kind: 'criteria', id, tenantId, ifMatch, actorId: actorIdOf(caller) } as const
  const changed = await updateCollection(target, body, readDefinition, deps, (before, { refersTo }) =>
    refuseCycle(before, refersTo, '/condition', deps),
  )
  await notifyEvaluation(tenantId, deps)
  return changed
}

async function definitionOf(
  caller: Caller,
  given: object,
  faults: readonly RefusalEntry[],
  deps: CollectionDependencies,
  before?: Collection,
): Promise<Definition> {
  const condition = await readCondition(caller, given, '/condition', faults, deps, before)
  return { definition: condition.wire, refersTo: [...collectionsReferredTo(condition)] }
}

/**
 * @param pointer JSON pointer to the condition in the body.
 * @throws Refusal `CircularReference`. Follows criteria collections only: the members of a joinable collection do not
 * depend on a condition.
 */
export async function refuseCycle(
  before: Collection,
  refersTo: readonly string[],
  pointer: string,
  deps: CollectionDependencies,
): Promise<void> {
  if (refersTo.length === 0) return
  const others = await deps.collections.list(before.tenantId, { kind: 'criteria' })
  const references = new Map(others.map((other) => [other.id, other.refersTo]))
  const cycle = findCycle(before.id, refersTo, (id) => references.get(id) ?? [])
  if (cycle === undefined) return
  throw new Refusal('CircularReference', `The collections would refer to each other: ${cycle.join(' -> ')}`, pointer)
}

/** Refuses object types that the schema allows and the service does not support yet: decisions, section 6. */
export function objectTypeFaults(objectType: CollectionObjectType, target = '/objectType'): RefusalEntry[] {
  if (objectType !== 'User' && objectType !== 'Group') return []
  return [refusalEntry('ObjectTypeNotSupported', `Collections of ${objectType} objects are not supported`, target)]
}
