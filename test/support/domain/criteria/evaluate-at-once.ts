import type { RowObjectType } from '../../../../shared/domain/criteria/collection-members.ts'
import type { CompiledCondition } from '../../../../shared/domain/criteria/compile.ts'
import { evaluationTask, objectEvaluationTask } from '../../../../shared/domain/criteria/evaluate.ts'
import type { EvaluationContext } from '../../../../shared/domain/criteria/evaluation-context.ts'
import type { RowSnapshot } from '../../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../../shared/kernel/cooperative-scheduler.ts'

/** The ids of all members, as `evaluationTask` finds them in steps. */
export function evaluate(
  compiled: CompiledCondition,
  snapshot: RowSnapshot,
  objectType: RowObjectType,
  context: EvaluationContext,
): string[] {
  return runToCompletion(evaluationTask(compiled, snapshot, objectType, context))
}

/** Whether each of these objects is a member, as `objectEvaluationTask` finds in steps. */
export function evaluateObjects(
  compiled: CompiledCondition,
  snapshot: RowSnapshot,
  objectType: RowObjectType,
  ids: Iterable<string>,
  context: EvaluationContext,
): ReadonlyMap<string, boolean> {
  return runToCompletion(objectEvaluationTask(compiled, snapshot, objectType, ids, context))
}
