import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Bitmap } from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { CORE_TYPE, type RowObjectType } from './collection-members.ts'
import type { CompiledCondition } from './compile.ts'
import { Evaluation } from './evaluation.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { SharedResults } from './shared-results.ts'

/**
 * The ids of all members, ascending: the objects with at least one row that satisfies the condition. The snapshot must
 * not change before the task has ended: see `TenantSnapshots.reading`.
 */
export function* evaluationTask(
  compiled: CompiledCondition,
  snapshot: RowSnapshot,
  objectType: RowObjectType,
  context: EvaluationContext,
): Task<string[]> {
  const members = yield* memberSlotsTask(compiled, snapshot, objectType, context)
  return yield* snapshot.tables[CORE_TYPE[objectType]].ids.idsIn(members)
}

/** The slots of all members, as a task. The ids of a large collection cost more than its evaluation. */
export function* memberSlotsTask(
  compiled: CompiledCondition,
  snapshot: RowSnapshot,
  objectType: RowObjectType,
  context: EvaluationContext,
  shared?: SharedResults,
): Task<Bitmap> {
  if (compiled.needsPreparation(snapshot)) yield* compiled.prepared(snapshot, context.todayMs)
  return yield* new Evaluation(snapshot, context, shared).members(compiled.boundTo(snapshot), CORE_TYPE[objectType])
}

/**
 * Whether each of these objects is a member. Evaluates their rows only. Unknown and deleted objects are not members. The
 * snapshot must not change before the task has ended: see `TenantSnapshots.reading`.
 */
export function* objectEvaluationTask(
  compiled: CompiledCondition,
  snapshot: RowSnapshot,
  objectType: RowObjectType,
  ids: Iterable<string>,
  context: EvaluationContext,
): Task<ReadonlyMap<string, boolean>> {
  const type = CORE_TYPE[objectType]
  const table = snapshot.tables[type]
  const root = compiled.boundTo(snapshot)
  if (compiled.needsPreparation(snapshot)) yield* compiled.prepared(snapshot, context.todayMs)
  const evaluation = new Evaluation(snapshot, context)
  const outcome = new Map<string, boolean>()
  for (const id of ids) outcome.set(id, yield* evaluation.hasMatchingRow(root, type, table.ids.codeOf(id)))
  return outcome
}
