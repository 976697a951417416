import { chunk } from '../../kernel/chunk.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { accountsMoved, type CoreObjectChange, contestants } from './account-claims.ts'
import type { ConnectorRules } from './connector-rules.ts'
import {
  changeOf,
  type DueWriteDependencies,
  dueWrites,
  dueWritesWithClaimants,
  type MergeBasis,
} from './due-writes.ts'
import { type CoreObjectWrite, type DueWrite, writeMerged } from './merge-writes.ts'
import { type CoreObjectStub, onlyNormalises } from './merged-core-object.ts'
import type { UnresolvedChanges } from './space-counts.ts'
import { unresolvedCounts } from './unresolved-references.ts'

export type MergeDependencies = DueWriteDependencies & {
  readonly log: Log
  readonly metrics: Metrics
  /** Collects changes of the counts of unresolved references. */
  readonly unresolvedChanges?: UnresolvedChanges
}

type CoreObjectMerge = Pick<MergeBasis, 'stubs' | 'changedIds' | 'rules'> & {
  /**
   * Whether identities also release accounts that another one holds. A write compares only the accounts that it
   * moves. Of two concurrent writes that give one account to two identities, the later one repairs this unless both are
   * interrupted.
   */
  readonly comparesAccounts?: boolean
  /** Days for which deleted core objects are kept at least. */
  readonly softDeletionDays: number
}

/** Core objects written. Those with normalised texts only differ in nothing that conditions see. */
type MergeCounts = { readonly writtenCount: number; readonly normalisedCount: number }

/** Core objects merged together. Bounds the memory used when thousands refer to one object. */
const BATCH_COUNT = 1000
const MAX_ATTEMPTS = 12

/**
 * Merges the live contributions of each core object and writes the objects that change. Objects with a stub are written
 * last: when they are up to date, so are the objects that refer to them, even after an interruption.
 * Writes of connector data call it for the objects that they affect, and audits for those that they compare.
 * @returns `writtenCount` includes `normalisedCount`.
 */
export async function mergeCoreObjects(
  tenantId: string,
  merge: CoreObjectMerge,
  deps: MergeDependencies,
): Promise<MergeCounts> {
  const { stubs, changedIds, comparesAccounts = false, softDeletionDays, rules } = merge
  const mergedIntoById = mergedIntoIn(stubs)
  const write = (id: string, writes: readonly DueWrite[]) => deps.coreObjects.write(id, writes, softDeletionDays)
  let writtenCount = await mergeSurvivors(tenantId, merge, deps)
  let normalisedCount = 0
  const unwritten = new Set(changedIds)
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    let pending = batch
    let contested: ReadonlySet<string> = new Set(comparesAccounts ? batch : [])
    for (let attempt = 0; pending.length > 0; attempt += 1) {
      if (attempt === MAX_ATTEMPTS) throw new Error(`${pending.length} core objects kept changing during the merge`)
      const basis = { stubs, mergedIntoById, changedIds: unwritten, contested, rules }
      const { due, otherClaimants } = await dueWritesWithClaimants(tenantId, pending, basis, deps)
      pending = [...pending, ...otherClaimants]
      const conflicts = await writeMerged(tenantId, due, (id) => stubs.get(id) !== undefined, write)
      const written = due.filter(({ object }) => !conflicts.has(object.id)).map(changeOf)
      writtenCount += written.length
      normalisedCount += written.filter(({ before, after }) => onlyNormalises(before, after)).length
      for (const { after } of written) unwritten.delete(after.id)
      countUnresolved(written, deps)
      logAccountConflicts(tenantId, written, deps)
      contested = await contestedBy(tenantId, written, deps)
      pending = [...new Set([...pending.filter((id) => conflicts.has(id)), ...contested])]
    }
  }
  return { writtenCount, normalisedCount }
}

/**
 * Writes the objects to which contributions of others have moved, before references move to them and the others are
 * deleted. An evaluation in between would otherwise find a person without these data, and remove the person's account
 * from groups. Both hold the account for that moment. Identities that take over an account that a survivor releases come
 * first.
 * @returns The number of objects written.
 */
async function mergeSurvivors(
  tenantId: string,
  { stubs, softDeletionDays, rules }: CoreObjectMerge,
  deps: MergeDependencies,
): Promise<number> {
  const mergedIntoById = mergedIntoIn(stubs)
  let pending: ReadonlySet<string> = new Set(mergedIntoById.values().filter((id) => stubs.has(id)))
  const involved = [...pending.union(mergedIntoById)]
  const basis = { stubs, mergedIntoById, changedIds: new Set<string>(), contested: new Set<string>(), rules }
  let writtenCount = 0
  for (let attempt = 0; pending.size > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS) throw new Error(`${pending.size} core objects kept changing during the merge`)
    const { due, otherClaimants } = await dueWritesWithClaimants(tenantId, involved, basis, deps)
    const taking = due.filter(({ object }) => otherClaimants.includes(object.id))
    const untaken = await deps.coreObjects.write(tenantId, taking, softDeletionDays)
    countUnresolved(taking.filter(({ object }) => !untaken.has(object.id)).map(changeOf), deps)
    writtenCount += taking.length - untaken.size
    if (untaken.size > 0) continue
    const gaining = due.filter(({ object }) => pending.has(object.id))
    pending = await deps.coreObjects.write(tenantId, gaining, softDeletionDays)
    countUnresolved(gaining.filter(({ object }) => !pending.has(object.id)).map(changeOf), deps)
    writtenCount += gaining.length - pending.size
  }
  return writtenCount
}

/**
 * Returns the ids of core objects that differ from the merge of their live contributions, without writing any. An
 * interrupted write may have left them so.
 * @param stubs Core objects by id.
 */
export async function staleCoreObjects(
  tenantId: string,
  stubs: ReadonlyMap<string, CoreObjectStub>,
  rules: ConnectorRules,
  deps: MergeDependencies,
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>()
  const mergedIntoById = mergedIntoIn(stubs)
  for (const batch of chunk([...stubs.keys()], BATCH_COUNT)) {
    // An object that does not exist is not stale, so no stubs are given.
    const merge = {
      stubs: new Map(),
      mergedIntoById,
      changedIds: new Set<string>(),
      contested: new Set<string>(),
      rules,
    }
    for (const id of idsOf(await dueWrites(tenantId, batch, merge, deps))) stale.add(id)
  }
  return stale
}

/** The identities that must be merged again because written ones have taken or released an account. */
async function contestedBy(
  tenantId: string,
  written: readonly CoreObjectChange[],
  { coreObjects }: Pick<MergeDependencies, 'coreObjects'>,
): Promise<ReadonlySet<string>> {
  const accounts = accountsMoved(written)
  if (accounts.length === 0) return new Set()
  // Two concurrent writes can take an account without seeing each other. The later one sees both here.
  return new Set(contestants(await coreObjects.claimsTo(tenantId, accounts)))
}

function countUnresolved(
  written: readonly CoreObjectChange[],
  { unresolvedChanges }: Pick<MergeDependencies, 'unresolvedChanges'>,
): void {
  for (const { before, after } of unresolvedChanges === undefined ? [] : written) {
    for (const [connectorId, count] of unresolvedCounts(before)) unresolvedChanges?.add(connectorId, -count)
    for (const [connectorId, count] of unresolvedCounts(after)) unresolvedChanges?.add(connectorId, count)
  }
}

function logAccountConflicts(
  tenantId: string,
  written: readonly CoreObjectChange[],
  { log, metrics }: Pick<MergeDependencies, 'log' | 'metrics'>,
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

function mergedIntoIn(stubs: ReadonlyMap<string, CoreObjectStub | undefined>): Map<string, string> {
  return new Map([...stubs].flatMap(([id, stub]) => (stub?.mergedInto === undefined ? [] : [[id, stub.mergedInto]])))
}
