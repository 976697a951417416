import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { type MergeDependencies, mergeCoreObjects, staleCoreObjects } from './merge-core-objects.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import type { WriteDecision } from './write-decision.ts'

type WriteScope = { readonly tenantId: string; readonly connector: Connector; readonly rules: ConnectorRules }

type AffectedDependencies = MergeDependencies & {
  readonly objects: Pick<ConnectorObjectStore, 'coreObjectsReferringTo'>
}

/**
 * Merges the core objects that written decisions affect: those of the written objects, and those that refer to objects
 * that were created, deleted or assigned to another core object.
 * @returns Whether any core object was written.
 */
export async function mergeAffected(
  { tenantId, connector, rules }: WriteScope,
  decisions: readonly WriteDecision[],
  deps: AffectedDependencies,
): Promise<boolean> {
  if (decisions.length === 0) return false
  const written = stubsById(decisions.flatMap((decision) => decision.coreObjects))
  const possiblyStale = decisions.flatMap((decision) => decision.possiblyStale)
  const unverified = stubsById(
    possiblyStale.flatMap((object) => object.coreObjects).filter(({ id }) => !written.has(id)),
  )
  const stale = await staleCoreObjects(tenantId, unverified, rules, deps)
  const staleObjects = possiblyStale.filter((object) => object.coreObjects.some(({ id }) => stale.has(id)))
  const retargeted = decisions.flatMap((decision) => decision.retargeted)
  const referrers = await referringTo(tenantId, [...retargeted, ...staleObjects], deps)
  const own = new Map([...written, ...[...unverified].filter(([id]) => stale.has(id))])
  const others = referrers.filter((id) => !own.has(id))
  const stubs = new Map([...others.map((id) => [id, undefined] as const), ...own])
  const changedIds = new Set([...written.keys(), ...(retargeted.length > 0 ? others : [])])
  const { softDeletionDays } = connector
  const { writtenCount } = await mergeCoreObjects(tenantId, { stubs, changedIds, softDeletionDays, rules }, deps)
  return writtenCount > 0
}

/** Returns the ids of the core objects whose contributions refer to one of these objects. */
async function referringTo(
  tenantId: string,
  targets: readonly Pick<ConnectorObject, 'id' | 'objectType'>[],
  { objects }: Pick<AffectedDependencies, 'objects'>,
): Promise<string[]> {
  const byType = Map.groupBy(targets, ({ objectType }) => objectType)
  const found = await Promise.all(
    [...byType].map(([objectType, ofType]) =>
      objects.coreObjectsReferringTo(
        tenantId,
        objectType,
        ofType.map(({ id }) => id),
      ),
    ),
  )
  return found.flat()
}

/** Of several stubs of one object, one that names the object into which it was merged is kept. */
function stubsById(stubs: readonly CoreObjectStub[]): Map<string, CoreObjectStub> {
  const byId = new Map<string, CoreObjectStub>()
  for (const stub of stubs) if (byId.get(stub.id)?.mergedInto === undefined) byId.set(stub.id, stub)
  return byId
}
