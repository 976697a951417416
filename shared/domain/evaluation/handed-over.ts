import type { Log } from '../../kernel/log.ts'
import type { Collection } from '../collections/collection.ts'
import {
  type ConditionCache,
  compiledConditions,
  type LiveDependencies,
  lazyContext,
  withReferences,
} from '../collections/live-members.ts'
import { ACCOUNT_CHANGE_DELAY_MS, type AccountChangeStore } from '../core/core-object-store.ts'
import { objectEvaluationTask } from '../criteria/evaluate.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { EvaluationLeaseStore } from './evaluation-lease.ts'

export type HandedOverDependencies = LiveDependencies & {
  readonly accountChanges: AccountChangeStore
  readonly evaluationLeases: Pick<EvaluationLeaseStore, 'find'>
  readonly log: Log
}

const NONE: ReadonlySet<string> = new Set()

const hasPositions = ({ kind, objectType }: Collection): boolean => kind === 'criteria' && objectType === 'Relationship'

/** When the last evaluation of all collections began, where it matters for `handedOver`. */
export async function evaluatedUntilMs(
  collection: Collection,
  { evaluationLeases }: Pick<HandedOverDependencies, 'evaluationLeases'>,
): Promise<number> {
  if (!hasPositions(collection)) return 0
  const lease = (await evaluationLeases.find(collection.tenantId))?.value
  return lease?.evaluated?.atMs ?? lease?.coveredAtMs ?? 0
}

/**
 * The positions among the stored members of a collection that may have changed hands since the last evaluation, and that
 * do not satisfy the condition on these rows: only their former holders were evaluated. The next evaluation ends their
 * membership, unless they satisfy it by then. None while a stored condition is invalid: its members stay as they are.
 * @param coveredAtMs As of `evaluatedUntilMs`, before the members were read.
 */
export async function handedOver(
  collection: Collection,
  { ids, coveredAtMs }: { readonly ids: readonly string[]; readonly coveredAtMs: number },
  rows: RowSnapshot,
  deps: Omit<HandedOverDependencies, 'evaluationLeases'>,
): Promise<ReadonlySet<string>> {
  if (!hasPositions(collection) || ids.length === 0) return NONE
  const sinceMs = coveredAtMs - ACCOUNT_CHANGE_DELAY_MS
  const changes = await deps.accountChanges.amongSince(collection.tenantId, ids, sinceMs)
  const changed = new Set(changes.map(({ id }) => id)).intersection(new Set(ids))
  if (changed.size === 0) return NONE
  const satisfying = await satisfyingAmong(changed, collection, rows, deps)
  return changed.difference(satisfying)
}

async function satisfyingAmong(
  ids: ReadonlySet<string>,
  collection: Collection,
  rows: RowSnapshot,
  deps: LiveDependencies & Pick<HandedOverDependencies, 'log'>,
): Promise<ReadonlySet<string>> {
  const { tenantId, id, refersTo } = collection
  const collections = new Map(await withReferences(tenantId, refersTo, deps)).set(id, collection)
  const kept: ConditionCache = new Map()
  try {
    await deps.scheduler.run(compiledConditions(collections, rows, kept))
  } catch (error) {
    deps.log.error('collection.invalid', error, { tenantId, collectionId: id })
    return ids
  }
  const { context, running } = await lazyContext(tenantId, collections, rows, dayOn(rows, deps.nowMs()), deps, kept)
  const condition = kept.get(`${tenantId}:${id}`)?.condition
  if (condition === undefined) throw new Error(`The condition of collection ${id} was not compiled`)
  const task = objectEvaluationTask(condition, rows, 'Relationship', ids, context)
  const verdicts = await deps.snapshots.reading(rows, running(task))
  return new Set([...ids].filter((each) => verdicts.get(each) === true))
}
