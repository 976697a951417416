import type { CooperativeScheduler, Task } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { enqueueEvaluation } from '../../kernel/notifications.ts'
import { Refusal, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import { connectedIdentities } from './connected-identities.ts'
import type { Connector, ConnectorStore } from './connector.ts'
import {
  type ConnectorObject,
  type ConnectorObjectStore,
  connectorObjectId,
  type DeriveId,
  ownCoreObjectId,
} from './connector-object.ts'
import { type ConnectorRules, rulesOf } from './connector-rules.ts'
import type { CustomAttributeRegister } from './custom-attribute-names.ts'
import { decideWrite, type ItemOutcome, type WriteContext, type WriteDecision } from './decide-writes.ts'
import { followRenames } from './follow-renames.ts'
import { IdentityResolver } from './identity-resolver.ts'
import { joinKeyValues } from './join-keys.ts'
import { mergeAffected } from './merge-affected.ts'
import type { CoreObjectWriter } from './merge-writes.ts'
import type { ObjectWrite } from './object-input.ts'
import { parentOfLive, readAncestors } from './org-tree.ts'
import { applyCounts, CountChanges, type CountDependencies, forgetCounts } from './space-counts.ts'
import type { UnchangedDeliveries } from './unchanged-deliveries.ts'
import type { PlacedReference, UnresolvedReferenceReader } from './unresolved-references.ts'
import { limitRefusals } from './write-limits.ts'

export type WriteDependencies = CountDependencies & {
  readonly connectors: ConnectorStore
  readonly objects: ConnectorObjectStore
  readonly coreObjects: CoreObjectWriter & UnresolvedReferenceReader
  readonly customAttributes: CustomAttributeRegister
  readonly connectorObjectQuota: TenantQuota
  readonly unchangedDeliveries: UnchangedDeliveries
  readonly messageQueue: MessageQueue
  /** Decides on large batches without blocking other requests. */
  readonly scheduler: CooperativeScheduler
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds between a write and the evaluation of collections, which combines the changes of several writes. */
  readonly evaluationDelayMs: number
  readonly deriveId: DeriveId
  newId(): string
  nowMs(): number
}

/**
 * Consecutive attempts in which concurrent writes of the same objects prevent every write. The limit leaves room for
 * changes of the org tree: all of a connector's conflict with each other, and a large batch takes several transactions.
 */
const ATTEMPTS_WITHOUT_PROGRESS_COUNT = 32

/**
 * Writes to a connector's space and merges the affected core objects: those of the written objects, and those that
 * refer to objects that were created, deleted or assigned to another core object. Connector objects are written first.
 * If the call is interrupted, the next write of the same objects repairs their core objects.
 * @param known The connectors of the tenant, if the caller has just read them.
 * @returns The outcome of each write, in order.
 */
export async function writeObjects(
  tenantId: string,
  connector: Connector,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
  known?: readonly Connector[],
): Promise<ItemOutcome[]> {
  try {
    const connectors = known ?? (await deps.connectors.list(tenantId))
    return await writeAndMerge(writeScope(tenantId, connector, connectors), writes, deps)
  } catch (fault) {
    // Some objects may be written. When the caller repeats the request, they are unchanged and enqueue nothing.
    if (!(fault instanceof Refusal)) {
      await enqueueDelayedEvaluation(tenantId, deps)
      await forgetCounts(tenantId, connector.id, deps)
    }
    throw fault
  }
}

async function writeAndMerge(
  before: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<ItemOutcome[]> {
  const { tenantId, connector } = before
  const written = await writeWithRetries(before, writes, deps)
  // Two connectors can write the same person concurrently without seeing each other. Reading again after the write
  // ensures that the later one joins them. The other connector may have been created after this call began.
  const again = rejoins(writes, written, before.rules)
  const isComplete = before.hasOthers || again.length === 0
  const scope = isComplete ? before : writeScope(tenantId, connector, await deps.connectors.list(tenantId))
  const rejoined = scope.hasOthers ? await writeWithRetries(scope, again, deps) : []
  const decisions = [...written, ...rejoined].filter((decision) => decision !== undefined)
  const hasWritten = decisions.some((decision) => decision.writes.length > 0)
  const countChanges = countsOf(connector.id, writes, written)
  const unresolved = new Map<string, readonly PlacedReference[]>()
  const onContribution = (id: string, found: readonly PlacedReference[]) => void unresolved.set(id, found)
  const hasMerged = await mergeAffected(scope, decisions, { ...deps, countChanges, onContribution })
  // Afterwards, so that what refers to a renamed object is merged only if that object has moved.
  await followRenames(tenantId, connector, decisions, deps)
  if (hasMerged || hasWritten) await enqueueDelayedEvaluation(tenantId, deps)
  await applyCounts(tenantId, countChanges, deps)
  // Last, because a failure to record the time must not keep repaired core objects from being evaluated.
  if (hasWritten) deps.unchangedDeliveries.noteChanges(tenantId, connector.id)
  else if (decisions.some(isValid)) await deps.unchangedDeliveries.record(tenantId, connector.id)
  return written.map((decision) => withWarnings(decision?.outcome ?? refused(refusalEntry('StaleVersion')), unresolved))
}

/** The live objects that the batch adds and removes. */
function countsOf(
  connectorId: string,
  writes: readonly ObjectWrite[],
  written: readonly (WriteDecision | undefined)[],
): CountChanges {
  const changes = new CountChanges()
  for (const [index, { objectType }] of writes.entries()) {
    const outcome = written[index]?.outcome.outcome
    if (outcome === 'created') changes.add(connectorId, objectType, 1)
    if (outcome === 'deleted') changes.add(connectorId, objectType, -1)
  }
  return changes
}

/** Warns of references that lead nowhere, which what the batch brings no longer does. */
function withWarnings(outcome: ItemOutcome, unresolved: ReadonlyMap<string, readonly PlacedReference[]>): ItemOutcome {
  if (outcome.outcome === 'refused' || outcome.outcome === 'deleted') return outcome
  const found = unresolved.get(outcome.id) ?? []
  if (found.length === 0) return outcome
  return { ...outcome, warnings: found.map(({ pointer }) => ({ code: 'ReferenceUnresolved', target: pointer })) }
}

const isValid = ({ outcome }: WriteDecision): boolean => outcome.outcome !== 'refused'

export type WriteScope = {
  readonly tenantId: string
  readonly connector: Connector
  readonly rules: ConnectorRules
  /** Whether the tenant has another connector. */
  readonly hasOthers: boolean
}

/** Returns what the writes of one connector have in common. */
export function writeScope(tenantId: string, connector: Connector, connectors: readonly Connector[]): WriteScope {
  return { tenantId, connector, rules: rulesOf(connectors), hasOthers: connectors.length > 1 }
}

/** Returns the decision that was written for each item, in order; undefined for an item that always conflicted. */
export async function writeWithRetries(
  scope: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<(WriteDecision | undefined)[]> {
  const written = new Array<WriteDecision | undefined>(writes.length).fill(undefined)
  let pending = [...writes.keys()]
  for (let attempts = 0; attempts < ATTEMPTS_WITHOUT_PROGRESS_COUNT && pending.length > 0; ) {
    const current = pending.map((index) => writes[index] as ObjectWrite)
    const { decisions, conflicts } = await attemptWrites(scope, current, deps)
    const conflicted: number[] = []
    for (const [position, decision] of decisions.entries()) {
      const index = pending[position] as number
      if (decision.writes.some(({ object }) => conflicts.has(object.id))) conflicted.push(index)
      else written[index] = decision
    }
    // The first write to a space opens it. A closed space belongs to a connector whose deletion is certain.
    if (conflicted.length > 0 && !(await deps.objects.open(scope.tenantId, scope.connector.id))) {
      for (const index of conflicted) written[index] = withoutWrites(refused(refusalEntry('ConnectorNotFound')))
      return written
    }
    attempts = conflicted.length < pending.length ? 0 : attempts + 1
    pending = conflicted
  }
  return written
}

/** Decides on all items and writes the decisions. @returns The decisions, and the ids of objects with a conflict. */
async function attemptWrites(
  scope: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<{ decisions: WriteDecision[]; conflicts: ReadonlySet<string> }> {
  const { tenantId, connector } = scope
  const space = { tenantId, connectorId: connector.id, softDeletionDays: connector.softDeletionDays }
  const hasUnits = writes.some(({ objectType }) => objectType === 'orgUnit')
  // Read before the tree, so that a concurrent change of the tree invalidates this version.
  const treeVersion = hasUnits ? await deps.objects.treeVersion(tenantId, connector.id) : undefined
  const context = await readContext(scope, writes, deps)
  const { refusals, reservation } = await limitRefusals(tenantId, writes, context, deps)
  const decisions = await deps.scheduler.run(decideAll(writes, context, refusals))
  const due = new Map(decisions.flatMap((decision) => decision.writes.map((write) => [write.object.id, write])))
  const { treeWrites = [], otherWrites = [] } = Object.groupBy(due.values(), ({ object }) => {
    const before = context.stored.get(object.id)?.value
    return parentOfLive(object) === parentOfLive(before) ? 'otherWrites' : 'treeWrites'
  })
  const conflicts = await Promise.all([
    deps.objects.write(space, otherWrites),
    deps.objects.writeTree(space, treeWrites, treeVersion),
  ]).finally(reservation.settle)
  return { decisions, conflicts: conflicts[0].union(conflicts[1]) }
}

const refused = (...errors: RefusalEntry[]): ItemOutcome => ({ outcome: 'refused', errors })

const withoutWrites = (outcome: ItemOutcome): WriteDecision => ({
  outcome,
  writes: [],
  coreObjects: [],
  retargeted: [],
  possiblyStale: [],
})

/** Returns a `rejoin` for each written identity that has a join key. */
function rejoins(
  writes: readonly ObjectWrite[],
  written: readonly (WriteDecision | undefined)[],
  rules: ConnectorRules,
): ObjectWrite[] {
  return writes.flatMap((write, index) => {
    if (write.operation === 'delete' || write.objectType !== 'identity') return []
    const isJoinable = joinKeyValues(write.data, rules).length > 0
    const isWritten = (written[index]?.writes.length ?? 0) > 0
    const { previousExternalId: _former, ...names } = write
    return isJoinable && isWritten ? [{ ...names, operation: 'rejoin' as const }] : []
  })
}

/** Decides in order. Each decision sees the org tree as changed by the decisions before it. */
function* decideAll(
  writes: readonly ObjectWrite[],
  context: MutableContext,
  refusals: ReadonlyMap<ObjectWrite, RefusalEntry>,
): Task<WriteDecision[]> {
  const decisions: WriteDecision[] = []
  for (const write of writes) {
    yield
    const refusal = refusals.get(write)
    const decision = refusal === undefined ? decideWrite(write, context) : withoutWrites(refused(refusal))
    for (const { object } of decision.writes) {
      if (object.objectType !== 'orgUnit') continue
      context.parents.set(object.id, parentOfLive(object))
    }
    decisions.push(decision)
  }
  return decisions
}

type MutableContext = WriteContext & { readonly parents: Map<string, string | undefined> }

async function readContext(
  { tenantId, connector: { id: connectorId }, rules, hasOthers }: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<MutableContext> {
  const ids = writes.map((write) => connectorObjectId({ ...write, connectorId }, deps.deriveId))
  const formerIds = writes.flatMap((write) => formerIdOf(write, connectorId, deps.deriveId) ?? [])
  // An unchanged or missing object is not written, so no version exposes a stale read. What is read next is as current.
  const found = await deps.objects.ofIds(tenantId, [...ids, ...formerIds])
  const parents = await readAncestors(tenantId, connectorId, writes, deps)
  const stored = new Map(found.map((object) => [object.value.id, object]))
  // With a single connector, no identities can join. One that appears or goes can be a person under a new external id.
  const canJoin =
    hasOthers || writes.some((write, index) => changesKeys(write, stored.get(ids[index] ?? '')?.value, rules))
  const connected = canJoin ? await connectedIdentities(tenantId, ids, writes, found, rules, deps) : []
  const known = new Map([...connected, ...found].map((object) => [object.value.id, object]))
  const identities = [...known.values()].map(({ value }) => value).filter(({ objectType }) => objectType === 'identity')
  const ownCoreId = (id: string) => ownCoreObjectId(id, deps.deriveId)
  return {
    connectorId,
    rules,
    stored,
    identityResolver: canJoin
      ? new IdentityResolver(identities, { rules, newId: deps.newId, ownCoreObjectId: ownCoreId })
      : undefined,
    before: (id) => known.get(id),
    parents,
    parentOf: (id) => parents.get(id),
    derive: deps.deriveId,
    newId: deps.newId,
    nowMs: deps.nowMs(),
  }
}

function formerIdOf(write: ObjectWrite, connectorId: string, derive: DeriveId): string | undefined {
  const externalId = write.operation === 'upsert' ? write.previousExternalId : undefined
  return externalId === undefined ? undefined : connectorObjectId({ ...write, externalId, connectorId }, derive)
}

/** Whether an identity appears, goes, or has other join keys than before. */
function changesKeys(write: ObjectWrite, stored: ConnectorObject | undefined, rules: ConnectorRules): boolean {
  if (write.objectType !== 'identity') return false
  const isLive = stored !== undefined && stored.deletedAtMs === undefined
  if (write.operation === 'delete' || !isLive) return isLive === (write.operation === 'delete')
  const [before, after] = [stored.data, write.data].map((data) => JSON.stringify(joinKeyValues(data, rules)))
  return before !== after
}

/** A failure is only logged: the objects are written, and the sweep enqueues the evaluation. */
export async function enqueueDelayedEvaluation(
  tenantId: string,
  { messageQueue, evaluationDelayMs, newId, log }: WriteDependencies,
): Promise<void> {
  try {
    await enqueueEvaluation(tenantId, newId(), { messageQueue }, evaluationDelayMs)
  } catch (error) {
    log.error('connector-data.enqueue-failed', error, { tenantId })
  }
}
