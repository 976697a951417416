import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { type CoreObject, type LinkedType, OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { Column } from './column.ts'
import type { ObjectTable } from './object-table.ts'
import type { Referrers } from './referrers.ts'
import { RecordedChange } from './snapshot-change.ts'

/** The part of a core object that a snapshot contains. */
export type SnapshotObject = Pick<CoreObject, 'id' | 'objectType' | 'externalId' | 'attributes' | 'deleted'> & {
  /** The identity that a deleted one was merged into. */
  readonly mergedInto?: string
  /** Absent for one that was never deleted. */
  readonly restored?: true
  /** Of its document. Saved rows have none. */
  readonly version?: string
}

/** The schema name that stands for a change of leaders that does not name all people it concerns. */
export const LEADERS_MOVED = 'identityHasReports'

/** Objects that are applied in one step, which takes a few milliseconds. */
export const APPLIED_AT_ONCE_COUNT = 64

/** What is written of a `RowSnapshot`. */
type Rows = {
  readonly tables: Readonly<Record<ObjectType, ObjectTable>>
  readonly referrers: Readonly<Record<LinkedType, Referrers>>
  /** The org units below each one, by their parent. */
  readonly childUnits: Referrers
  link(to: LinkedType): Column
}

/** See `RowSnapshot.apply`. One object in each step. */
export function* applyObjects(objects: readonly SnapshotObject[], rows: Rows): Task<RecordedChange> {
  const change = new RecordedChange(rows.tables)
  if (objects.length > APPLIED_AT_ONCE_COUNT) yield* prepareFor(objects, rows)
  for (const object of objects) {
    if (isGone(object, rows)) change.gone[object.objectType].add(object.id)
    if (object.restored) change.isAnyRestored = true
    if (object.objectType === 'relationship') applyRelationship(object, rows, change)
    else if (object.objectType === 'orgUnit') yield* applyOrgUnit(object, rows, change)
    else applyLinked(object, object.objectType, rows, change)
    yield
  }
  return change
}

/** Copies and enlarges in steps what writing the first objects would otherwise copy and enlarge at once. */
function* prepareFor(objects: readonly SnapshotObject[], { tables }: Rows): Task<void> {
  for (const type of OBJECT_TYPES) {
    const ofType = objects.filter(({ objectType }) => objectType === type)
    if (ofType.length === 0) continue
    const table = tables[type]
    const attributes = new Set<string>()
    for (const object of ofType) {
      for (const name in object.attributes) attributes.add(name)
      yield
    }
    for (const column of table.presentColumns()) {
      if (!attributes.has(column.attribute)) continue
      column.unshare()
      yield
    }
    yield* table.reserve(ofType.length)
  }
}

function applyRelationship(object: SnapshotObject, rows: Rows, change: RecordedChange): void {
  const slot = slotOf(object, rows)
  if (slot === 0) return
  const manager = rows.tables.relationship.column('manager')
  const managerBefore = manager.codeAt(slot)
  const identityBefore = rows.link('identity').codeAt(slot)
  const orgUnitBefore = rows.link('orgUnit').codeAt(slot)
  if (!write(object, slot, rows, change)) return
  change.touch('relationship', slot)
  relink('identity', slot, identityBefore, rows, change)
  relink('orgUnit', slot, orgUnitBefore, rows, change)
  for (const leader of [managerBefore, manager.codeAt(slot)]) touchPerson(leader, rows, change)
  for (const unit of new Set([orgUnitBefore, rows.link('orgUnit').codeAt(slot)])) touchLeaders(unit, rows, change)
}

/** Touches the managers of a unit and of those above it: which of them has reports may have changed. */
function touchLeaders(unit: number, rows: Rows, change: RecordedChange): void {
  const { orgUnit } = rows.tables
  const { unitsWithTouchedLeaders: touched } = change
  if (touched.has(unit)) return
  const [manager, parent] = [orgUnit.column('manager'), orgUnit.column('parent')]
  for (let slot = unit; slot !== 0 && !touched.has(slot); slot = parent.codeAt(slot)) {
    touched.add(slot)
    touchPerson(manager.codeAt(slot), rows, change)
  }
}

function relink(to: LinkedType, slot: number, before: number, rows: Rows, change: RecordedChange): void {
  const now = rows.link(to).codeAt(slot)
  change.touchLive(to, before)
  change.touchLive(to, now)
  if (now === before) return
  rows.referrers[to].remove(before, slot)
  rows.referrers[to].add(now, slot)
  change.rowsMoved = true
}

function applyLinked(object: SnapshotObject, objectType: LinkedType, rows: Rows, change: RecordedChange): void {
  const slot = slotOf(object, rows)
  if (slot === 0 || !write(object, slot, rows, change)) return
  touchWithRows(objectType, slot, rows, change)
}

/** Touches an object, its relationships and what these refer to as well. */
function touchWithRows(objectType: LinkedType, slot: number, rows: Rows, change: RecordedChange): void {
  change.touch(objectType, slot)
  const otherEnd = objectType === 'identity' ? 'orgUnit' : 'identity'
  const referrers = rows.referrers[objectType]
  for (let relationship = referrers.first(slot); relationship !== 0; relationship = referrers.next(relationship)) {
    change.touch('relationship', relationship)
    change.touchLive(otherEnd, rows.link(otherEnd).codeAt(relationship))
  }
}

/**
 * Applies an org unit and touches what refers to it. What is below a unit that moves has other ancestors; who leads it leads another set of
 * units.
 */
function* applyOrgUnit(object: SnapshotObject, rows: Rows, change: RecordedChange): Task<void> {
  const { orgUnit } = rows.tables
  const slot = slotOf(object, rows)
  const [wasLive, parentBefore] = [orgUnit.isLive(slot), orgUnit.column('parent').codeAt(slot)]
  const managerBefore = orgUnit.column('manager').codeAt(slot)
  const ledBefore = leadersOf(slot, rows)
  const before = new Set<number>()
  for (let unit = slot; unit !== 0 && !before.has(unit); unit = orgUnit.column('parent').codeAt(unit)) before.add(unit)
  applyLinked(object, 'orgUnit', rows, change)
  const parent = orgUnit.column('parent').codeAt(slot)
  if (parent !== parentBefore) {
    rows.childUnits.remove(parentBefore, slot)
    rows.childUnits.add(parent, slot)
  }
  const leaders = leadersOf(slot, rows)
  const isLive = orgUnit.isLive(slot)
  // A manager and a deputy can change places.
  const hasOtherManager = orgUnit.column('manager').codeAt(slot) !== managerBefore
  const hasOtherLeaders = leaders.size !== ledBefore.size || !leaders.isSubsetOf(ledBefore)
  const hasChanged = isLive !== wasLive || hasOtherManager || hasOtherLeaders
  if (hasChanged) for (const leader of leaders.union(ledBefore)) touchPerson(leader, rows, change)
  if (hasChanged || parent !== parentBefore) {
    for (const unit of before) touchPerson(orgUnit.column('manager').codeAt(unit), rows, change)
    change.unitsWithTouchedLeaders.clear()
    touchLeaders(slot, rows, change)
  }
  if (isLive !== wasLive || parent !== parentBefore) yield* touchBelow(slot, rows, change)
}

/** The identities that lead a unit, as manager or deputy. */
function leadersOf(unit: number, { tables: { orgUnit } }: Rows): Set<number> {
  const deputies = orgUnit.column('deputies')
  const code = deputies.codeAt(unit)
  const slots = code === 0 || deputies.values.kind !== 'list' ? [] : deputies.values.elementCodesOf(code)
  return new Set([orgUnit.column('manager').codeAt(unit), ...slots])
}

/** Touches an identity that may lead other units than before, with its positions and their units. */
function touchPerson(slot: number, rows: Rows, change: RecordedChange): void {
  change.touchLed('identity', slot)
  const { identity } = rows.referrers
  for (let held = identity.first(slot); held !== 0; held = identity.next(held)) {
    change.touchLed('relationship', held)
    change.touchLed('orgUnit', rows.link('orgUnit').codeAt(held))
  }
}

/** Touches the units below one, with their relationships. One unit in each step. */
function* touchBelow(unit: number, rows: Rows, change: RecordedChange): Task<void> {
  const below = new Set([unit])
  for (const slot of below) {
    yield
    if (slot !== unit && rows.tables.orgUnit.isLive(slot)) touchWithRows('orgUnit', slot, rows, change)
    let child = rows.childUnits.first(slot)
    for (; child !== 0; child = rows.childUnits.next(child)) below.add(child)
  }
}

/** Whether the row of a deleted object does not tell the deletion: it may be gone already, or be part of another one. */
function isGone(object: SnapshotObject, rows: Rows): boolean {
  if (!object.deleted) return false
  return object.mergedInto !== undefined || !rows.tables[object.objectType].isLive(slotOf(object, rows))
}

/** 0 for a deleted object that was never stored. */
function slotOf({ objectType, id, deleted }: SnapshotObject, { tables }: Rows): number {
  const { ids } = tables[objectType]
  return deleted ? ids.codeOf(id) : ids.intern(id)
}

/** @returns Whether the object changed. */
function write(object: SnapshotObject, slot: number, { tables }: Rows, change: RecordedChange): boolean {
  const table = tables[object.objectType]
  const wasLive = table.isLive(slot)
  if (object.deleted && !wasLive) return false
  if (wasLive === object.deleted) change.rowsMoved = true
  // Who decides in the place of a manager who comes or goes is not followed.
  if (wasLive === object.deleted && object.objectType === 'identity') change.attributes.add(LEADERS_MOVED)
  if (!object.deleted) return table.write(slot, object.externalId, object.attributes, change.attributes)
  table.clear(slot, change.attributes)
  return true
}
