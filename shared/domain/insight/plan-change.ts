import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection, NewCriteriaCollection } from '../collections/collection.ts'
import {
  type CriteriaUpdate,
  prepareCriteriaCreation,
  prepareCriteriaUpdate,
  updateCriteriaCollection,
} from '../collections/manage-criteria.ts'
import { isSensitive } from '../criteria/schema.ts'
import { hasFullAccess } from '../object-access/object-access.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ChangePlan, PlanWarning } from './change-plan.ts'
import { equivalentCollectionsTask } from './equivalent-collections.ts'
import { type PlanDependencies, type PlanInput, readPlanInput } from './plan-input.ts'
import { warningsTask } from './plan-warnings.ts'
import { effectParts, effectTask, type PlannedEffect, type PlanTime } from './planned-effect.ts'
import type { PlannedChange } from './reference-graph.ts'

/** A plan is applied while people still remember what it showed. */
const PLAN_VALID_MS = 60 * 60 * 1000

/** What an update would do. Writes nothing. @throws Refusal as `updateCriteriaCollection`. */
export async function planUpdate(update: CriteriaUpdate, deps: PlanDependencies): Promise<ChangePlan> {
  const { before, after } = await prepareCriteriaUpdate(update, deps)
  return planOf({ before: before.value, after }, update.caller, deps)
}

/** What a creation would do. Writes nothing. @throws Refusal as `createCriteriaCollection`. */
export async function planCreation(
  body: NewCriteriaCollection,
  caller: Caller,
  deps: PlanDependencies,
): Promise<ChangePlan> {
  const after = await prepareCriteriaCreation(body, caller, deps)
  return planOf({ before: undefined, after }, caller, deps)
}

/**
 * Saves an update if its effect is exactly that of the plan. The effect is determined from everything that any instance
 * wrote before the call. A change of another condition with references at the same time repeats the check.
 * @throws Refusal `PlanExpired`, also for an id that is not one of a plan for this collection; `PlanChanged`; and as
 * `updateCriteriaCollection`. Nothing is saved then.
 */
export async function updateAsPlanned(
  update: CriteriaUpdate,
  planId: string,
  deps: PlanDependencies,
): Promise<Versioned<Collection>> {
  const { tenantId } = update.caller
  return updateCriteriaCollection(update, deps, async ({ before, after }) => {
    const planned = await deps.planIds.read({ tenantId, collectionId: update.id }, planId)
    if (planned === undefined) throw new Refusal('PlanExpired', 'There is no such plan for this collection', 'If-Plan')
    if (planned.expiresAtMs <= deps.nowMs()) {
      throw new Refusal('PlanExpired', `The plan expired at ${toTimestamp(planned.expiresAtMs)}`, 'If-Plan')
    }
    const { effect } = await evaluated({ before: before.value, after }, undefined, deps)
    if (deps.deriveId(...effectParts(after, effect)) === planned.effect) return
    throw new Refusal('PlanChanged', 'Saving would no longer have exactly the planned effect', 'If-Plan')
  })
}

async function planOf(change: PlannedChange, caller: Caller, deps: PlanDependencies): Promise<ChangePlan> {
  const { effect, warnings, equivalents } = await evaluated(change, caller, deps)
  const { tenantId, id: collectionId } = change.after
  const expiresAtMs = deps.nowMs() + PLAN_VALID_MS
  const outcome = { effect: deps.deriveId(...effectParts(change.after, effect)), expiresAtMs }
  return {
    planId: await deps.planIds.issue({ tenantId, collectionId }, outcome),
    expiresAt: toTimestamp(expiresAtMs),
    collections: effect.collections.map(({ collection: { id, name }, added, removed }) => ({
      collectionId: id === collectionId && change.before === undefined ? null : id,
      name,
      added,
      removed,
    })),
    links: effect.links.map(({ link, toAdd, toRemove, pausedRemovals, pausedBy, wouldHold }) => ({
      linkId: link.id,
      directoryGroupId: link.directoryGroupId,
      toAdd,
      toRemove,
      pausedRemovals,
      pausedBy: pausedRemovals === 0 ? null : pausedBy,
      wouldHold,
    })),
    requests: {
      becomeEligible: effect.eligibility.becomeEligible,
      loseEligibility: effect.eligibility.loseEligibility,
    },
    warnings,
    equivalentTo: equivalents.map(({ id, name }) => ({ collectionId: id, name })),
  }
}

type Evaluated = {
  readonly effect: PlannedEffect
  readonly warnings: PlanWarning[]
  /** Collections whose conditions mean the same. */
  readonly equivalents: Collection[]
}

/** @param reader The caller who reads warnings and equivalents; undefined to determine none. */
async function evaluated(
  change: PlannedChange,
  reader: Caller | undefined,
  deps: PlanDependencies,
): Promise<Evaluated> {
  const input = await readPlanInput(change, reader !== undefined, deps)
  const nowMs = deps.nowMs()
  const rows = await deps.snapshots.fresh(change.after.tenantId)
  return deps.snapshots.reading(rows, evaluationTask(input, rows, { nowMs, todayMs: dayOn(rows, nowMs) }, reader))
}

/** One task, so that everything is determined on the same state of the rows. */
function* evaluationTask(
  input: PlanInput,
  rows: RowSnapshot,
  time: PlanTime,
  reader: Caller | undefined,
): Task<Evaluated> {
  const effect = yield* effectTask(input, rows, time)
  if (reader === undefined) return { effect, warnings: [], equivalents: [] }
  const mayRead = (name: string) => hasFullAccess(reader) || !isSensitive(name)
  const warnings = yield* warningsTask(input, rows, effect, mayRead)
  return { effect, warnings, equivalents: yield* equivalentCollectionsTask(input, rows.settings, mayRead) }
}
