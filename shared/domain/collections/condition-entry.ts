import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed } from '../../kernel/schema.ts'
import type { DeletedCoreObjects } from '../core/core-object-store.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import { type ConditionCheck, checkConditionTask } from '../criteria/check-condition.ts'
import {
  type CheckedCondition,
  type CollectionReference,
  collectionReferences,
  leavesOf,
  namesRead,
} from '../criteria/condition.ts'
import type { ConditionOrigin } from '../criteria/condition-findings.ts'
import { withStoredValues } from '../criteria/hidden-values.ts'
import {
  type AttributeType,
  type ConditionSchema,
  conditionSchema,
  isSensitive,
  storedConditionSchema,
  withoutSensitive,
} from '../criteria/schema.ts'
import { hasFullAccess } from '../object-access/object-access.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CollectionObjectType } from './collection.ts'
import type { CollectionLists } from './collection-dependencies.ts'
import { withRemainingIdentities } from './remaining-identities.ts'

/** Bytes of a condition's JSON. An explanation repeats the condition for each row. */
const CONDITION_BYTES_COUNT = 128 * 1024

export type ConditionDependencies = {
  readonly collections: Pick<CollectionLists, 'existing'>
  readonly snapshots: TenantSnapshots
  readonly deletedObjects: Pick<DeletedCoreObjects, 'ofIds'>
}

/** The schema of the conditions that the caller may write, the tenant's custom attributes included. */
export function schemaFor(caller: Caller, rows: RowSnapshot): ConditionSchema {
  const schema = conditionSchema(rows.customAttributes(), rows.settings.types)
  return hasFullAccess(caller) ? schema : withoutSensitive(schema)
}

/**
 * Checks a condition from a request against the tenant's schema and collections. A sensitive attribute does not exist
 * for callers who may not read all core objects, except in a condition that is sent back as they read it: with
 * `hidden` in place of its values. Callers who may read the values can send that back as well. Merged identities are
 * replaced by those that remain.
 * @param pointer JSON pointer to the condition in the body.
 * @param besides Faults in the rest of the body, refused together with the condition's.
 * @param before The criteria collection whose condition is replaced. Attributes that it reads stay valid after the last
 * object with them is deleted, so that a record can be sent back as it was read.
 * @param objectType Of the collection, where it is known.
 * @throws Refusal with all faults.
 */
export async function readCondition(
  caller: Caller,
  sent: unknown,
  pointer: string,
  besides: readonly RefusalEntry[],
  deps: ConditionDependencies,
  before?: Collection,
  objectType?: CollectionObjectType,
): Promise<CheckedCondition> {
  const { tenantId } = caller
  if (Buffer.byteLength(JSON.stringify(sent) ?? '') > CONDITION_BYTES_COUNT) {
    throw Refusal.ofAll([...besides, refusalEntry('ConditionTooLarge', undefined, pointer)])
  }
  const rows = await deps.snapshots.fresh(tenantId)
  const input = await withRemainingIdentities(tenantId, sent, rows, deps.deletedObjects)
  const { types } = rows.settings
  const stored = before && (await deps.snapshots.reading(rows, storedCheckTask(before, types)))
  const storedNames = attributesOf(stored, types)
  const schema = new Map([...withoutSensitive(storedNames), ...schemaFor(caller, rows)])
  const check = await deps.snapshots.reading(rows, checkConditionTask(input, schema, 'request', objectType))
  if (stored?.ok && [...storedNames.keys()].some(isSensitive)) {
    const restored = withStoredValues(input, stored.condition.wire)
    const names = new Map([...storedNames, ...schema])
    const kept = await deps.snapshots.reading(rows, checkConditionTask(restored, names, 'stored', objectType))
    if (isSameCondition(kept, stored)) return stored.condition
  }
  if (!check.ok && stored !== undefined) {
    const names = new Map([...withoutSensitive(storedNames), ...schema])
    const kept = await deps.snapshots.reading(rows, checkConditionTask(input, names, 'stored', objectType))
    if (kept.ok && isSameCondition(kept, stored)) return kept.condition
  }
  if (!check.ok) {
    const faults = check.faults.map(({ code, message, pointer: within }) =>
      refusalEntry(code, message, pointer + within),
    )
    throw Refusal.ofAll([...besides, ...faults])
  }
  const unknown = await unknownCollections(tenantId, collectionReferences(check.condition), deps)
  const faults = unknown.map(({ collectionId, pointer: within }) =>
    refusalEntry('CollectionUnknown', `There is no collection ${collectionId}`, pointer + within),
  )
  throwIfRefused([...besides, ...faults])
  return check.condition
}

/** Empty when the stored condition is invalid: replacing it repairs the collection. */
function attributesOf(check: ConditionCheck | undefined, types: CustomTypes): ConditionSchema {
  if (!check?.ok) return new Map()
  const schema = storedConditionSchema(types)
  const names = leavesOf(check.condition.root).flatMap((leaf) => [leaf.name, ...namesRead(leaf)])
  return new Map(
    names.flatMap((name) => (schema.get(name) === undefined ? [] : [[name, schema.get(name) as AttributeType]])),
  )
}

/** Whether both are valid and equal. The check orders the members of a condition. */
function isSameCondition(left: ConditionCheck, right: ConditionCheck): boolean {
  return left.ok && right.ok && JSON.stringify(left.condition.wire) === JSON.stringify(right.condition.wire)
}

/**
 * The condition of a stored collection, as a task: a large one takes 100 ms to check.
 * @param types Of the tenant's custom attributes.
 * @throws InvalidConditionError: it was checked when it was stored, possibly by other types.
 */
export function* storedConditionTask(collection: Collection, types: CustomTypes): Task<CheckedCondition> {
  const check = yield* storedCheckTask(collection, types)
  if (check.ok) return check.condition
  throw new InvalidConditionError(
    `The stored condition of collection ${collection.id} is invalid: ${check.faults[0]?.message}`,
  )
}

/** The stored condition of a collection is invalid. Replacing it repairs the collection. */
export class InvalidConditionError extends Error {}

/**
 * Checks the condition of a stored collection.
 * @param origin Whether values are refused that were refused in a request.
 */
export function storedCheckTask(
  { definition }: Collection,
  types: CustomTypes,
  origin: ConditionOrigin = 'stored',
): Task<ConditionCheck> {
  return checkConditionTask(definition, storedConditionSchema(types), origin)
}

async function unknownCollections(
  tenantId: string,
  references: readonly CollectionReference[],
  deps: ConditionDependencies,
): Promise<CollectionReference[]> {
  const ids = new Set(references.map(({ collectionId }) => collectionId))
  const known = new Set((await deps.collections.existing(tenantId, [...ids])).map(({ id }) => id))
  return references.filter(({ collectionId }) => !known.has(collectionId))
}

const AttributeTypes = Type.Record(Type.String(), Type.String())

export const TenantSchemas = Closed({
  identitySchema: AttributeTypes,
  relationshipSchema: AttributeTypes,
  orgUnitSchema: AttributeTypes,
  userSchema: AttributeTypes,
  groupSchema: AttributeTypes,
})
export type TenantSchemas = Static<typeof TenantSchemas>

/**
 * The condition schema of each object type. Identity, relationship and org unit share one, because a row has all three.
 * Those of directory objects are empty until the service reads these.
 */
export async function tenantSchemas(
  caller: Caller,
  deps: Pick<ConditionDependencies, 'snapshots'>,
): Promise<TenantSchemas> {
  const rows = Object.fromEntries(schemaFor(caller, await deps.snapshots.fresh(caller.tenantId)))
  return { identitySchema: rows, relationshipSchema: rows, orgUnitSchema: rows, userSchema: {}, groupSchema: {} }
}
