import type { CoreObject, LinkedType, ObjectType } from '../core/core-object.ts'
import {
  addBits,
  type Bitmap,
  commonBits,
  countBits,
  emptyBitmap,
  hasBit,
  setBit,
} from '../tenant-index/rows/bitmap.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

type SlotsByType = Readonly<Record<ObjectType, Bitmap>>

/** The objects of a tenant that a user may read. */
export interface VisibleObjects {
  has(object: Pick<CoreObject, 'objectType' | 'id'>): boolean
  count(objectType: ObjectType): number
  /** The first of their ids after one, or the first of all: at most `limitCount`, ascending. */
  idsAfter(objectType: ObjectType, after: string | undefined, limitCount: number): string[]
}

/** One bit per object: a set of a hundred thousand objects takes a few kilobytes. */
class VisibleRows implements VisibleObjects {
  readonly #rows: RowSnapshot
  readonly #slots: SlotsByType

  constructor(rows: RowSnapshot, slots: SlotsByType) {
    this.#rows = rows
    this.#slots = slots
  }

  has({ objectType, id }: Pick<CoreObject, 'objectType' | 'id'>): boolean {
    return hasBit(this.#slots[objectType], this.#rows.tables[objectType].ids.codeOf(id))
  }

  count(objectType: ObjectType): number {
    return countBits(this.#slots[objectType])
  }

  idsAfter(objectType: ObjectType, after: string | undefined, limitCount: number): string[] {
    return this.#rows.tables[objectType].ids.idsAfter(this.#slots[objectType], after, limitCount)
  }
}

/**
 * The objects that the user with this core identity may read: the identity, its relationships and their org units (the
 * unit only), the active relationships that name it as manager and their identities, and the org units that it manages
 * or is deputy of, with all sub-units, their relationships and the identities of these. Nothing without an identity.
 */
export function visibleObjects(identityId: string | undefined, rows: RowSnapshot, nowMs: number): VisibleObjects {
  const { identity, orgUnit, relationship } = rows.tables
  const slots = {
    identity: emptyBitmap(identity.slotCount),
    orgUnit: emptyBitmap(orgUnit.slotCount),
    relationship: emptyBitmap(relationship.slotCount),
  }
  const self = identityId === undefined ? 0 : identity.ids.codeOf(identityId)
  if (identityId === undefined || !identity.isLive(self)) return new VisibleRows(rows, slots)
  setBit(slots.identity, self)
  for (const own of relationshipsOf('identity', self, rows)) {
    setBit(slots.relationship, own)
    setBit(slots.orgUnit, rows.link('orgUnit').codeAt(own))
  }
  for (const id of new OrgChart(rows, nowMs).positionsLedBy(identityId)) {
    const led = relationship.ids.codeOf(id)
    setBit(slots.relationship, led)
    setBit(slots.identity, rows.link('identity').codeAt(led))
  }
  const delegated = unitsDelegatedTo(self, rows)
  addBits(slots.orgUnit, delegated)
  for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
    if (!hasBit(delegated, unit)) continue
    for (const held of relationshipsOf('orgUnit', unit, rows)) {
      setBit(slots.relationship, held)
      setBit(slots.identity, rows.link('identity').codeAt(held))
    }
  }
  // A reference may be missing or name an object that does not exist.
  return new VisibleRows(rows, {
    identity: commonBits(slots.identity, identity.liveSlots()),
    orgUnit: commonBits(slots.orgUnit, orgUnit.liveSlots()),
    relationship: slots.relationship,
  })
}

function* relationshipsOf(end: LinkedType, slot: number, rows: RowSnapshot): Generator<number> {
  const referrers = rows.referrers[end]
  for (let referrer = referrers.first(slot); referrer !== 0; referrer = referrers.next(referrer)) yield referrer
}

/** Follows parents from each unit up to a decided one. Each unit is visited once, so cycles in the data end as well. */
function unitsDelegatedTo(identity: number, rows: RowSnapshot): Bitmap {
  const { orgUnit } = rows.tables
  const parents = orgUnit.column('parent').codes(orgUnit.slotCount)
  const delegated = unitsLedBy(identity, rows)
  const isDecided = delegated.slice()
  for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
    const path: number[] = []
    let above = unit
    while (orgUnit.isLive(above) && !hasBit(isDecided, above)) {
      path.push(above)
      setBit(isDecided, above)
      above = parents[above] as number
    }
    if (hasBit(delegated, above)) for (const below of path) setBit(delegated, below)
  }
  return delegated
}

/** The org units that the identity manages or is deputy of. */
function unitsLedBy(identity: number, rows: RowSnapshot): Bitmap {
  const { orgUnit } = rows.tables
  const [manager, deputies] = [orgUnit.column('manager'), orgUnit.column('deputies')]
  const isDeputy = (unit: number): boolean =>
    deputies.values.kind === 'list' && deputies.values.contains(deputies.codeAt(unit), identity)
  const led = emptyBitmap(orgUnit.slotCount)
  for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
    if (manager.codeAt(unit) === identity || isDeputy(unit)) setBit(led, unit)
  }
  return led
}
