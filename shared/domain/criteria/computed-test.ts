import type { Task } from '../../kernel/cooperative-scheduler.ts'
import {
  type Bitmap,
  bitsWithout,
  CodeSet,
  commonBits,
  emptyBitmap,
  fullBitmap,
  setBit,
} from '../tenant-index/rows/bitmap.ts'
import { slotsWithCodes } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { COMPUTED_ATTRIBUTES, type ComputedName } from './computed-attributes.ts'
import { computedValues, LEADERS_OF, type LeadersOf, leadersTask } from './computed-values.ts'
import type { CheckedLeaf } from './condition.ts'

/** Whether an object satisfies a leaf. Negative operators are tested as their opposites. */
export type ComputedTest = {
  (slot: number, todayMs: number): boolean
  /** Finds in steps what the first test would otherwise find at once. */
  prepare?: (todayMs: number) => Task<void>
  /** Finds the objects in a set that satisfy it, in less time than it takes to test each. */
  among?: Among
}

type Among = (mask: Bitmap, todayMs: number) => Task<Bitmap>

/** The test of a leaf on a computed attribute. */
export function computedTest(leaf: CheckedLeaf, name: ComputedName, rows: RowSnapshot): ComputedTest {
  const values = computedValues(name, rows)
  if (leaf.operator === 'IsNull') return (slot, todayMs) => values.valueAt(slot, todayMs) === undefined
  if (COMPUTED_ATTRIBUTES[name].type === 'Boolean') {
    const wanted = leaf.values[0] === 'true'
    const test = (slot: number, todayMs: number) => values.valueAt(slot, todayMs) === wanted
    const prepare = name === 'identityHasReports' ? { prepare: preparedReports(rows) } : {}
    return Object.assign(test, prepare, { among: booleansAmong(name, wanted, rows) })
  }
  const element = () => rows.tables.orgUnit.ids.codeOf(String(leaf.values[0]))
  const test = (slot: number) => values.contains(slot, element())
  const leadersOf = LEADERS_OF[name]
  return leadersOf === undefined ? test : Object.assign(test, { among: leadersAmong(element, leadersOf, rows) })
}

/** Objects that are looked at in one step of a task. */
const OBJECTS_PER_STEP_COUNT = 4096
/** Words of objects that are tested in one step of the task. */
const WORDS_PER_STEP_COUNT = 128

/** The objects in `mask` that satisfy a test. */
export function* slotsPassing(test: ComputedTest, negative: boolean, mask: Bitmap, todayMs: number): Task<Bitmap> {
  const found = yield* test.among?.(mask, todayMs) ?? slotsWhere(mask, (slot) => test(slot, todayMs))
  return negative ? bitsWithout(mask, found) : found
}

function* slotsWhere(mask: Bitmap, passes: (slot: number) => boolean): Task<Bitmap> {
  const found: Bitmap = new Int32Array(mask.length)
  for (let index = 0; index < mask.length; index += 1) {
    if (index % WORDS_PER_STEP_COUNT === WORDS_PER_STEP_COUNT - 1) yield
    for (let word = mask[index] as number; word !== 0; word &= word - 1) {
      const slot = (index << 5) + 31 - Math.clz32(word & -word)
      if (passes(slot)) setBit(found, slot)
    }
  }
  return found
}

/** The objects with this value of a computed attribute that is true or false. */
function booleansAmong(name: ComputedName, wanted: boolean, rows: RowSnapshot): Among {
  const table = rows.tables[COMPUTED_ATTRIBUTES[name].of]
  return function* (mask, todayMs) {
    const live = commonBits(mask, table.liveSlots())
    const found = yield* holdingTask(name, rows, todayMs)
    return wanted ? commonBits(live, found) : bitsWithout(live, found)
  }
}

/** The objects on which a computed attribute is true, besides some that are not live. */
function holdingTask(name: ComputedName, rows: RowSnapshot, todayMs: number): Task<Bitmap> {
  if (name === 'identityHasReports') return leadersTask(rows, todayMs)
  return name === 'relationshipIsPrimary' ? primariesTask(rows) : activeTask(rows, todayMs)
}

/** The relationships that are the primary one of the identity that holds them. */
function* primariesTask(rows: RowSnapshot): Task<Bitmap> {
  const { identity, relationship } = rows.tables
  const found = emptyBitmap(relationship.slotCount)
  const primary = identity.column('primaryRelationship')
  if (primary.valueCount === 0) return found
  const holders = rows.link('identity').codes(relationship.slotCount)
  const primaries = primary.codes(identity.slotCount)
  for (let holder = 1; holder < identity.slotCount; holder += 1) {
    if (holder % OBJECTS_PER_STEP_COUNT === 0) yield
    const slot = primaries[holder] as number
    if (slot !== 0 && holders[slot] === holder) setBit(found, slot)
  }
  return found
}

/** The relationships, live or not, whose last day has not passed. */
function* activeTask({ tables: { relationship } }: RowSnapshot, todayMs: number): Task<Bitmap> {
  const end = relationship.column('endDate')
  const all = fullBitmap(relationship.slotCount)
  const { values } = end
  if (values.kind !== 'instant' || end.valueCount === 0) return all
  const ended = new CodeSet()
  for (let code = 1; code < values.size; code += 1) {
    if (code % OBJECTS_PER_STEP_COUNT === 0) yield
    if (!((values.instantsMs[code] as number) >= todayMs)) ended.add(code)
  }
  return slotsWithCodes(end, ended, true, all)
}

/** Those who lead one unit: few. */
function leadersAmong(element: () => number, leadersOf: LeadersOf, rows: RowSnapshot): Among {
  const { identity, orgUnit } = rows.tables
  return function* (mask) {
    const found: Bitmap = new Int32Array(mask.length)
    const unit = element()
    yield
    if (unit === 0 || !orgUnit.isLive(unit)) return found
    for (const leader of leadersOf(unit, rows)) if (leader !== 0 && identity.isLive(leader)) setBit(found, leader)
    return commonBits(found, mask)
  }
}

function preparedReports(rows: RowSnapshot) {
  return function* (todayMs: number): Task<void> {
    yield* leadersTask(rows, todayMs)
  }
}
