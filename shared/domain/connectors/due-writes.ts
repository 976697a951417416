import { type CooperativeScheduler, flatMapTask } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { accountsReleased, accountsTaken, assignAccounts, type CoreObjectChange, claimants } from './account-claims.ts'
import type { DeriveId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { assignedContributions, formerContributors, movedContributors } from './contributions.ts'
import type { CoreObjectWriter, DueWrite } from './merge-writes.ts'
import {
  type Contribution,
  type CoreObjectStub,
  deletedCoreObject,
  exceedsCoreObject,
  isSameCoreObject,
  type MergedCoreObject,
  mergedCoreObject,
  withFormerState,
} from './merged-core-object.ts'
import { withIdentityChanges } from './record-identity-changes.ts'
import { type PlacedReference, withUnresolved } from './unresolved-references.ts'

export type DueWriteDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'ofIds' | 'ofCoreObjects' | 'referenceTargets'>
  readonly coreObjects: CoreObjectWriter
  readonly scheduler: CooperativeScheduler
  readonly log: Log
  readonly deriveId: DeriveId
  /** Receives the unresolved references of each contribution that is read. */
  onContribution?(connectorObjectId: string, unresolved: readonly PlacedReference[]): void
  nowMs(): number
}

/** What due writes are determined from, beside what is stored. */
export type MergeBasis = {
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
  readonly changedIds: ReadonlySet<string>
  readonly rules: ConnectorRules
  /** Core objects that a contributor has left, with those to which it has moved. */
  readonly mergedIntoById: ReadonlyMap<string, string>
  /** Identities whose accounts others may hold as well. */
  readonly contested: ReadonlySet<string>
}

/**
 * Returns the writes that bring the core objects up to date. Versions are read before the contributions: a call that
 * changes a contribution in the meantime merges later, and one of the two calls conflicts and merges again. For the
 * same reason the contributions must not be read from a replica that is older than the versions.
 */
export async function dueWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  { stubs, mergedIntoById, changedIds, contested, rules }: MergeBasis,
  { objects, coreObjects, scheduler, log, deriveId, onContribution, nowMs }: DueWriteDependencies,
): Promise<DueWrite[]> {
  const stored = await coreObjects.mergedOfIds(tenantId, coreObjectIds)
  const { live, deleted, restorableUntilS } = await assignedContributions(tenantId, coreObjectIds, rules, objects)
  for (const { object, unresolved } of onContribution === undefined ? [] : [...live.values()].flat()) {
    onContribution?.(object.id, unresolved)
  }
  const storedById = new Map(stored.map((object) => [object.value.id, object]))
  const before = stored.map(({ value }) => value)
  const former = await formerContributors(tenantId, before, live, objects)
  const moved = movedContributors(
    before.filter(({ id, deleted }) => !deleted && !live.has(id)),
    former,
    rules,
  )
  const merging = flatMapTask(coreObjectIds, (id): CoreObjectChange[] => {
    const before = storedById.get(id)
    const all = live.get(id) ?? []
    const contributions = all.map(({ contribution }) => contribution)
    // Only who leaves it now takes along what belongs to it.
    const hasEnded = !changedIds.has(id) && endedWithoutMove(before?.value, deleted.get(id))
    const mergedInto = (hasEnded ? undefined : mergedIntoById.get(id)) ?? moved.get(id) ?? before?.value.mergedInto
    const merged = (merging: readonly Contribution[]) =>
      mergedOrDeleted(id, merging, before?.value ?? stubs.get(id), mergedInto)
    const whole = merged(contributions)
    const carriers = all.flatMap(({ object, contribution }) =>
      rules.supplements(object.connectorId) ? [] : [contribution],
    )
    const isReduced =
      whole !== undefined && carriers.length < contributions.length && exceedsCoreObject(whole.attributes)
    const after = isReduced ? merged(carriers) : whole
    if (after !== undefined && contributions.length > 1 && exceedsCoreObject(after.attributes)) {
      // Concurrent writes of several connectors do not see each other. The object stays as it is stored.
      log.error('core-objects.too-large', undefined, { tenantId, coreObjectId: id })
      return []
    }
    if (after === undefined) return []
    const unresolved = all.flatMap((contribution) => contribution.unresolved)
    return [{ before: before?.value, after: withUnresolved(after, before?.value, unresolved, deriveId) }]
  })
  const changes = await scheduler.run(merging)
  const claims = await coreObjects.claimsTo(tenantId, accountsTaken(changes, contested))
  const mergedAtMs = nowMs()
  const comparing = flatMapTask(assignAccounts(changes, claims, mergedAtMs), (object): DueWrite[] => {
    const stored = storedById.get(object.id)
    const before = stored?.value
    if (before !== undefined && !changedIds.has(object.id) && isSameCoreObject(before, object)) return []
    const contributors = live.get(object.id) ?? []
    const connectorOf = (id: string) =>
      (contributors.find((contributor) => contributor.object.id === id)?.object ?? former.get(id))?.connectorId
    const known = { connectorOf, live: contributors.map(({ contribution }) => contribution) }
    const changed = withIdentityChanges(object, before, known, toTimestamp(mergedAtMs))
    const keptS = (restorableUntilS.get(object.id) ?? 0) - Math.floor(mergedAtMs / 1000)
    return [{ object: withFormerState(changed, before, mergedAtMs), version: stored?.version, before, keptS }]
  })
  return scheduler.run(comparing)
}

/**
 * Whether a core object was merged away before, or the identities that carried it last were deleted. An identity that
 * carried it once, and is another person now, does not take its memberships along.
 */
function endedWithoutMove(core: MergedCoreObject | undefined, deletedIds: ReadonlySet<string> = new Set()): boolean {
  if (core === undefined) return false
  if (core.deleted) return core.mergedInto !== undefined || deletedIds.size > 0
  return core.contributors.some((id) => deletedIds.has(id))
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

/**
 * Returns the due writes together with those of identities that take over an account that one of them releases. They are
 * written first: an interruption in between leaves two holders, which the repeated write resolves, and not an account
 * without a holder, which it would not notice.
 */
export async function dueWritesWithClaimants(
  tenantId: string,
  coreObjectIds: readonly string[],
  basis: MergeBasis,
  deps: DueWriteDependencies,
): Promise<{ readonly due: readonly DueWrite[]; readonly otherClaimants: readonly string[] }> {
  const due = await dueWrites(tenantId, coreObjectIds, basis, deps)
  const released = accountsReleased(due.map(changeOf))
  if (released.length === 0) return { due, otherClaimants: [] }
  const claims = await deps.coreObjects.claimsTo(tenantId, released)
  const merging = new Set(coreObjectIds)
  const otherClaimants = claimants(claims).filter((id) => !merging.has(id))
  if (otherClaimants.length === 0) return { due, otherClaimants }
  return { due: await dueWrites(tenantId, [...coreObjectIds, ...otherClaimants], basis, deps), otherClaimants }
}

export const changeOf = ({ before, object }: DueWrite): CoreObjectChange => ({ before, after: object })
