import {
  type Contribution,
  type CoreObjectTrace,
  isSameCoreObject,
  type MergedCoreObject,
  mergedCoreObject,
  vanishedCoreObject,
  withAccountMove,
} from '../core/merged-core-object.ts'
import { slices } from '../slices.ts'
import type { Versioned } from '../versioned.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { RankOf } from './joining.ts'

/** A write of a core object, with the version it replaces; without one it must be new. */
export type CoreObjectWrite = { readonly object: MergedCoreObject; readonly version: string | undefined }

/** The core objects of each tenant, as what feeds them sees them. */
export interface CoreObjectWriter {
  /** Reads that begin after this see all that any instance had written before. Others may see less. */
  catchUp(tenantId: string): Promise<void>
  /** Those that exist, soft-deleted ones too. */
  mergedOfIds(tenantId: string, ids: readonly string[]): Promise<Versioned<MergedCoreObject>[]>
  /**
   * Writes all, expecting the quoted versions.
   * @param softDeletionDays How long deleted ones among them stay.
   * @returns The ids of those that were not written because someone else had changed them or their neighbours.
   */
  write(tenantId: string, writes: readonly CoreObjectWrite[], softDeletionDays: number): Promise<ReadonlySet<string>>
}

type SettleDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'catchUp' | 'ofCoreObjects' | 'standings'>
  readonly coreObjects: CoreObjectWriter
  nowMs(): number
}

/** Core objects looked at together: bounds what is held in memory when thousands refer to one object. */
const SLICE_COUNT = 1000
const ROUNDS_COUNT = 12

/**
 * Makes each core object what its live contributions make of it, and writes those that were something else. Those with
 * a trace are written last: where they are as they should be, so is what refers to them, whoever died in between.
 * @param traces The core objects by id, those without a trace first, with what is known of the others. One of these that
 *   nobody contributes to is written as deleted even if it was never there: someone may be about to create it from
 *   contributions that have gone.
 * @returns Whether anything was written.
 */
export async function settleCoreObjects(
  tenantId: string,
  traces: ReadonlyMap<string, CoreObjectTrace | undefined>,
  softDeletionDays: number,
  rankOf: RankOf,
  deps: SettleDependencies,
): Promise<boolean> {
  let hasChanged = false
  for (const some of slices([...traces.keys()], SLICE_COUNT)) {
    let pending = some
    for (let round = 0; pending.length > 0; round += 1) {
      if (round === ROUNDS_COUNT) throw new Error(`${pending.length} core objects are changed faster than merged`)
      const due = await dueWrites(tenantId, pending, traces, rankOf, deps)
      const [referring, own] = [false, true].map((isTraced) =>
        due.filter(({ object: { id } }) => (traces.get(id) !== undefined) === isTraced),
      ) as [CoreObjectWrite[], CoreObjectWrite[]]
      const late = new Set(await deps.coreObjects.write(tenantId, referring, softDeletionDays))
      if (referring.length > late.size) hasChanged = true
      const left = late.size > 0 ? idsOf(own) : await deps.coreObjects.write(tenantId, own, softDeletionDays)
      if (own.length > left.size) hasChanged = true
      pending = pending.filter((id) => late.has(id) || left.has(id))
    }
  }
  return hasChanged
}

/** Those that are not what their live contributions make of them. One that is not there and has none is as it should be. */
export async function staleCoreObjects(
  tenantId: string,
  ids: readonly string[],
  rankOf: RankOf,
  deps: SettleDependencies,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>()
  for (const some of slices(ids, SLICE_COUNT)) {
    for (const id of idsOf(await dueWrites(tenantId, some, new Map(), rankOf, deps))) stale.add(id)
  }
  return stale
}

const idsOf = (writes: readonly CoreObjectWrite[]): ReadonlySet<string> =>
  new Set(writes.map(({ object }) => object.id))

/**
 * Versions are read before the contributions: whoever changes a contribution in the meantime merges after this, and
 * one of the two finds the version gone and merges again. The contributions must be no older than the versions: other
 * instances may have written them.
 */
async function dueWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  traces: ReadonlyMap<string, CoreObjectTrace | undefined>,
  rankOf: RankOf,
  { objects, coreObjects, nowMs }: SettleDependencies,
): Promise<CoreObjectWrite[]> {
  const stored = await coreObjects.mergedOfIds(tenantId, coreObjectIds)
  await objects.catchUp(tenantId)
  const contributors = await liveContributors(tenantId, coreObjectIds, rankOf, objects)
  const coreObjectOf = await resolver(tenantId, [...contributors.values()].flat(), objects)
  const storedById = new Map(stored.map((each) => [each.value.id, each]))
  return coreObjectIds.flatMap((id) => {
    const before = storedById.get(id)
    const contributions = (contributors.get(id) ?? []).map((each) => contribution(each, coreObjectOf))
    const object = mergedOrVanished(id, contributions, before?.value ?? traces.get(id))
    if (object === undefined || (before !== undefined && isSameCoreObject(before.value, object))) return []
    return [{ object: withAccountMove(object, before?.value, nowMs()), version: before?.version }]
  })
}

function mergedOrVanished(
  id: string,
  [first, ...others]: readonly Contribution[],
  trace: CoreObjectTrace | undefined,
): MergedCoreObject | undefined {
  if (first !== undefined) return mergedCoreObject(id, [first, ...others])
  return trace && vanishedCoreObject(trace)
}

/** By core object, the oldest connector's first. */
async function liveContributors(
  tenantId: string,
  coreObjectIds: readonly string[],
  rankOf: RankOf,
  objects: SettleDependencies['objects'],
): Promise<Map<string, ConnectorObject[]>> {
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const live = found.map(({ value }) => value).filter(({ deletedAtMs }) => deletedAtMs === undefined)
  live.sort((one, other) => rankOf(one.connectorId) - rankOf(other.connectorId) || (one.id < other.id ? -1 : 1))
  return Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
}

type CoreObjectOf = (connectorObjectId: string) => string | undefined

async function resolver(
  tenantId: string,
  contributors: readonly ConnectorObject[],
  objects: SettleDependencies['objects'],
): Promise<CoreObjectOf> {
  const ids = new Set(contributors.flatMap(({ references }) => Object.values(references).flat()))
  const standings = await objects.standings(tenantId, [...ids])
  const live = new Map(standings.filter(({ isLive }) => isLive).map(({ id, coreObjectId }) => [id, coreObjectId]))
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
