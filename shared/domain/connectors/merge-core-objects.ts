import { chunk } from '../../kernel/chunk.ts'
import { type CooperativeScheduler, flatMapTask } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type AccountClaimReader,
  accountsMoved,
  accountsReleased,
  accountsTaken,
  assignAccounts,
  type CoreObjectChange,
  claimants,
  contestants,
} from './account-claims.ts'
import type { ConnectorObjectStore } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { liveContributions, movedContributors } from './contributions.ts'
import { type DueWrite, writeMerged } from './merge-writes.ts'
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
   * @returns The ids of the objects that were not written because they, or objects of the same transaction, had
   * changed.
   */
  write(tenantId: string, writes: readonly CoreObjectWrite[], softDeletionDays: number): Promise<ReadonlySet<string>>
}

export type MergeDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'catchUp' | 'ofIds' | 'ofCoreObjects' | 'referenceTargets'>
  readonly coreObjects: CoreObjectWriter
  readonly log: Log
  readonly metrics: Metrics
  readonly scheduler: CooperativeScheduler
  nowMs(): number
}

type CoreObjectMerge = {
  /**
   * The core objects to merge, by id. One with a stub but without contributions is written as deleted even if it does
   * not exist, because a concurrent call may be about to create it from contributions that no longer exist.
   */
  readonly stubs: ReadonlyMap<string, CoreObjectStub | undefined>
  /**
   * Core objects whose contributions the caller has changed, directly or through a reference. They are written even if
   * they are up to date: a concurrent call may be about to write what it read before the change, and the new version
   * makes it merge again.
   */
  readonly fed: ReadonlySet<string>
  /**
   * Whether identities also let go of accounts that another one holds. A write compares only the accounts that it
   * moves. Of two concurrent writes that give one account to two identities, the later one repairs this unless both are
   * interrupted.
   */
  readonly comparesAccounts?: boolean
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
  merge: CoreObjectMerge,
  deps: MergeDependencies,
): Promise<number> {
  const { stubs, fed, comparesAccounts = false, softDeletionDays, rules } = merge
  const successors = successorsIn(stubs)
  const write = (id: string, writes: readonly DueWrite[]) => deps.coreObjects.write(id, writes, softDeletionDays)
  let writtenCount = await mergeSurvivors(tenantId, merge, deps)
  const unwritten = new Set(fed)
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    let pending = batch
    let contested: ReadonlySet<string> = new Set(comparesAccounts ? batch : [])
    for (let attempt = 0; pending.length > 0; attempt += 1) {
      if (attempt === ATTEMPTS_AT_MOST) throw new Error(`${pending.length} core objects kept changing during the merge`)
      const basis = { stubs, successors, fed: unwritten, contested, rules }
      const { due, heirs } = await withHeirs(tenantId, pending, basis, deps)
      pending = [...pending, ...heirs]
      const conflicts = await writeMerged(tenantId, due, (id) => stubs.get(id) !== undefined, write)
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

/**
 * Writes the objects to which contributions of others have moved, before references move to them and the others are
 * deleted. An evaluation in between would otherwise find a person without these data, and remove the person's account
 * from groups. Both hold the account for that moment. Identities that take over an account that a survivor lets go come
 * first.
 * @returns The number of objects written.
 */
async function mergeSurvivors(
  tenantId: string,
  { stubs, softDeletionDays, rules }: CoreObjectMerge,
  deps: MergeDependencies,
): Promise<number> {
  const successors = successorsIn(stubs)
  let pending: ReadonlySet<string> = new Set(successors.values().filter((id) => stubs.has(id)))
  const involved = [...pending.union(successors)]
  const basis = { stubs, successors, fed: new Set<string>(), contested: new Set<string>(), rules }
  let writtenCount = 0
  for (let attempt = 0; pending.size > 0; attempt += 1) {
    if (attempt === ATTEMPTS_AT_MOST) throw new Error(`${pending.size} core objects kept changing during the merge`)
    const { due, heirs } = await withHeirs(tenantId, involved, basis, deps)
    const taking = due.filter(({ object }) => heirs.includes(object.id))
    const untaken = await deps.coreObjects.write(tenantId, taking, softDeletionDays)
    writtenCount += taking.length - untaken.size
    if (untaken.size > 0) continue
    const gaining = due.filter(({ object }) => pending.has(object.id))
    pending = await deps.coreObjects.write(tenantId, gaining, softDeletionDays)
    writtenCount += gaining.length - pending.size
  }
  return writtenCount
}

/**
 * Returns the ids of core objects that differ from the merge of their live contributions.
 * @param stubs Core objects by id.
 */
export async function staleCoreObjects(
  tenantId: string,
  stubs: ReadonlyMap<string, CoreObjectStub>,
  rules: ConnectorRules,
  deps: MergeDependencies,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>()
  const successors = successorsIn(stubs)
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    // An object that does not exist is not stale, so no stubs are given.
    const merge = { stubs: new Map(), successors, fed: new Set<string>(), contested: new Set<string>(), rules }
    for (const id of idsOf(await dueWrites(tenantId, batch, merge, deps))) stale.add(id)
  }
  return stale
}

const changeOf = ({ before, object }: DueWrite): CoreObjectChange => ({ before, after: object })

/**
 * Returns the due writes together with those of identities that take over an account that one of them lets go. They are
 * written first: an interruption in between leaves two holders, which the repeated write resolves, and not an account
 * without a holder, which it would not notice.
 */
async function withHeirs(
  tenantId: string,
  coreObjectIds: readonly string[],
  basis: MergeBasis,
  deps: MergeDependencies,
): Promise<{ readonly due: readonly DueWrite[]; readonly heirs: readonly string[] }> {
  const due = await dueWrites(tenantId, coreObjectIds, basis, deps)
  const released = accountsReleased(due.map(changeOf))
  if (released.length === 0) return { due, heirs: [] }
  const claims = await deps.coreObjects.claimsTo(tenantId, released)
  const merging = new Set(coreObjectIds)
  const heirs = claimants(claims).filter((id) => !merging.has(id))
  if (heirs.length === 0) return { due, heirs }
  return { due: await dueWrites(tenantId, [...coreObjectIds, ...heirs], basis, deps), heirs }
}

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

type MergeBasis = Pick<CoreObjectMerge, 'stubs' | 'fed' | 'rules'> & {
  /** Core objects that a contributor has left, with those to which it has moved. */
  readonly successors: ReadonlyMap<string, string>
  /** Identities whose accounts others may hold as well. */
  readonly contested: ReadonlySet<string>
}

/**
 * Returns the writes that bring the core objects up to date. Versions are read before the contributions: a call that
 * changes a contribution in the meantime merges later, and one of the two calls conflicts and merges again. For the
 * same reason the contributions must not be read from a replica that is older than the versions.
 */
async function dueWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  { stubs, successors, fed, contested, rules }: MergeBasis,
  { objects, coreObjects, scheduler, nowMs }: MergeDependencies,
): Promise<DueWrite[]> {
  const stored = await coreObjects.mergedOfIds(tenantId, coreObjectIds)
  await objects.catchUp(tenantId)
  const live = await liveContributions(tenantId, coreObjectIds, rules, objects)
  const storedById = new Map(stored.map((each) => [each.value.id, each]))
  const left = stored.map(({ value }) => value).filter(({ id, deleted }) => !deleted && !live.has(id))
  const moved = await movedContributors(tenantId, left, objects)
  const merging = flatMapTask(coreObjectIds, (id): CoreObjectChange[] => {
    const before = storedById.get(id)
    const contributions = (live.get(id) ?? []).map(({ contribution }) => contribution)
    const mergedInto = successors.get(id) ?? moved.get(id) ?? before?.value.mergedInto
    const after = mergedOrDeleted(id, contributions, before?.value ?? stubs.get(id), mergedInto)
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
  mergedInto: string | undefined,
): MergedCoreObject | undefined {
  if (first !== undefined) return mergedCoreObject(id, [first, ...others])
  return stub && deletedCoreObject(stub, mergedInto)
}

function successorsIn(stubs: ReadonlyMap<string, CoreObjectStub | undefined>): Map<string, string> {
  return new Map([...stubs].flatMap(([id, stub]) => (stub?.successor === undefined ? [] : [[id, stub.successor]])))
}
