import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { type Bitmap, type CodeSet, clearBit, emptyBitmap, hasBit } from '../tenant-index/rows/bitmap.ts'
import { addReferences, type Column } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { CheckedCondition, CheckedLeaf, CheckedNode, WireGroup, WireLeaf } from './condition.ts'
import { type ComparedValue, isRelative, readsToday } from './condition.ts'
import { derivedTextsOf } from './derived-texts.ts'
import { leafTest } from './leaf-test.ts'
import { LeafVerdicts } from './leaf-verdicts.ts'
import { rowValue } from './row-value.ts'
import { schemaSource } from './schema.ts'

/** A value of an `Equals` or `In` that no object has. `pointer` is a JSON pointer into the condition. */
export type MissingValue = { readonly name: string; readonly value: string; readonly pointer: string }

/** Limits the length of the list. */
const MAX_VALUES_COUNT = 1000
/** Values looked at in one step of the task. */
const VALUES_PER_STEP_COUNT = 256

/**
 * The values of `Equals` and `In` that no live object has, in the order of the condition. Days relative to the day of
 * evaluation and ids of collections are no values of objects.
 * @param mayRead Whether the reader may learn what values objects have for a schema name.
 */
export function* missingValuesTask(
  { root, wire }: CheckedCondition,
  rows: RowSnapshot,
  todayMs: number,
  mayRead: (name: string) => boolean,
): Task<MissingValue[]> {
  const used = new Map<Column, Bitmap>()
  const missing: MissingValue[] = []
  for (const { leaf, wire: written, pointer } of leavesWithin(root, wire, '')) {
    yield
    if (missing.length >= MAX_VALUES_COUNT) break
    const column = columnOf(leaf, rows)
    if (column === undefined || !mayRead(leaf.name)) continue
    const codes = used.get(column) ?? usedCodes(column, rows)
    used.set(column, codes)
    const absent = yield* absentValues(leaf, column, codes, { rows, todayMs })
    missing.push(...absent.map((index) => described(written, index, pointer)))
  }
  return missing.slice(0, MAX_VALUES_COUNT)
}

type LeafAt = { readonly leaf: CheckedLeaf; readonly wire: WireLeaf; readonly pointer: string }

/** Both forms of a condition have the same shape. */
function leavesWithin(node: CheckedNode, wire: WireGroup | WireLeaf, pointer: string): LeafAt[] {
  if (node.kind === 'leaf') return 'conditions' in wire ? [] : [{ leaf: node, wire, pointer }]
  const children = 'conditions' in wire ? wire.conditions : []
  return children.flatMap((child, index) => {
    const inner = node.children[index]
    return inner === undefined ? [] : leavesWithin(inner, child, `${pointer}/conditions/${index}`)
  })
}

/** Undefined for a leaf whose values are not looked for. */
function columnOf(leaf: CheckedLeaf, rows: RowSnapshot): Column | undefined {
  const source = schemaSource(leaf.name)
  if (leaf.operand !== undefined) return undefined
  const isEquality = leaf.operator === 'Equals' || leaf.operator === 'In'
  if (!isEquality || readsToday(leaf) || source?.kind !== 'attribute') return undefined
  return rows.tables[source.objectType].column(source.attribute)
}

/** The codes of the values that live objects have. A deleted object has none, and its values stay in the dictionary. */
function usedCodes(column: Column, { tables }: RowSnapshot): Bitmap {
  const codes = emptyBitmap(column.values.size)
  addReferences(column, tables[column.objectType].liveSlots(), codes)
  // Objects without a value.
  clearBit(codes, 0)
  return codes
}

type Data = { readonly rows: RowSnapshot; readonly todayMs: number }

/** The indexes of the leaf's values that none of the codes stands for. */
function* absentValues(leaf: CheckedLeaf, column: Column, used: Bitmap, { rows, todayMs }: Data): Task<number[]> {
  const indexes = [...leaf.values.keys()].filter((index) => !isRelative(leaf.values[index] as ComparedValue))
  if (column.values.kind === 'text' && leaf.functions.length > 0) {
    const found = yield* textsFound(leaf, column, used)
    return indexes.filter((index) => !found.has(String(leaf.values[index])))
  }
  const absent: number[] = []
  for (const index of indexes) {
    yield
    const single: CheckedLeaf = { ...leaf, operator: 'Equals', values: leaf.values.slice(index, index + 1) }
    const verdicts = new LeafVerdicts(leafTest(single, column.values, derivedTextsOf(rows.family)), column.values)
    if (!isAnyUsed(yield* verdicts.holding(todayMs), used, column)) absent.push(index)
  }
  return absent
}

/** Nearly all values have one code; equal instants may be written in several ways. */
function isAnyUsed(codes: CodeSet, used: Bitmap, { values }: Column): boolean {
  const only = codes.onlyCode()
  if (only !== undefined) return only >>> 5 < used.length && hasBit(used, only)
  return codes.asBitmap(values.size).some((word, at) => (word & (used[at] ?? 0)) !== 0)
}

/**
 * The values of the leaf that its functions make of some text. Each text is looked at once, however many values the
 * leaf has.
 */
function* textsFound(leaf: CheckedLeaf, column: Column, used: Bitmap): Task<ReadonlySet<string>> {
  const wanted = new Set(leaf.values.map(String))
  const found = new Set<string>()
  for (let code = 1; code < column.values.size && found.size < wanted.size; code += 1) {
    if (code % VALUES_PER_STEP_COUNT === 0) yield
    if (code >>> 5 >= used.length || !hasBit(used, code)) continue
    const text = String(rowValue(leaf, column, code))
    if (wanted.has(text)) found.add(text)
  }
  return found
}

function described({ id, value }: WireLeaf, index: number, pointer: string): MissingValue {
  const isList = Array.isArray(value)
  const written = isList ? value[index] : value
  return { name: id, value: String(written), pointer: isList ? `${pointer}/value/${index}` : `${pointer}/value` }
}
