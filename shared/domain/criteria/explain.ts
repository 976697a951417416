import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { Row } from './collection-members.ts'
import { type BoundNode, compileAsWritten } from './compile.ts'
import type { CheckedCondition, CheckedLeaf, CheckedNode, WireGroup, WireLeaf } from './condition.ts'
import { Evaluation, type EvaluationContext, groupHolds } from './evaluation.ts'
import { type RowValue, rowValue } from './row-value.ts'
import { isSensitive } from './schema.ts'

/** A value that the reader may not see. */
const HIDDEN = 'hidden'

export type ExplainedLeaf = WireLeaf & {
  readonly holds: boolean
  readonly actual: RowValue
  /** Whether this leaf alone, turned round, would turn round the whole condition. */
  readonly decides: boolean
}
export type ExplainedGroup = Omit<WireGroup, 'conditions'> & {
  readonly holds: boolean
  readonly conditions: readonly (ExplainedGroup | ExplainedLeaf)[]
}

/** A row to explain. @see Row */
export type RowToExplain = {
  readonly row: Row
  /** Whether the reader may see sensitive values of the row. */
  readonly showsSensitive: boolean
}

/**
 * Explains a condition on rows, one after the other: the condition as stored, with what the evaluator finds on each node.
 * A leaf decides when the condition, evaluated with the result of this leaf turned round, has the other result.
 */
export function* explainTask(
  condition: CheckedCondition,
  snapshot: RowSnapshot,
  rows: readonly RowToExplain[],
  context: EvaluationContext,
): Task<ExplainedGroup[]> {
  const bound = compileAsWritten(condition).boundTo(snapshot)
  const evaluation = new Evaluation(snapshot, context)
  const explained: ExplainedGroup[] = []
  for (const each of rows) {
    yield
    const node = resultOf(bound, condition.root, condition.wire, evaluation, each)
    explained.push(yield* described(node, context.todayMs))
  }
  return explained
}

/** A node with its result on a row. */
type Result = {
  readonly holds: boolean
  readonly checked: CheckedNode
  readonly wire: WireGroup | WireLeaf
  readonly children: readonly Result[]
  /** For a leaf: the value that it compares. */
  readonly actual: (todayMs: number) => RowValue
}

/** The three trees have the same shape. */
function resultOf(
  bound: BoundNode,
  checked: CheckedNode,
  wire: WireGroup | WireLeaf,
  evaluation: Evaluation,
  explained: RowToExplain,
): Result {
  const children =
    bound.kind === 'group' && checked.kind === 'group' && 'conditions' in wire
      ? bound.children.map((child, index) =>
          resultOf(child, at(checked.children, index), at(wire.conditions, index), evaluation, explained),
        )
      : []
  const holds =
    bound.kind === 'group'
      ? groupHolds(bound.operator, children, (child) => child.holds)
      : evaluation.holdsOn(bound, explained.row)
  const actual = (todayMs: number) => actualOf(bound, checked, evaluation, explained, todayMs)
  return { holds, checked, wire, children, actual }
}

function actualOf(
  bound: BoundNode,
  checked: CheckedNode,
  evaluation: Evaluation,
  { row, showsSensitive }: RowToExplain,
  todayMs: number,
): RowValue {
  switch (bound.kind) {
    case 'today':
      return toTimestamp(todayMs)
    case 'membership':
      return evaluation.collectionsOf(bound, row)
    case 'leaf': {
      const value = rowValue(checked as CheckedLeaf, bound.column, bound.column.codeAt(row[bound.place] as number))
      return value !== null && !showsSensitive && isSensitive(bound.column.name) ? HIDDEN : value
    }
    case 'group':
      return null
  }
}

function* described(root: Result, todayMs: number): Task<ExplainedGroup> {
  const deciding = yield* decidingLeaves(root)
  const shown = (result: Result): ExplainedGroup | ExplainedLeaf => {
    const { holds, wire, children } = result
    if ('conditions' in wire) return { ...wire, holds, conditions: children.map(shown) }
    return { ...wire, holds, actual: result.actual(todayMs), decides: deciding.has(result) }
  }
  return shown(root) as ExplainedGroup
}

/**
 * The leaves that decide. Turning a leaf turns the condition when it turns each group above it, so the search goes down
 * only into those children that turn their group.
 */
function* decidingLeaves(root: Result): Task<ReadonlySet<Result>> {
  const deciding = new Set<Result>()
  const open: Result[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield
    if (node.checked.kind === 'leaf') deciding.add(node)
    for (const child of node.children) if (turns(node, child)) open.push(child)
  }
  return deciding
}

/** Whether a group has another result when one child's result is turned round. */
function turns({ checked, children, holds }: Result, turned: Result): boolean {
  if (checked.kind === 'leaf') return false
  return groupHolds(checked.operator, children, (child) => (child === turned ? !child.holds : child.holds)) !== holds
}

function at<T>(all: readonly T[], index: number): T {
  const one = all[index]
  if (one === undefined) throw new Error('The forms of a condition differ')
  return one
}
