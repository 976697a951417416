import type { Caller } from '../caller.ts'
import { type CheckedCondition, collectionsReferredTo } from '../criteria/condition.ts'
import { findCycle } from '../criteria/evaluation-order.ts'
import { type Creation, leftBefore, onlyTry } from '../idempotency/creation.ts'
import { refuseOtherVersion } from '../if-match.ts'
import { Refusal, type RefusalEntry, refusalEntry, refuseAll } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { Collection, CollectionObjectType } from './collection.ts'
import { type CollectionDependencies, ringEvaluation } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import type { CriteriaCollectionUpdate, NewCriteriaCollection } from './criteria-collection.ts'
import { NO_METADATA, readMetadata } from './metadata.ts'
import { found, whileStale } from './read-then-write.ts'

/**
 * Makes a criteria collection; its members follow in the background.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown` and those of the condition, all at once.
 */
export async function createCriteriaCollection(
  body: NewCriteriaCollection,
  caller: Caller,
  deps: CollectionDependencies,
  creation: Creation = onlyTry(deps),
): Promise<Collection> {
  const { metadata, faults } = readMetadata(body.metadata)
  const besides = [...objectTypeFaults(body.objectType), ...faults]
  const nowMs = deps.nowMs()
  const id = creation.newId()
  // First: a tenant that is remembered for nothing does no harm, one that the sweep does not know does.
  await deps.tenants.remember(caller.tenantId)
  const { value } = await whileStale(async () => {
    const earlier = await leftBefore(creation, () => deps.collections.find(caller.tenantId, id, 'criteria'))
    if (earlier !== undefined) return earlier
    const referenceVersion = await deps.collections.referenceVersion(caller.tenantId)
    const condition = await readCondition(caller.tenantId, body.condition, '/condition', besides, deps)
    const refersTo = [...collectionsReferredTo(condition)]
    const collection: Collection = {
      id,
      tenantId: caller.tenantId,
      kind: 'criteria',
      objectType: body.objectType,
      name: body.name,
      description: body.description ?? null,
      definition: condition.wire,
      definitionVersion: 1,
      metadata: { ...NO_METADATA, ...metadata },
      refersTo,
      createdBy: caller.objectId,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }
    return deps.collections.add(collection, refersTo.length > 0 ? referenceVersion : undefined)
  })
  await ringEvaluation(caller.tenantId, deps)
  return value
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
  const { metadata, faults } = readMetadata(body.metadata)
  const updated = await whileStale(async () => {
    const referenceVersion = await deps.collections.referenceVersion(caller.tenantId)
    const condition = await readGivenCondition(body, faults, caller.tenantId, deps)
    const { value: before, version } = found(await deps.collections.find(caller.tenantId, id, 'criteria'), id)
    refuseOtherVersion(version, ifMatch)
    if (body.objectType !== before.objectType) {
      throw new Refusal(
        'ObjectTypeFixed',
        `The collection holds ${before.objectType} objects and always will`,
        '/objectType',
      )
    }
    const definition = condition === undefined ? before : definitionBy(condition, before)
    await refuseCycle(before, definition.refersTo, deps)
    const after: Collection = {
      ...before,
      ...definition,
      name: body.name ?? before.name,
      description: body.description === undefined ? before.description : body.description,
      metadata: { ...before.metadata, ...metadata },
      updatedAtMs: deps.nowMs(),
    }
    const isRelated = before.refersTo.length + after.refersTo.length > 0
    return deps.collections.replace(after, version, isRelated ? referenceVersion : undefined)
  })
  await ringEvaluation(caller.tenantId, deps)
  return updated
}

/** Looked at before the record is: faulty input is told also of a collection that is not there. */
async function readGivenCondition(
  { condition }: CriteriaCollectionUpdate,
  besides: readonly RefusalEntry[],
  tenantId: string,
  deps: CollectionDependencies,
): Promise<CheckedCondition | undefined> {
  if (condition !== undefined) return readCondition(tenantId, condition, '/condition', besides, deps)
  refuseAll(besides)
  return undefined
}

function definitionBy(
  condition: CheckedCondition,
  before: Collection,
): Pick<Collection, 'definition' | 'definitionVersion' | 'refersTo'> {
  const isSame = JSON.stringify(condition.wire) === JSON.stringify(before.definition)
  return {
    definition: condition.wire,
    definitionVersion: before.definitionVersion + (isSame ? 0 : 1),
    refersTo: [...collectionsReferredTo(condition)],
  }
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

/**
 * Checks what no schema says of an object type.
 */
export function objectTypeFaults(objectType: CollectionObjectType, target = '/objectType'): RefusalEntry[] {
  if (objectType !== 'User' && objectType !== 'Group') return []
  return [refusalEntry('ObjectTypeNotSupported', `Collections of ${objectType} objects are not supported`, target)]
}
