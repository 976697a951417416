import { checkCondition } from '../criteria/check-condition.ts'
import { type CheckedCondition, collectionsReferredTo } from '../criteria/condition.ts'
import { type ConditionSchema, conditionSchema, storedConditionSchema } from '../criteria/schema.ts'
import { isRefusalCode, refusalEntry, refuseAll } from '../refusal.ts'
import type { Collection } from './collection.ts'
import type { CollectionStore } from './collection-store.ts'
import type { TenantSnapshots } from './tenant-snapshots.ts'

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
 * @throws Refusal with all that is wrong with it.
 */
export async function readCondition(
  tenantId: string,
  given: unknown,
  pointer: string,
  deps: ConditionDependencies,
): Promise<CheckedCondition> {
  const check = checkCondition(given, await tenantConditionSchema(tenantId, deps))
  if (!check.ok) {
    refuseAll(
      check.faults.map(({ code, message, pointer: within }) => {
        if (!isRefusalCode(code)) throw new Error(`The condition's fault ${code} is not in the register of refusals`)
        return refusalEntry(code, message, pointer + within)
      }),
    )
    throw new Error('A condition was refused without a fault')
  }
  await refuseUnknownCollections(tenantId, [...collectionsReferredTo(check.condition)], pointer, deps)
  return check.condition
}

/** The condition of a stored collection. It was checked when it was stored, so a fault in it is ours. */
export function storedCondition(collection: Collection): CheckedCondition {
  const check = checkCondition(collection.definition, storedConditionSchema())
  if (check.ok) return check.condition
  throw new Error(`The stored condition of collection ${collection.id} is faulty: ${check.faults[0]?.message}`)
}

async function refuseUnknownCollections(
  tenantId: string,
  ids: readonly string[],
  pointer: string,
  deps: ConditionDependencies,
): Promise<void> {
  const known = new Set((await deps.collections.existing(tenantId, ids)).map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  refuseAll(unknown.map((id) => refusalEntry('CollectionUnknown', `There is no collection ${id}`, pointer)))
}
