import type { Caller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { findCycle } from '../criteria/evaluation-order.ts'
import { type Creation, singleAttempt } from '../idempotency/run-once.ts'
import type { Collection, CollectionObjectType, CriteriaCollectionUpdate, NewCriteriaCollection } from './collection.ts'
import { type CollectionDependencies, notifyEvaluation } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import { addCollection, changeCollection, type Definition } from './write-collection.ts'

/**
 * Makes a criteria collection; its members follow in the background.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown` and those of the condition, all at once.
 */
export async function createCriteriaCollection(
  body: NewCriteriaCollection,
  caller: Caller,
  deps: CollectionDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  const { tenantId } = caller
  const readDefinition = (faults: readonly RefusalEntry[]) =>
    definitionBy(tenantId, body.condition, [...objectTypeFaults(body.objectType), ...faults], deps)
  const collection = await addCollection({ kind: 'criteria', caller, creation }, body, readDefinition, deps)
  await notifyEvaluation(tenantId, deps)
  return collection
}

/**
 * Changes what the body names and keeps the rest.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`, `CircularReference` and as creation does.
 */
export async function updateCriteriaCollection(
  id: string,
  body: CriteriaCollectionUpdate,
  ifMatch: string | undefined,
  caller: Caller,
  deps: CollectionDependencies,
): Promise<Versioned<Collection>> {
  const { tenantId } = caller
  const { condition } = body
  const readDefinition =
    condition === undefined
      ? undefined
      : (faults: readonly RefusalEntry[], before?: Collection) =>
          definitionBy(tenantId, condition, faults, deps, before)
  const refuse = (before: Collection, { refersTo }: Definition) => refuseCycle(before, refersTo, deps)
  const change = { kind: 'criteria', id, ifMatch, caller } as const
  const collection = await changeCollection(change, body, { readDefinition, refuse }, deps)
  await notifyEvaluation(tenantId, deps)
  return collection
}

async function definitionBy(
  tenantId: string,
  given: object,
  faults: readonly RefusalEntry[],
  deps: CollectionDependencies,
  before?: Collection,
): Promise<Definition> {
  const condition = await readCondition(tenantId, given, '/condition', faults, deps, before)
  return { definition: condition.wire, refersTo: [...collectionsReferredTo(condition)] }
}

/** Follows criteria collections only: who is in a joinable one is decided by people, not by a condition. */
async function refuseCycle(
  before: Collection,
  refersTo: readonly string[],
  deps: CollectionDependencies,
): Promise<void> {
  if (refersTo.length === 0) return
  const others = await deps.collections.list(before.tenantId, { kind: 'criteria' })
  const references = new Map(others.map((other) => [other.id, other.refersTo]))
  const cycle = findCycle(before.id, refersTo, (id) => references.get(id) ?? [])
  if (cycle === undefined) return
  throw new Refusal(
    'CircularReference',
    `The collections would refer to each other: ${cycle.join(' -> ')}`,
    '/condition',
  )
}

/** What no schema says of an object type. */
export function objectTypeFaults(objectType: CollectionObjectType, target = '/objectType'): RefusalEntry[] {
  if (objectType !== 'User' && objectType !== 'Group') return []
  return [refusalEntry('ObjectTypeNotSupported', `Collections of ${objectType} objects are not supported`, target)]
}
