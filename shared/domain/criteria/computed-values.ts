import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import {
  type Bitmap,
  bitsWithout,
  CodeSet,
  commonBits,
  emptyBitmap,
  fullBitmap,
  hasBit,
  setBit,
} from '../tenant-index/rows/bitmap.ts'
import { slotsWithCodes } from '../tenant-index/rows/column.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { COMPUTED_ATTRIBUTES, type ComputedName } from './computed-attributes.ts'
import type { CheckedLeaf } from './condition.ts'

/** The values of a computed attribute on the objects of a snapshot, by slot. */
export type ComputedValues = {
  /** Undefined where the attribute is missing; otherwise a boolean, or slots of the objects in a list. */
  valueAt(slot: number, todayMs: number): boolean | readonly number[] | undefined
  /** Whether the list of an object has an element. Does not create the list, as `valueAt` does. */
  contains(slot: number, element: number): boolean
}

export function computedValues(name: ComputedName, rows: RowSnapshot): ComputedValues {
  switch (name) {
    case 'relationshipIsActive':
      return activeValues(rows)
    case 'relationshipIsPrimary':
      return primaryValues(rows)
    case 'orgUnitWithAncestors':
      return ancestorValues(rows)
    case 'identityManagedOrgUnits':
    case 'identityDeputyOfOrgUnits':
      return unitsLedValues(rows, (unit) => LEADERS_OF[name]?.(unit, rows) ?? [])
    case 'identityHasReports':
      return reportValues(rows)
  }
}

/** Whether an object satisfies a leaf. Negative operators are tested as their opposites. */
export type ComputedTest = {
  (slot: number, todayMs: number): boolean
  /** Finds in steps what the first test would otherwise find at once. */
  prepare?: (todayMs: number) => Task<void>
  /** Finds the objects in a set that satisfy it, in less time than it takes to test each. */
  among?: Among
}

type Among = (mask: Bitmap, todayMs: number) => Task<Bitmap>

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

type LeadersOf = (unit: number, rows: RowSnapshot) => readonly number[]

const LEADERS_OF: Readonly<Partial<Record<ComputedName, LeadersOf>>> = {
  identityManagedOrgUnits: (unit, { tables: { orgUnit } }) => [orgUnit.column('manager').codeAt(unit)],
  identityDeputyOfOrgUnits: (unit, rows) => deputiesOf(unit, rows),
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

const NO_LIST = { contains: () => false }

function activeValues({ tables: { relationship } }: RowSnapshot): ComputedValues {
  const end = relationship.column('endDate')
  const { values } = end
  return {
    ...NO_LIST,
    valueAt(slot, todayMs) {
      if (!relationship.isLive(slot)) return undefined
      const code = end.codeAt(slot)
      return code === 0 || values.kind !== 'instant' || (values.instantsMs[code] as number) >= todayMs
    },
  }
}

function primaryValues(rows: RowSnapshot): ComputedValues {
  const { identity, relationship } = rows.tables
  const primary = identity.column('primaryRelationship')
  const holder = rows.link('identity')
  return {
    ...NO_LIST,
    valueAt(slot) {
      if (!relationship.isLive(slot)) return undefined
      return primary.codeAt(holder.codeAt(slot)) === slot
    },
  }
}

function ancestorValues({ tables: { orgUnit } }: RowSnapshot): ComputedValues {
  const parent = orgUnit.column('parent')
  /** Parents form no circle, except for a moment while the changes of a connector arrive. */
  const chainOf = (slot: number): number[] => {
    const chain: number[] = []
    for (let unit = slot; orgUnit.isLive(unit) && !chain.includes(unit); unit = parent.codeAt(unit)) chain.push(unit)
    return chain
  }
  return {
    valueAt: (slot) => (orgUnit.isLive(slot) ? chainOf(slot) : undefined),
    contains: (slot, element) => element !== 0 && chainOf(slot).includes(element),
  }
}

/** By the revision of rows: the identities that lead others on a day. Conditions share it. */
const leadersByRevision = new WeakMap<object, { readonly todayMs: number; readonly leaders: Bitmap }>()

function* leadersTask(rows: RowSnapshot, todayMs: number): Task<Bitmap> {
  const known = leadersByRevision.get(rows.revision)
  if (known?.todayMs === todayMs) return known.leaders
  const leaders = yield* new OrgChart(rows, todayMs).leadersTask()
  leadersByRevision.set(rows.revision, { todayMs, leaders })
  return leaders
}

function preparedReports(rows: RowSnapshot) {
  return function* (todayMs: number): Task<void> {
    yield* leadersTask(rows, todayMs)
  }
}

function reportValues(rows: RowSnapshot): ComputedValues {
  const { identity } = rows.tables
  return {
    ...NO_LIST,
    valueAt: (slot, todayMs) =>
      identity.isLive(slot) ? hasBit(runToCompletion(leadersTask(rows, todayMs)), slot) : undefined,
  }
}

function deputiesOf(unit: number, { tables: { orgUnit } }: RowSnapshot): readonly number[] {
  const deputies = orgUnit.column('deputies')
  const code = deputies.codeAt(unit)
  return code === 0 || deputies.values.kind !== 'list' ? [] : deputies.values.elementCodesOf(code)
}

/** The units by the identity that leads them. Found once for each state of the rows. */
function unitsLedValues(rows: RowSnapshot, leadersOf: (unit: number) => readonly number[]): ComputedValues {
  const { identity, orgUnit } = rows.tables
  let revision: object | undefined
  let units = new Map<number, number[]>()
  const unitsOf = (slot: number): readonly number[] => {
    if (revision !== rows.revision) {
      units = runToCompletion(unitsByLeader(rows, leadersOf))
      revision = rows.revision
    }
    return units.get(slot) ?? []
  }
  return {
    valueAt: (slot) => (identity.isLive(slot) && unitsOf(slot).length > 0 ? unitsOf(slot) : undefined),
    contains: (slot, element) =>
      element !== 0 && identity.isLive(slot) && orgUnit.isLive(element) && leadersOf(element).includes(slot),
  }
}

function* unitsByLeader(
  rows: RowSnapshot,
  leadersOf: (unit: number) => readonly number[],
): Task<Map<number, number[]>> {
  const { orgUnit } = rows.tables
  const units = new Map<number, number[]>()
  for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
    if (!orgUnit.isLive(unit)) continue
    for (const leader of leadersOf(unit)) {
      if (leader === 0) continue
      const known = units.get(leader)
      if (known === undefined) units.set(leader, [unit])
      else known.push(unit)
    }
    yield
  }
  return units
}
