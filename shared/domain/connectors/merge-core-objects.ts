import { chunk } from '../../kernel/chunk.ts'
import { type CooperativeScheduler, flatMapTask } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type AccountClaimReader,
  accountsMoved,
  accountsTaken,
  assignAccounts,
  type CoreObjectChange,
  contestants,
} from './account-claims.ts'
import type { ConnectorObject, ConnectorObjectStore } from './connector-object.ts'
import type { ConnectorRules } from './identity-resolver.ts'
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

/** A write, and the object that it replaces; undefined for a new one. */
type DueWrite = CoreObjectWrite & { readonly before: MergedCoreObject | undefined }

/** The core objects of each tenant, as the connectors' writes see them. */
export interface CoreObjectWriter extends AccountClaimReader {
  /** Later reads include all earlier writes of all instances. Without this call, they can be older. */
  catchUp(tenantId: string): Promise<void>
  /** Returns the ids of the next `size` live objects, in ascending order. */
  liveIds(tenantId: string, after: string | undefined, size: number): Promise<string[]>
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
  readonly log: Log
  readonly metrics: Metrics
  readonly scheduler: CooperativeScheduler
  nowMs(): number
}

type CoreObjectMerge = {
  /**
   * The core objects to merge, by id. One with a stub but without contributions is written as deleted even if it does not
   * exist, because a concurrent call may be about to create it from contributions that no longer exist.
   */
  readonly stubs: ReadonlyMap<string, CoreObjectStub | undefined>
  /**
   * Core objects whose contributions the caller has changed, directly or through a reference. They are written even if they
   * are up to date: a concurrent call may be about to write what it read before the change, and the new version makes it
   * merge again.
   */
  readonly fed: ReadonlySet<string>
  /** Days for which deleted core objects are kept. */
  readonly softDeletionDays: number
  readonly rules: ConnectorRules
}

/** Core objects merged together. Bounds the memory used when thousands refer to one object. */
const BATCH_COUNT = 1000
const ATTEMPTS_AT_MOST = 12

/**
 * Merges the live contributions of each core object and writes the objects that change. Objects with a stub are written
 * last: when they are up to date, so are the objects that refer to them, even after an interruption.
 * @returns The number of objects written.
 */
export async function mergeCoreObjects(
  tenantId: string,
  { stubs, fed, softDeletionDays, rules }: CoreObjectMerge,
  deps: MergeDependencies,
): Promise<number> {
  let writtenCount = 0
  const unwritten = new Set(fed)
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    let pending = batch
    let contested: ReadonlySet<string> = new Set()
    for (let attempt = 0; pending.length > 0; attempt += 1) {
      if (attempt === ATTEMPTS_AT_MOST) throw new Error(`${pending.length} core objects kept changing during the merge`)
      const due = await dueWrites(tenantId, pending, { stubs, fed: unwritten, contested, rules }, deps)
      const [referring, own] = [false, true].map((hasStub) =>
        due.filter(({ object: { id } }) => (stubs.get(id) !== undefined) === hasStub),
      ) as [DueWrite[], DueWrite[]]
      const referringConflicts = new Set(await deps.coreObjects.write(tenantId, referring, softDeletionDays))
      const ownConflicts =
        referringConflicts.size > 0 ? idsOf(own) : await deps.coreObjects.write(tenantId, own, softDeletionDays)
      const conflicts = referringConflicts.union(ownConflicts)
      const written = due.filter(({ object }) => !conflicts.has(object.id)).map(changeOf)
      writtenCount += written.length
      for (const { after } of written) unwritten.delete(after.id)
      logAccountConflicts(tenantId, written, deps)
      contested = await contestedBy(tenantId, written, deps)
      pending = [...new Set([...pending.filter((id) => conflicts.has(id)), ...contested])]
    }
  }
  return writtenCount
}

/** Returns the ids of core objects that differ from the merge of their live contributions. */
export async function staleCoreObjects(
  tenantId: string,
  ids: readonly string[],
  rules: ConnectorRules,
  deps: MergeDependencies,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>()
  for (const batch of chunk(ids, BATCH_COUNT)) {
    const merge = { stubs: new Map(), fed: new Set<string>(), contested: new Set<string>(), rules }
    for (const id of idsOf(await dueWrites(tenantId, batch, merge, deps))) stale.add(id)
  }
  return stale
}

const changeOf = ({ before, object }: DueWrite): CoreObjectChange => ({ before, after: object })

/** The identities that must be merged again because written ones have taken an account, or let one go. */
async function contestedBy(
  tenantId: string,
  written: readonly CoreObjectChange[],
  { coreObjects }: MergeDependencies,
): Promise<ReadonlySet<string>> {
  const accounts = accountsMoved(written)
  if (accounts.length === 0) return new Set()
  // Two concurrent writes can take an account without seeing each other. The later one sees both here.
  await coreObjects.catchUp(tenantId)
  return new Set(contestants(await coreObjects.claimsTo(tenantId, accounts)))
}

function logAccountConflicts(
  tenantId: string,
  written: readonly CoreObjectChange[],
  { log, metrics }: MergeDependencies,
): void {
  for (const { before, after } of written) {
    const directoryObjectId = after.claimedAccount
    if (directoryObjectId === undefined || directoryObjectId === before?.claimedAccount) continue
    log.warn('core-objects.account-conflict', { tenantId, directoryObjectId, claimantId: after.id })
    metrics.record('account.conflicts', 1, {})
  }
}

const idsOf = (writes: readonly CoreObjectWrite[]): ReadonlySet<string> =>
  new Set(writes.map(({ object }) => object.id))

/**
 * Returns the writes that bring the core objects up to date. Versions are read before the contributions: a call that
 * changes a contribution in the meantime merges later, and one of the two calls conflicts and merges again. For the same
 * reason the contributions must not be read from a replica that is older than the versions.
 * @param merge.contested Identities whose accounts others may hold as well.
 */
async function dueWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  {
    stubs,
    fed,
    contested,
    rules,
  }: Pick<CoreObjectMerge, 'stubs' | 'fed' | 'rules'> & { readonly contested: ReadonlySet<string> },
  { objects, coreObjects, scheduler, nowMs }: MergeDependencies,
): Promise<DueWrite[]> {
  const stored = await coreObjects.mergedOfIds(tenantId, coreObjectIds)
  await objects.catchUp(tenantId)
  const contributors = await liveContributors(tenantId, coreObjectIds, rules, objects)
  const coreObjectOf = await coreObjectResolver(tenantId, [...contributors.values()].flat(), objects)
  const storedById = new Map(stored.map((each) => [each.value.id, each]))
  const merging = flatMapTask(coreObjectIds, (id): CoreObjectChange[] => {
    const before = storedById.get(id)
    const contributions = (contributors.get(id) ?? []).map((each) => contribution(each, rules, coreObjectOf))
    const after = mergedOrDeleted(id, contributions, before?.value ?? stubs.get(id))
    return after === undefined ? [] : [{ before: before?.value, after }]
  })
  const changes = await scheduler.run(merging)
  const claims = await coreObjects.claimsTo(tenantId, accountsTaken(changes, contested))
  const comparing = flatMapTask(assignAccounts(changes, claims, nowMs()), (object): DueWrite[] => {
    const stored = storedById.get(object.id)
    const before = stored?.value
    if (before !== undefined && !fed.has(object.id) && isSameCoreObject(before, object)) return []
    return [{ object: withAccountChange(object, before, nowMs()), version: stored?.version, before }]
  })
  return scheduler.run(comparing)
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
  rules: ConnectorRules,
  objects: MergeDependencies['objects'],
): Promise<Map<string, ConnectorObject[]>> {
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const live = found.map(({ value }) => value).filter(({ deletedAtMs }) => deletedAtMs === undefined)
  live.sort(
    (one, other) => rules.rankOf(one.connectorId) - rules.rankOf(other.connectorId) || (one.id < other.id ? -1 : 1),
  )
  return Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
}

/** A live contributor of a core object, with what it contributes. */
type LiveContribution = { readonly object: ConnectorObject; readonly contribution: Contribution }

/** Returns the live contributions to a core object, those of the oldest connector first. */
export async function liveContributions(
  tenantId: string,
  coreObjectId: string,
  rules: ConnectorRules,
  objects: MergeDependencies['objects'],
): Promise<LiveContribution[]> {
  const contributors = (await liveContributors(tenantId, [coreObjectId], rules, objects)).get(coreObjectId) ?? []
  const coreObjectOf = await coreObjectResolver(tenantId, contributors, objects)
  return contributors.map((object) => ({ object, contribution: contribution(object, rules, coreObjectOf) }))
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
  { id, connectorId, objectType, externalId, data: given, references }: ConnectorObject,
  { bindsAccounts }: ConnectorRules,
  coreObjectOf: CoreObjectOf,
): Contribution {
  const { directoryObjectId: _ignored, ...unbound } = given
  const data = objectType === 'identity' && !bindsAccounts(connectorId) ? unbound : given
  const referred = (name: string): readonly string[] => [references[name] ?? []].flat()
  const resolve = (name: string) => referred(name).flatMap((target) => coreObjectOf(target) ?? [])
  return { connectorObjectId: id, objectType, externalId, data, resolve }
}
