import { enqueueEvaluation } from '../../kernel/enqueue-messages.ts'
import { Refusal, refusalEntry } from '../../kernel/refusals.ts'
import type { Connector } from './connector.ts'
import { followRenames } from './follow-renames.ts'
import { mergeAffected } from './merge-affected.ts'
import type { ObjectWrite } from './object-input.ts'
import { rejoinMoved, rejoins } from './rejoin-identities.ts'
import { applyUnresolved, forgetCounts, UnresolvedChanges } from './space-counts.ts'
import type { PlacedReference } from './unresolved-references.ts'
import { type WriteScope, writeScope, writeWithRetries } from './write-attempts.ts'
import type { ItemOutcome, WriteDecision } from './write-decision.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/** The outcome of an item that always conflicted. */
const UNWRITTEN: ItemOutcome = { outcome: 'refused', errors: [refusalEntry('StaleVersion')] }

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
    const scope = writeScope(tenantId, connector, connectors, { isDelivery: true })
    return await writeAndMerge(scope, writes, connectors, deps)
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
  known: readonly Connector[],
  deps: WriteDependencies,
): Promise<ItemOutcome[]> {
  const { tenantId, connector } = before
  const written = await writeWithRetries(before, writes, deps)
  // Two connectors can write the same person concurrently without seeing each other. Reading again after the write
  // ensures that the later one joins them. The other connector may have been created after this call began.
  const again = rejoins(writes, written, before)
  const isComplete = before.hasOthers || again.length === 0
  const connectors = isComplete ? known : await deps.connectors.list(tenantId)
  const scope = isComplete ? before : writeScope(tenantId, connector, connectors, { isDelivery: true })
  const rejoined = scope.hasOthers ? await writeWithRetries(scope, again, deps) : []
  const moved = scope.hasOthers ? await rejoinMoved(scope, [...written, ...rejoined], connectors, deps) : []
  const decisions = [...written, ...rejoined, ...moved].filter((decision) => decision !== undefined)
  const hasWritten = decisions.some((decision) => decision.writes.length > 0)
  const unresolvedChanges = new UnresolvedChanges()
  const unresolved = new Map<string, readonly PlacedReference[]>()
  const onContribution = (id: string, found: readonly PlacedReference[]) => void unresolved.set(id, found)
  const hasMerged = await mergeAffected(scope, decisions, { ...deps, unresolvedChanges, onContribution })
  // Afterwards, so that what refers to a renamed object is merged only if that object has moved.
  await followRenames(tenantId, connector, decisions, deps)
  if (hasMerged || hasWritten) await enqueueDelayedEvaluation(tenantId, deps)
  await applyUnresolved(tenantId, unresolvedChanges, deps)
  // Last, because a failure to record the time must not keep repaired core objects from being evaluated.
  if (hasWritten) deps.unchangedDeliveries.noteChanges(tenantId, connector.id)
  else if (decisions.some(isValid)) await deps.unchangedDeliveries.record(tenantId, connector.id)
  return written.map((decision) => withWarnings(decision?.outcome ?? UNWRITTEN, unresolved))
}

/** Warns of references that lead nowhere, which what the batch brings no longer does. */
function withWarnings(outcome: ItemOutcome, unresolved: ReadonlyMap<string, readonly PlacedReference[]>): ItemOutcome {
  if (outcome.outcome === 'refused' || outcome.outcome === 'deleted') return outcome
  const found = unresolved.get(outcome.id) ?? []
  if (found.length === 0) return outcome
  return { ...outcome, warnings: found.map(({ pointer }) => ({ code: 'ReferenceUnresolved', target: pointer })) }
}

const isValid = ({ outcome }: WriteDecision): boolean => outcome.outcome !== 'refused'

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
