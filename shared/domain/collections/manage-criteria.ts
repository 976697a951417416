import { actorIdOf, type Caller, type KnownCaller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { type CheckedCondition, collectionsReferredTo } from '../criteria/condition.ts'
import { type Creation, singleAttempt } from '../idempotency/run-once.ts'
import { type CircleDependencies, findCircle } from './circular-references.ts'
import type { Collection, CollectionObjectType, CriteriaCollectionUpdate, NewCriteriaCollection } from './collection.ts'
import { type CollectionDependencies, type EvaluationNotifier, notifyEvaluation } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import {
  createCollection,
  type Definition,
  type PreparedUpdate,
  prepareCreation,
  prepareUpdate,
  type ReadDefinition,
  type UpdateChecks,
  type UpdateTarget,
  updateCollection,
} from './write-collection.ts'

export type CreationDependencies = Pick<
  CollectionDependencies,
  'collections' | 'collectionQuota' | 'definitionQuota' | 'tenants' | 'snapshots' | 'deletedObjects' | 'newId' | 'nowMs'
>

export type UpdateDependencies = CircleDependencies &
  Pick<CollectionDependencies, 'definitionQuota' | 'snapshots' | 'deletedObjects' | 'newId' | 'nowMs'>

/**
 * Creates a criteria collection. Its members are evaluated in the background.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown` and those of the condition, all at
 * once.
 */
export async function createCriteriaCollection(
  body: NewCriteriaCollection,
  caller: KnownCaller,
  deps: CreationDependencies & EvaluationNotifier,
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  // A condition that was checked by former types of attributes would be invalid once it is stored.
  deps.snapshots.forgetSettings(caller.tenantId)
  const collection = await createCollection(
    'criteria',
    body,
    definitionReader(body, caller, deps),
    caller,
    deps,
    creation,
  )
  await notifyEvaluation(caller.tenantId, deps)
  return collection
}

/** The collection that a creation would store. Writes nothing. @throws Refusal as `createCriteriaCollection`. */
export function prepareCriteriaCreation(
  body: NewCriteriaCollection,
  caller: KnownCaller,
  deps: CreationDependencies,
): Promise<Collection> {
  const created = { kind: 'criteria', id: deps.newId() } as const
  return prepareCreation(created, body, definitionReader(body, caller, deps), caller, deps)
}

function definitionReader(
  body: NewCriteriaCollection,
  caller: Caller,
  deps: Pick<CollectionDependencies, 'collections' | 'snapshots' | 'deletedObjects'>,
): ReadDefinition {
  return (faults) => definitionOf(caller, body, body.condition, [...objectTypeFaults(body.objectType), ...faults], deps)
}

/** A criteria collection to change. @param ifMatch The value of `If-Match`, if any. */
export type CriteriaUpdate = {
  readonly id: string
  readonly body: CriteriaCollectionUpdate
  readonly ifMatch: string | undefined
  readonly caller: KnownCaller
}

/**
 * Changes a criteria collection. What the body leaves out keeps its value.
 * @param confirm As in `updateCollection`.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`, `CircularReference` and as creation
 * does.
 */
export async function updateCriteriaCollection(
  update: CriteriaUpdate,
  deps: UpdateDependencies & EvaluationNotifier,
  confirm?: (prepared: PreparedUpdate) => Promise<void>,
): Promise<Versioned<Collection>> {
  // As in `createCriteriaCollection`.
  if (update.body.condition !== undefined) deps.snapshots.forgetSettings(update.caller.tenantId)
  const changed = await updateCollection(targetOf(update), update.body, checksOf(update, deps), deps, confirm)
  await notifyEvaluation(update.caller.tenantId, deps)
  return changed
}

/** The change that an update would write. Writes nothing. @throws Refusal as `updateCriteriaCollection`. */
export function prepareCriteriaUpdate(update: CriteriaUpdate, deps: UpdateDependencies): Promise<PreparedUpdate> {
  return prepareUpdate(targetOf(update), update.body, checksOf(update, deps), deps)
}

function targetOf({ id, ifMatch, caller }: CriteriaUpdate): UpdateTarget {
  return { kind: 'criteria', id, tenantId: caller.tenantId, ifMatch, actorId: actorIdOf(caller) }
}

function checksOf({ body, caller }: CriteriaUpdate, deps: UpdateDependencies): UpdateChecks {
  const { condition } = body
  return {
    readDefinition: condition && ((faults, before) => definitionOf(caller, body, condition, faults, deps, before)),
    check: (before, definition) => refuseCycle(before, definition, '/condition', deps),
  }
}

async function definitionOf(
  caller: Caller,
  { objectType }: Pick<NewCriteriaCollection, 'objectType'>,
  input: object,
  faults: readonly RefusalEntry[],
  deps: Pick<CollectionDependencies, 'collections' | 'snapshots' | 'deletedObjects'>,
  before?: Collection,
): Promise<Definition> {
  const condition = await readCondition(caller, input, '/condition', faults, deps, before, objectType)
  return definitionBy(condition)
}

/** The definition of a collection with this condition. */
export function definitionBy(condition: CheckedCondition): Definition {
  return { definition: condition.wire, refersTo: [...collectionsReferredTo(condition)] }
}

/**
 * @param pointer JSON pointer to the condition in the body.
 * @throws Refusal `CircularReference`. A condition that stays as it is stored is not refused.
 */
export async function refuseCycle(
  before: Collection,
  definition: Definition,
  pointer: string,
  deps: CircleDependencies,
): Promise<void> {
  if (JSON.stringify(definition.definition) === JSON.stringify(before.definition)) return
  const circle = await findCircle(before.tenantId, { id: before.id, ...definition }, deps)
  if (circle === undefined) return
  const message = `The collections would refer to each other, or to groups that they fill: ${circle.join(' -> ')}`
  throw new Refusal('CircularReference', message, pointer)
}

/** Refuses object types that the schema allows and the service does not support yet. */
export function objectTypeFaults(objectType: CollectionObjectType, target = '/objectType'): RefusalEntry[] {
  if (objectType !== 'User' && objectType !== 'Group') return []
  return [refusalEntry('ObjectTypeNotSupported', `Collections of ${objectType} objects are not supported`, target)]
}
