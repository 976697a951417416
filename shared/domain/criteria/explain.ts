import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { attributeKind } from '../core/attribute-names.ts'
import type { Column } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { Row } from './collection-members.ts'
import { type BoundAnyPosition, type BoundNode, type BoundPair, compileAsWritten, type RowColumn } from './compile.ts'
import { isComputed } from './computed-attributes.ts'
import type { CheckedCondition, CheckedLeaf, CheckedNode, WireGroup, WireLeaf } from './condition.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { HIDDEN, withHiddenValues } from './hidden-values.ts'
import { groupHolds, RowTest } from './row-test.ts'
import { type RowValue, rowValue } from './row-value.ts'
import { isSensitive } from './schema.ts'
import { ShownComputedValues, shownPart } from './shown-values.ts'

export type ExplainedLeaf = WireLeaf & {
  readonly holds: boolean
  /** Of a long list the first entries, of a long text the first characters. */
  readonly actual: RowValue
  /** For a leaf that compares two attributes: the value of the other one. */
  readonly compared?: RowValue
  /** Whether this leaf alone, turned round, would turn round the whole condition. */
  readonly decides: boolean
}
export type ExplainedGroup = Omit<WireGroup, 'conditions'> & {
  readonly holds: boolean
  /**
   * For a group over all positions: the position on which its conditions are shown, the first on which they hold. Null
   * for a person without positions. Where they hold on none, they are shown on the row itself.
   */
  readonly shownOn?: string | null
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
  const compiled = compileAsWritten(condition)
  yield* compiled.prepared(snapshot, context.todayMs)
  const bound = compiled.boundTo(snapshot)
  const test = new RowTest(snapshot, context)
  const wire = showsCondition ? condition.wire : withHiddenValues(condition.wire)
  const computed = new ShownComputedValues(snapshot, context.todayMs)
  const explained: ExplainedGroup[] = []
  for (const tested of rows) {
    yield
    test.moveToRow(tested.row)
    const node = yield* resultOf(bound, condition.root, wire, { test, explained: tested, context, snapshot, computed })
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
  readonly compared?: RowValue
  /** For a group over all positions. */
  readonly positions?: PositionsResult
}

type PositionsResult = {
  readonly shownOn: string | null
  /** The leaves within the group whose inversion on all positions inverts the result of the group. */
  readonly turning: ReadonlySet<CheckedNode>
}

type TestedRow = {
  readonly test: RowTest
  readonly explained: RowToExplain
  readonly context: EvaluationContext
  readonly snapshot: RowSnapshot
  readonly computed: ShownComputedValues
}

/** The three trees have the same shape. */
function* resultOf(bound: BoundNode, checked: CheckedNode, wire: WireGroup | WireLeaf, row: TestedRow): Task<Result> {
  if (bound.kind === 'anyPosition') return yield* resultOnPositions(bound, checked, wire, row)
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
  const compared = bound.kind === 'pair' ? { compared: valueOn(bound.operand, undefined, row) } : {}
  return { holds, checked, wire, children, actual: yield* actualOf(bound, checked, row), ...compared }
}

/** The group on each row of the person, and its conditions as they are on the row that decides. */
function* resultOnPositions(
  bound: BoundAnyPosition,
  checked: CheckedNode,
  wire: WireGroup | WireLeaf,
  row: TestedRow,
): Task<Result> {
  const turnedSomewhere = new Set<CheckedNode>()
  let shown: { readonly result: Result; readonly row: Row } | undefined
  for (const sibling of row.test.rowsOfIdentity()) {
    yield
    const result = yield* resultOf(bound.group, checked, wire, movedTo(sibling, row))
    const turning = yield* decidingLeaves(result)
    for (const leaf of leavesIn(result)) if (turning.has(leaf) !== result.holds) turnedSomewhere.add(leaf.checked)
    if (result.holds) shown ??= { result, row: sibling }
  }
  const own = yield* resultOf(bound.group, checked, wire, movedTo(row.explained.row, row))
  const { result, row: shownRow } = shown ?? { result: own, row: row.explained.row }
  const hasRows = row.test.rowsOfIdentity().length > 0
  const turning = new Set(
    hasRows
      ? leavesIn(result).flatMap(({ checked: leaf }) =>
          turnedSomewhere.has(leaf) === (shown !== undefined) ? [] : [leaf],
        )
      : [],
  )
  const { relationship } = row.snapshot.tables
  const shownOn = shownRow[2] === 0 ? null : relationship.ids.idOf(shownRow[2])
  return { ...result, holds: shown !== undefined, positions: { shownOn, turning } }
}

/** Moves the test of a row to another row of the same person. */
function movedTo(other: Row, row: TestedRow): TestedRow {
  row.test.moveToRow(other)
  return { ...row, explained: { ...row.explained, row: other } }
}

function leavesIn(result: Result): Result[] {
  return result.checked.kind === 'leaf' ? [result] : result.children.flatMap(leavesIn)
}

function* actualOf(bound: BoundNode, checked: CheckedNode, row: TestedRow): Task<RowValue> {
  switch (bound.kind) {
    case 'today':
      return toTimestamp(row.context.todayMs)
    case 'membership':
      return shownPart(yield* row.test.collectionsOf(bound))
    case 'pair':
      return comparedField(bound, row)
    case 'computed':
      return row.computed.valueOf(bound.name, row.explained.row[bound.place] as number)
    case 'leaf':
      return valueOn(bound, checked as CheckedLeaf, row)
    case 'group':
    case 'anyPosition':
      return null
  }
}

function comparedField({ field, leaf }: BoundPair, row: TestedRow): RowValue {
  const { context, explained, computed } = row
  if (field === undefined) return toTimestamp(context.todayMs)
  if (!isComputed(leaf.name)) return valueOn(field, leaf, row)
  return computed.valueOf(leaf.name, explained.row[field.place] as number)
}

/** The value of a column on a row, after the functions of a leaf. */
function valueOn(
  { column, place }: RowColumn,
  leaf: CheckedLeaf | undefined,
  { explained, snapshot }: TestedRow,
): RowValue {
  const { row, showsSensitive } = explained
  const value = rowValue(leaf ?? plainLeaf(column, snapshot), column, column.codeAt(row[place] as number))
  return value !== null && !showsSensitive && isSensitive(column.name) ? HIDDEN : shownPart(value)
}

/** Reads an attribute without functions. */
function plainLeaf(
  { objectType, attribute, name }: Column,
  { settings }: RowSnapshot,
): Pick<CheckedLeaf, 'type' | 'functions'> {
  const type = settings.types.get(name)
  if (type !== undefined) return { type, functions: [] }
  return { type: attributeKind(objectType, attribute) === 'boolean' ? 'Boolean' : 'String', functions: [] }
}

function* described(root: Result): Task<ExplainedGroup> {
  const deciding = yield* decidingLeaves(root)
  const shown = (result: Result): ExplainedGroup | ExplainedLeaf => {
    const { holds, wire, children, positions, compared } = result
    if ('conditions' in wire) {
      const shownOn = positions === undefined ? {} : { shownOn: positions.shownOn }
      return { ...wire, holds, ...shownOn, conditions: children.map(shown) }
    }
    const other = compared === undefined ? {} : { compared }
    return { ...wire, holds, actual: result.actual, ...other, decides: deciding.has(result) }
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
    const { checked, positions, children } = node
    if (checked.kind === 'leaf') deciding.add(node)
    else if (positions === undefined) {
      for (const child of children) if (turns(node, child)) open.push(child)
    } else for (const leaf of leavesIn(node)) if (positions.turning.has(leaf.checked)) deciding.add(leaf)
  }
  return deciding
}

/** Whether a group has another result when one child's result is turned round. */
function turns({ checked, children, holds }: Result, turned: Result): boolean {
  if (checked.kind === 'leaf') return false
  return groupHolds(checked.operator, children, (child) => (child === turned ? !child.holds : child.holds)) !== holds
}

function at<T>(all: readonly T[], index: number): T {
  const item = all[index]
  if (item === undefined) throw new Error('The forms of a condition differ')
  return item
}
