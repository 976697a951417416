import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { Row } from './collection-members.ts'
import { type BoundNode, compileAsWritten } from './compile.ts'
import type { CheckedCondition, CheckedLeaf, CheckedNode, WireGroup, WireLeaf } from './condition.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { HIDDEN, withHiddenValues } from './hidden-values.ts'
import { groupHolds, RowTest } from './row-test.ts'
import { type RowValue, rowValue } from './row-value.ts'
import { isSensitive } from './schema.ts'

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

/** Whether the reader may see the values that the condition compares with sensitive attributes. */
export type ConditionReader = { readonly showsCondition: boolean }

/**
 * Explains a condition on rows, one after the other: the condition as stored, with what the evaluator finds on each
 * node. A leaf decides when the condition, evaluated with the result of this leaf turned round, has the other result.
 */
export function* explainTask(
  condition: CheckedCondition,
  snapshot: RowSnapshot,
  rows: readonly RowToExplain[],
  context: EvaluationContext,
  { showsCondition }: ConditionReader,
): Task<ExplainedGroup[]> {
  const bound = compileAsWritten(condition).boundTo(snapshot)
  const test = new RowTest(snapshot, context)
  const wire = showsCondition ? condition.wire : withHiddenValues(condition.wire)
  const explained: ExplainedGroup[] = []
  for (const each of rows) {
    yield
    test.moveToRow(each.row)
    const node = yield* resultOf(bound, condition.root, wire, { test, explained: each, context })
    explained.push(yield* described(node))
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
  readonly actual: RowValue
}

type TestedRow = { readonly test: RowTest; readonly explained: RowToExplain; readonly context: EvaluationContext }

/** The three trees have the same shape. */
function* resultOf(bound: BoundNode, checked: CheckedNode, wire: WireGroup | WireLeaf, row: TestedRow): Task<Result> {
  const children: Result[] = []
  if (bound.kind === 'group' && checked.kind === 'group' && 'conditions' in wire) {
    for (const [index, child] of bound.children.entries()) {
      children.push(yield* resultOf(child, at(checked.children, index), at(wire.conditions, index), row))
    }
  }
  const holds =
    bound.kind === 'group'
      ? groupHolds(bound.operator, children, (child) => child.holds)
      : yield* row.test.holdsTask(bound)
  return { holds, checked, wire, children, actual: yield* actualOf(bound, checked, row) }
}

function* actualOf(bound: BoundNode, checked: CheckedNode, { test, explained, context }: TestedRow): Task<RowValue> {
  switch (bound.kind) {
    case 'today':
      return toTimestamp(context.todayMs)
    case 'membership':
      return yield* test.collectionsOf(bound)
    case 'leaf': {
      const { row, showsSensitive } = explained
      const value = rowValue(checked as CheckedLeaf, bound.column, bound.column.codeAt(row[bound.place] as number))
      return value !== null && !showsSensitive && isSensitive(bound.column.name) ? HIDDEN : value
    }
    case 'group':
      return null
  }
}

function* described(root: Result): Task<ExplainedGroup> {
  const deciding = yield* decidingLeaves(root)
  const shown = (result: Result): ExplainedGroup | ExplainedLeaf => {
    const { holds, wire, children } = result
    if ('conditions' in wire) return { ...wire, holds, conditions: children.map(shown) }
    return { ...wire, holds, actual: result.actual, decides: deciding.has(result) }
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
