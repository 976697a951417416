import { chunk } from '../../kernel/chunk.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObject, ConnectorObjectStore } from './connector-object.ts'
import type { RankOf } from './identity-resolver.ts'
import {
  type Contribution,
  type CoreObjectStub,
  deletedCoreObject,
  isSameCoreObject,
  type MergedCoreObject,
  mergedCoreObject,
  withAccountChange,
} from './merged-core-object.ts'

/** A write of a core object, with the version it replaces; without one it must be new. */
export type CoreObjectWrite = { readonly object: MergedCoreObject; readonly version: string | undefined }

/** The core objects of each tenant, as the connectors' writes see them. */
export interface CoreObjectWriter {
  /** Later reads include all earlier writes of all instances. Without this call, they can be older. */
  catchUp(tenantId: string): Promise<void>
  /** Returns the objects that exist, soft-deleted ones included. */
  mergedOfIds(tenantId: string, ids: readonly string[]): Promise<Versioned<MergedCoreObject>[]>
  /**
   * Writes all objects on the condition of the quoted versions.
   * @param softDeletionDays Days for which deleted objects are kept.
   * @returns The ids of the objects that were not written because they, or objects of the same transaction, had changed.
   */
  write(tenantId: string, writes: readonly CoreObjectWrite[], softDeletionDays: number): Promise<ReadonlySet<string>>
}

type MergeDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'catchUp' | 'ofCoreObjects' | 'referenceTargets'>
  readonly coreObjects: CoreObjectWriter
  nowMs(): number
}

/** Core objects merged together. Bounds the memory used when thousands refer to one object. */
const BATCH_COUNT = 1000
const ATTEMPTS_AT_MOST = 12

/**
 * Merges the live contributions of each core object and writes the objects that change. Objects with a stub are written
 * last: when they are up to date, so are the objects that refer to them, even after an interruption.
 * @param stubs Core objects by id. An object with a stub but without contributions is written as deleted even if it does
 *   not exist, because a concurrent call may be about to create it from contributions that no longer exist.
 * @returns Whether any object was written.
 */
export async function mergeCoreObjects(
  tenantId: string,
  stubs: ReadonlyMap<string, CoreObjectStub | undefined>,
  softDeletionDays: number,
  rankOf: RankOf,
  deps: MergeDependencies,
): Promise<boolean> {
  let hasChanged = false
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    let pending = batch
    for (let attempt = 0; pending.length > 0; attempt += 1) {
      if (attempt === ATTEMPTS_AT_MOST) throw new Error(`${pending.length} core objects kept changing during the merge`)
      const due = await dueWrites(tenantId, pending, stubs, rankOf, deps)
      const [referring, own] = [false, true].map((hasStub) =>
        due.filter(({ object: { id } }) => (stubs.get(id) !== undefined) === hasStub),
      ) as [CoreObjectWrite[], CoreObjectWrite[]]
      const referringConflicts = new Set(await deps.coreObjects.write(tenantId, referring, softDeletionDays))
      if (referring.length > referringConflicts.size) hasChanged = true
      const ownConflicts =
        referringConflicts.size > 0 ? idsOf(own) : await deps.coreObjects.write(tenantId, own, softDeletionDays)
      if (own.length > ownConflicts.size) hasChanged = true
      pending = pending.filter((id) => referringConflicts.has(id) || ownConflicts.has(id))
    }
  }
  return hasChanged
}

/** Returns the ids of core objects that differ from the merge of their live contributions. */
export async function staleCoreObjects(
  tenantId: string,
  ids: readonly string[],
  rankOf: RankOf,
  deps: MergeDependencies,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>()
  for (const batch of chunk(ids, BATCH_COUNT)) {
    for (const id of idsOf(await dueWrites(tenantId, batch, new Map(), rankOf, deps))) stale.add(id)
  }
  return stale
}

const idsOf = (writes: readonly CoreObjectWrite[]): ReadonlySet<string> =>
  new Set(writes.map(({ object }) => object.id))

/**
 * Returns the writes that bring the core objects up to date. Versions are read before the contributions: a call that
 * changes a contribution in the meantime merges later, and one of the two calls conflicts and merges again. For the same
 * reason the contributions must not be read from a replica that is older than the versions.
 */
async function dueWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  stubs: ReadonlyMap<string, CoreObjectStub | undefined>,
  rankOf: RankOf,
  { objects, coreObjects, nowMs }: MergeDependencies,
): Promise<CoreObjectWrite[]> {
  const stored = await coreObjects.mergedOfIds(tenantId, coreObjectIds)
  await objects.catchUp(tenantId)
  const contributors = await liveContributors(tenantId, coreObjectIds, rankOf, objects)
  const coreObjectOf = await coreObjectResolver(tenantId, [...contributors.values()].flat(), objects)
  const storedById = new Map(stored.map((each) => [each.value.id, each]))
  return coreObjectIds.flatMap((id) => {
    const before = storedById.get(id)
    const contributions = (contributors.get(id) ?? []).map((each) => contribution(each, coreObjectOf))
    const object = mergedOrDeleted(id, contributions, before?.value ?? stubs.get(id))
    if (object === undefined || (before !== undefined && isSameCoreObject(before.value, object))) return []
    return [{ object: withAccountChange(object, before?.value, nowMs()), version: before?.version }]
  })
}

function mergedOrDeleted(
  id: string,
  [first, ...others]: readonly Contribution[],
  stub: CoreObjectStub | undefined,
): MergedCoreObject | undefined {
  if (first !== undefined) return mergedCoreObject(id, [first, ...others])
  return stub && deletedCoreObject(stub)
}

/** Returns the live contributors by core object, those of the oldest connector first. */
async function liveContributors(
  tenantId: string,
  coreObjectIds: readonly string[],
  rankOf: RankOf,
  objects: MergeDependencies['objects'],
): Promise<Map<string, ConnectorObject[]>> {
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const live = found.map(({ value }) => value).filter(({ deletedAtMs }) => deletedAtMs === undefined)
  live.sort((one, other) => rankOf(one.connectorId) - rankOf(other.connectorId) || (one.id < other.id ? -1 : 1))
  return Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
}

type CoreObjectOf = (connectorObjectId: string) => string | undefined

async function coreObjectResolver(
  tenantId: string,
  contributors: readonly ConnectorObject[],
  objects: MergeDependencies['objects'],
): Promise<CoreObjectOf> {
  const ids = new Set(contributors.flatMap(({ references }) => Object.values(references).flat()))
  const targets = await objects.referenceTargets(tenantId, [...ids])
  const live = new Map(targets.filter(({ isLive }) => isLive).map(({ id, coreObjectId }) => [id, coreObjectId]))
  return (id) => live.get(id)
}

function contribution(
  { id, objectType, externalId, data, references }: ConnectorObject,
  coreObjectOf: CoreObjectOf,
): Contribution {
  const referred = (name: string): readonly string[] => [references[name] ?? []].flat()
  const resolve = (name: string) => referred(name).flatMap((target) => coreObjectOf(target) ?? [])
  return { connectorObjectId: id, objectType, externalId, data, resolve }
}
