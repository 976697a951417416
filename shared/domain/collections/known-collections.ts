import { compile } from '../criteria/compile.ts'
import { attributesRead, type CheckedCondition, dependsOnDay } from '../criteria/condition.ts'
import { Refusal } from '../refusal.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedCondition } from './condition-entry.ts'
import type { Known } from './members-now.ts'

/**
 * The memory of each collection as it is defined now; heads of new ones are read here, before the changes are.
 * One whose stored condition cannot be understood is left out, and the log tells.
 * @throws Refusal `StaleVersion` when a collection was changed and evaluated since it was read.
 */
export async function knownCollections(
  tenantId: string,
  criteria: readonly Collection[],
  before: ReadonlyMap<string, Known> = new Map(),
  { memberships, log }: Pick<CollectionDependencies, 'memberships' | 'log'>,
): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  for (const collection of criteria) {
    const memory = before.get(collection.id)
    if (memory?.definitionVersion === collection.definitionVersion) {
      known.set(collection.id, memory)
      continue
    }
    const condition = understood(collection, log)
    if (condition === undefined) continue
    const head = await memberships.head(tenantId, collection.id)
    if (Number.parseInt(head?.value.definitionKey ?? '0', 10) > collection.definitionVersion) {
      throw new Refusal('StaleVersion', `Collection ${collection.id} was changed and evaluated meanwhile`)
    }
    known.set(collection.id, {
      definitionVersion: collection.definitionVersion,
      condition: compile(condition),
      dependsOnDay: dependsOnDay(condition),
      attributesRead: attributesRead(condition),
      head,
      ids: undefined,
    })
  }
  return known
}

/** One collection that nobody can evaluate must not keep a whole tenant's from being evaluated. */
function understood(collection: Collection, log: CollectionDependencies['log']): CheckedCondition | undefined {
  try {
    return storedCondition(collection)
  } catch (error) {
    log.error('collection.faulty', error, { tenantId: collection.tenantId, collectionId: collection.id })
    return undefined
  }
}
