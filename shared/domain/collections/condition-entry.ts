import { type Static, Type } from 'typebox'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed } from '../../kernel/schema.ts'
import { checkCondition, checkConditionTask } from '../criteria/check-condition.ts'
import {
  type CheckedCondition,
  type CollectionReference,
  collectionReferences,
  leavesOf,
} from '../criteria/condition.ts'
import { type ConditionSchema, conditionSchema, storedConditionSchema } from '../criteria/schema.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { Collection } from './collection.ts'
import type { CollectionStore } from './collection-dependencies.ts'

export type ConditionDependencies = {
  readonly collections: CollectionStore
  readonly snapshots: TenantSnapshots
}

/** What the tenant's conditions may name, its own custom attributes included. */
export async function tenantConditionSchema(tenantId: string, deps: ConditionDependencies): Promise<ConditionSchema> {
  return conditionSchema((await deps.snapshots.fresh(tenantId)).customAttributes())
}

/**
 * A condition as a caller gives it, checked against the tenant's schema and collections.
 * @param pointer where in the body it stands, for the entries' targets.
 * @param besides what else is wrong with the body, to be told along.
 * @param before the criteria collection whose condition this one replaces. What that one reads may be read on, also when
 * the last object with the attribute has gone: a record can be sent back as it was read.
 * @throws Refusal with all that is wrong.
 */
export async function readCondition(
  tenantId: string,
  given: unknown,
  pointer: string,
  besides: readonly RefusalEntry[],
  deps: ConditionDependencies,
  before?: Collection,
): Promise<CheckedCondition> {
  const rows = await deps.snapshots.fresh(tenantId)
  const schema = new Map([...namesRead(before), ...conditionSchema(rows.customAttributes())])
  const check = await deps.snapshots.reading(rows, checkConditionTask(given, schema))
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

/** Nothing where the stored condition cannot be understood: it is mended by being replaced. */
function namesRead(collection: Collection | undefined): ConditionSchema {
  const check = collection && storedCheck(collection)
  if (!check?.ok) return new Map()
  return new Map(leavesOf(check.condition.root).map(({ name, type }) => [name, type]))
}

/** The condition of a stored collection. It was checked when it was stored, so a fault in it is ours. */
export function storedCondition(collection: Collection): CheckedCondition {
  const check = storedCheck(collection)
  if (check.ok) return check.condition
  throw new Error(`The stored condition of collection ${collection.id} is faulty: ${check.faults[0]?.message}`)
}

function storedCheck({ definition }: Collection): ReturnType<typeof checkCondition> {
  return checkCondition(definition, storedConditionSchema())
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
 * What conditions of each object type may name. A row shows identity, relationship and org unit together, so these
 * three are one and the same; directory objects have nothing to filter on until they are read in.
 */
export async function tenantSchemas(tenantId: string, deps: ConditionDependencies): Promise<TenantSchemas> {
  const rows = Object.fromEntries(await tenantConditionSchema(tenantId, deps))
  return { identitySchema: rows, relationshipSchema: rows, orgUnitSchema: rows, userSchema: {}, groupSchema: {} }
}
