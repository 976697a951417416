import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import type { TimeZone } from '../../../kernel/time-zone.ts'
import type { LinkedType, ObjectType } from '../../core/core-object.ts'
import { type Bitmap, emptyBitmap, setBit } from './bitmap.ts'
import type { Column } from './column.ts'
import type { RowSnapshot } from './row-snapshot.ts'

/**
 * Identities and the positions (relationships) that they hold. A position is active unless it is deleted or its
 * `endDate` is before today. A position that has not started yet is active.
 */
export class OrgChart {
  /** The time by which positions are active. */
  readonly nowMs: number
  readonly #rows: RowSnapshot
  /** The beginning of the day on which positions are active. */
  readonly #todayMs: number
  readonly #manager: Readonly<Record<'relationship' | 'orgUnit', Column>>
  readonly #parent: Column

  constructor(rows: RowSnapshot, nowMs: number) {
    this.nowMs = nowMs
    this.#rows = rows
    this.#todayMs = rows.settings.zone.startOfDay(nowMs)
    this.#manager = {
      relationship: rows.tables.relationship.column('manager'),
      orgUnit: rows.tables.orgUnit.column('manager'),
    }
    this.#parent = rows.tables.orgUnit.column('parent')
  }

  get rows(): RowSnapshot {
    return this.#rows
  }

  /** In which days begin. */
  get zone(): TimeZone {
    return this.#rows.settings.zone
  }

  has(objectType: ObjectType, id: string): boolean {
    return this.#rows.has(objectType, id)
  }

  /** The identity of a directory account; the one with the lowest id if there are several. */
  identityOfAccount(directoryObjectId: string): string | undefined {
    return this.#rows.identityOfAccount(directoryObjectId)
  }

  /** Ids of the identity's positions, ended ones included. Ascending. */
  positionsOf(identityId: string): string[] {
    return this.#idsOf('relationship', this.#positionSlots('identity', this.#slotOf('identity', identityId))).sort()
  }

  activePositionsOf(identityId: string): string[] {
    return this.positionsOf(identityId).filter((id) => this.isActive(id))
  }

  isActive(relationshipId: string): boolean {
    return this.#isActiveSlot(this.#slotOf('relationship', relationshipId))
  }

  /** The active positions that name the identity as their manager. */
  positionsLedBy(managerId: string): string[] {
    const manager = this.#slotOf('identity', managerId)
    if (manager === 0) return []
    const led = slotsWith(this.#manager.relationship, manager, this.#rows.tables.relationship.slotCount)
    return this.#idsOf(
      'relationship',
      led.filter((slot) => this.#isActiveSlot(slot)),
    )
  }

  #isActiveSlot(slot: number): boolean {
    if (!this.#rows.tables.relationship.isLive(slot)) return false
    const end = this.#rows.tables.relationship.column('endDate')
    if (end.values.kind !== 'instant' || end.codeAt(slot) === 0) return true
    return (end.values.instantsMs[end.codeAt(slot)] as number) >= this.#todayMs
  }

  /** The identity that holds a position; undefined when either is unknown or deleted. */
  holderOf(relationshipId: string): string | undefined {
    const slot = this.#rows.link('identity').codeAt(this.#slotOf('relationship', relationshipId))
    return this.#idsOf('identity', [slot])[0]
  }

  /** The org unit of a position; undefined when either is unknown or deleted. */
  unitOf(relationshipId: string): string | undefined {
    const slot = this.#rows.link('orgUnit').codeAt(this.#slotOf('relationship', relationshipId))
    return this.#idsOf('orgUnit', [slot])[0]
  }

  /** The primary position, if it is active; else the only active one. */
  mainPositionOf(identityId: string): string | undefined {
    const active = this.activePositionsOf(identityId)
    const slot = this.#slotOf('identity', identityId)
    const primary = this.#rows.tables.identity.column('primaryRelationship').codeAt(slot)
    const primaryId = primary === 0 ? undefined : this.#rows.tables.relationship.ids.idOf(primary)
    if (primaryId !== undefined && active.includes(primaryId)) return primaryId
    return active.length === 1 ? active[0] : undefined
  }

  /**
   * The managers who decide for an identity in a position: the position's manager, else that of its org unit, else of
   * the nearest unit above with one. The identity itself is skipped. Without a position: for the main position, or for
   * each active one if there is no main one.
   */
  managersOf(identityId: string, relationshipId: string | null): ReadonlySet<string> {
    const main = relationshipId ?? this.mainPositionOf(identityId)
    const positions = main === undefined ? this.activePositionsOf(identityId) : [main]
    const subject = this.#slotOf('identity', identityId)
    const managers = positions.map((id) => this.#managerSlot(this.#slotOf('relationship', id), subject))
    return new Set(this.#idsOf('identity', managers))
  }

  /** Whether one identity manages the other in any active position. */
  isManagerOf(managerId: string, identityId: string): boolean {
    return this.activePositionsOf(identityId).some((id) => this.managersOf(identityId, id).has(managerId))
  }

  /**
   * A superset of the identities for whom this one decides as manager: those in units below that have no manager, and
   * the managers of the first units below that have one.
   */
  reportsOf(managerId: string): string[] {
    const manager = this.#slotOf('identity', managerId)
    if (!this.#rows.tables.identity.isLive(manager)) return []
    const reports = new Set<number>()
    const { relationship, orgUnit } = this.#rows.tables
    const holder = this.#rows.link('identity')
    for (const slot of slotsWith(this.#manager.relationship, manager, relationship.slotCount)) {
      reports.add(holder.codeAt(slot))
    }
    const units = new Set(slotsWith(this.#manager.orgUnit, manager, orgUnit.slotCount))
    const children = units.size === 0 ? new Map<number, number[]>() : this.#unitsByParent()
    for (const unit of units) {
      for (const slot of this.#positionSlots('orgUnit', unit)) reports.add(holder.codeAt(slot))
      for (const child of children.get(unit) ?? []) {
        const other = this.#liveManager('orgUnit', child)
        if (other === 0 || other === manager) units.add(child)
        else reports.add(other)
      }
    }
    return this.#idsOf('identity', reports)
  }

  /** The identities that decide as manager for some active position, as slots. */
  *leadersTask(): Task<Bitmap> {
    const { identity, relationship } = this.#rows.tables
    const leaders = emptyBitmap(identity.slotCount)
    const holder = this.#rows.link('identity')
    for (let slot = 1; slot < relationship.slotCount; slot += 1) {
      if (slot % POSITIONS_PER_STEP_COUNT === 0) yield
      const leader = this.#isActiveSlot(slot) ? this.#managerSlot(slot, holder.codeAt(slot)) : 0
      if (leader !== 0) setBit(leaders, leader)
    }
    return leaders
  }

  /** The rows of an identity: the slots of identity, org unit and relationship. */
  rowsOf(identityId: string): (readonly [number, number, number])[] {
    const identity = this.#slotOf('identity', identityId)
    if (!this.#rows.tables.identity.isLive(identity)) return []
    const positions = this.#positionSlots('identity', identity)
    if (positions.length === 0) return [[identity, 0, 0]]
    return positions.map((slot) => [identity, this.#rows.link('orgUnit').codeAt(slot), slot])
  }

  /** The identities with a position in the org unit. */
  holdersIn(orgUnitId: string): string[] {
    const slots = this.#positionSlots('orgUnit', this.#slotOf('orgUnit', orgUnitId))
    return this.#idsOf('identity', new Set(slots.map((slot) => this.#rows.link('identity').codeAt(slot))))
  }

  #managerSlot(relationship: number, subject: number): number {
    const own = this.#liveManager('relationship', relationship)
    if (own !== 0 && own !== subject) return own
    const seen = new Set<number>()
    let unit = this.#rows.link('orgUnit').codeAt(relationship)
    while (this.#rows.tables.orgUnit.isLive(unit) && !seen.has(unit)) {
      const manager = this.#liveManager('orgUnit', unit)
      if (manager !== 0 && manager !== subject) return manager
      seen.add(unit)
      unit = this.#parent.codeAt(unit)
    }
    return 0
  }

  #liveManager(of: 'relationship' | 'orgUnit', slot: number): number {
    const manager = this.#manager[of].codeAt(slot)
    return this.#rows.tables.identity.isLive(manager) ? manager : 0
  }

  #unitsByParent(): Map<number, number[]> {
    const { orgUnit } = this.#rows.tables
    const children = new Map<number, number[]>()
    for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
      const parent = this.#parent.codeAt(unit)
      if (parent === 0 || !orgUnit.isLive(unit)) continue
      const siblings = children.get(parent)
      if (siblings === undefined) children.set(parent, [unit])
      else siblings.push(unit)
    }
    return children
  }

  #positionSlots(of: LinkedType, target: number): number[] {
    const referrers = this.#rows.referrers[of]
    const slots: number[] = []
    if (target === 0) return slots
    for (let slot = referrers.first(target); slot !== 0; slot = referrers.next(slot)) slots.push(slot)
    return slots
  }

  #slotOf(objectType: ObjectType, id: string): number {
    return this.#rows.tables[objectType].ids.codeOf(id)
  }

  /** Ids of the objects that exist. */
  #idsOf(objectType: ObjectType, slots: Iterable<number>): string[] {
    const table = this.#rows.tables[objectType]
    return [...slots].filter((slot) => table.isLive(slot)).map((slot) => table.ids.idOf(slot))
  }
}

/** Positions looked at in one step of a task. */
const POSITIONS_PER_STEP_COUNT = 1024

function slotsWith(column: Column, code: number, slotCount: number): number[] {
  const codes = column.codes(slotCount)
  const slots: number[] = []
  for (let slot = 1; slot < slotCount; slot += 1) if (codes[slot] === code) slots.push(slot)
  return slots
}
