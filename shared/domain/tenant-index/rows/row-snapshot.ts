import { runToCompletion, type Task } from '../../../kernel/cooperative-scheduler.ts'
import { type LinkedType, OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import { DEFAULT_ROW_SETTINGS, type RowSettings } from '../row-settings.ts'
import { applyObjects, type SnapshotObject } from './apply-objects.ts'
import { type Bitmap, bitsWithout, countBits, hasBit, otherBits, removeBits } from './bitmap.ts'
import type { Column } from './column.ts'
import { slotsReferringTo } from './column.ts'
import { IdTable } from './id-table.ts'
import { type IdTables, ObjectTable } from './object-table.ts'
import { Referrers } from './referrers.ts'
import type { SnapshotChange } from './snapshot-change.ts'

/**
 * A tenant's rows in columnar form. Every relationship is a row together with its identity and org unit; an identity or
 * org unit without relationships is a row of its own. Each object is stored once, in the table
 * of its type, and rows follow the relationship's references. A changed identity costs the same with one position or
 * many.
 */
export class RowSnapshot {
  readonly tables: Readonly<Record<ObjectType, ObjectTable>>
  /** By which the values were read. */
  readonly settings: RowSettings
  /** The relationships of each identity and of each org unit. */
  readonly referrers: Readonly<Record<LinkedType, Referrers>>
  /** The org units below each one, by their parent. */
  readonly childUnits: Referrers
  /** The same object for a snapshot and all its forks, which share their values and codes. */
  readonly family: object
  /** A new object after each change. Data computed from the rows stay valid while it is the same. */
  revision: object = {}
  readonly #links: Readonly<Record<LinkedType, Column>>

  /**
   * @param origin The snapshot to fork; without one, the snapshot is empty.
   * @param settings Of an empty snapshot; a fork has those of its origin.
   */
  constructor(origin?: RowSnapshot, settings: RowSettings = DEFAULT_ROW_SETTINGS) {
    this.settings = origin?.settings ?? settings
    this.tables = origin === undefined ? emptyTables(settings) : byType((type) => origin.tables[type].forked())
    this.referrers = {
      identity: origin?.referrers.identity.forked() ?? new Referrers(),
      orgUnit: origin?.referrers.orgUnit.forked() ?? new Referrers(),
    }
    this.childUnits = origin?.childUnits.forked() ?? new Referrers()
    this.family = origin?.family ?? {}
    if (origin !== undefined) this.revision = origin.revision
    const { relationship } = this.tables
    this.#links = { identity: relationship.column('identity'), orgUnit: relationship.column('orgUnit') }
  }

  /**
   * A copy to be changed instead of this snapshot, which must not change any more. Both share unchanged data and the
   * dictionaries of values, so results about distinct values hold for both.
   */
  forked(): RowSnapshot {
    return new RowSnapshot(this)
  }

  /** Applies the current state of objects, in any order and repeatedly. A reference may come before its target. */
  apply(objects: readonly SnapshotObject[]): SnapshotChange {
    return runToCompletion(this.applyTask(objects))
  }

  /** Applies objects in steps. Between them, the snapshot has some of the changes and must not be read. */
  *applyTask(objects: readonly SnapshotObject[]): Task<SnapshotChange> {
    const change = yield* applyObjects(objects, this)
    if (change.rowsMoved || change.attributes.size > 0) this.revision = {}
    return change
  }

  /** Sorts the ids of all objects. Without it, the first list of objects would do so without a pause. */
  *sortIds(): Task<void> {
    for (const type of OBJECT_TYPES) yield* this.tables[type].ids.sort()
  }

  /** Live objects of all types. */
  get objectCount(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.tables[type].liveCount, 0)
  }

  get rowCount(): number {
    return this.tables.relationship.liveCount + countBits(this.alone('identity')) + countBits(this.alone('orgUnit'))
  }

  /** The approximate memory of rows, columns and dictionaries. A fork counts what it shares with its origin. */
  get sizeBytes(): number {
    const { identity, orgUnit } = this.referrers
    const referrers = identity.sizeBytes + orgUnit.sizeBytes + this.childUnits.sizeBytes
    return OBJECT_TYPES.reduce((sum, type) => sum + this.tables[type].sizeBytes, referrers)
  }

  /** The number of ids and distinct values, which grows with every change and never shrinks. */
  get seenCount(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.tables[type].seenCount, 0)
  }

  /** The column of relationships that refers to identities or org units. Codes are slots. */
  link(to: LinkedType): Column {
    return this.#links[to]
  }

  /**
   * The relationships in `mask` that refer to one of the targets; slot 0 stands for relationships without a target.
   * When these, or all others, are few, they are found from their targets instead of one by one.
   */
  referringTo(to: LinkedType, targets: Bitmap, mask: Bitmap): Bitmap {
    const link = this.#links[to]
    const isOfOthers = hasBit(targets, 0)
    const followed = isOfOthers ? otherBits(targets) : targets
    const atMostCount = mask.length
    // Following all referrers is given up after `atMostCount`. It is not begun when more than that are likely.
    const likelyCount = (countBits(followed) * link.valueCount) / this.tables[to].slotCount
    if (likelyCount > atMostCount) return slotsReferringTo(link, targets, false, mask)
    const found = this.referrers[to].of(followed, mask, atMostCount)
    if (found === undefined) return slotsReferringTo(link, targets, false, mask)
    return isOfOthers ? bitsWithout(mask, found) : found
  }

  /** Slots of the objects without relationships, which are rows of their own. */
  alone(objectType: LinkedType): Bitmap {
    const alone = this.tables[objectType].liveSlots()
    removeBits(alone, this.referrers[objectType].referredSlots(this.tables[objectType].slotCount))
    return alone
  }

  /** The custom attributes of live objects, for `conditionSchema`. */
  customAttributes(): Record<ObjectType, string[]> {
    const { identity, orgUnit, relationship } = this.tables
    return {
      identity: identity.customAttributes(),
      orgUnit: orgUnit.customAttributes(),
      relationship: relationship.customAttributes(),
    }
  }

  /** Whether the object exists and is not deleted. */
  has(objectType: ObjectType, id: string): boolean {
    const table = this.tables[objectType]
    return table.isLive(table.ids.codeOf(id))
  }

  /** The display name of an object; of a relationship the identity's name and the title. Undefined when unknown. */
  displayNameOf(objectType: ObjectType, id: string): string | undefined {
    const slot = this.tables[objectType].ids.codeOf(id)
    if (objectType !== 'relationship') return this.#text(objectType, 'displayName', slot)
    const holder = this.#text('identity', 'displayName', this.#links.identity.codeAt(slot))
    const parts = [holder, this.#text('relationship', 'title', slot)].filter((part) => part !== undefined)
    return parts.length === 0 ? undefined : parts.join(', ')
  }

  /** The value of a text attribute; undefined when the object or the value is unknown. */
  textOf(objectType: ObjectType, attribute: string, id: string): string | undefined {
    return this.#text(objectType, attribute, this.tables[objectType].ids.codeOf(id))
  }

  /** The directory account of an identity, or of the identity that holds a relationship. */
  accountOf(holder: 'identity' | 'relationship', id: string): string | undefined {
    const slot = this.tables[holder].ids.codeOf(id)
    return this.#text('identity', 'directoryObjectId', holder === 'identity' ? slot : this.#links.identity.codeAt(slot))
  }

  /** Whether a position exists that names no holder. */
  isVacant(relationshipId: string): boolean {
    const { relationship } = this.tables
    const slot = relationship.ids.codeOf(relationshipId)
    return relationship.isLive(slot) && this.#links.identity.codeAt(slot) === 0
  }

  /** The identity of a directory account; the one with the lowest id if there are several. */
  identityOfAccount(directoryObjectId: string): string | undefined {
    const { identity } = this.tables
    const account = identity.column('directoryObjectId')
    const code = account.values.kind === 'text' ? account.values.codeOf(directoryObjectId.toLowerCase()) : 0
    if (code === 0) return undefined
    const codes = account.codes(identity.slotCount)
    const ids: string[] = []
    for (let slot = codes.indexOf(code); slot !== -1; slot = codes.indexOf(code, slot + 1))
      ids.push(identity.ids.idOf(slot))
    return ids.sort()[0]
  }

  /** The identity of a relationship; undefined when either does not exist. */
  holderOf(relationshipId: string): string | undefined {
    const { identity, relationship } = this.tables
    const slot = this.#links.identity.codeAt(relationship.ids.codeOf(relationshipId))
    return identity.isLive(slot) ? identity.ids.idOf(slot) : undefined
  }

  /** The org unit of a relationship; undefined when either does not exist. */
  orgUnitOf(relationshipId: string): string | undefined {
    const { orgUnit, relationship } = this.tables
    const slot = this.#links.orgUnit.codeAt(relationship.ids.codeOf(relationshipId))
    return orgUnit.isLive(slot) ? orgUnit.ids.idOf(slot) : undefined
  }

  /** The relationships of an identity. */
  heldBy(identityId: string): string[] {
    const { identity, relationship } = this.tables
    const held: string[] = []
    let slot = this.referrers.identity.first(identity.ids.codeOf(identityId))
    for (; slot !== 0; slot = this.referrers.identity.next(slot)) held.push(relationship.ids.idOf(slot))
    return held
  }

  /** The slots of identity, org unit and relationship on each row of an object; empty for an unknown one. */
  rowsOf(objectType: ObjectType, id: string): (readonly [number, number, number])[] {
    const slot = this.tables[objectType].ids.codeOf(id)
    if (!this.tables[objectType].isLive(slot)) return []
    if (objectType === 'relationship') return [this.#rowAt(slot)]
    const rows: (readonly [number, number, number])[] = []
    const referrers = this.referrers[objectType]
    let relationship = referrers.first(slot)
    for (; relationship !== 0; relationship = referrers.next(relationship)) rows.push(this.#rowAt(relationship))
    return rows.length > 0 ? rows : [objectType === 'identity' ? [slot, 0, 0] : [0, slot, 0]]
  }

  #rowAt(relationship: number): readonly [number, number, number] {
    return [this.#links.identity.codeAt(relationship), this.#links.orgUnit.codeAt(relationship), relationship]
  }

  #text(objectType: ObjectType, attribute: string, slot: number): string | undefined {
    const column = this.tables[objectType].column(attribute)
    const code = column.codeAt(slot)
    return code === 0 || column.values.kind !== 'text' ? undefined : column.values.dictionary.textOf(code)
  }
}

/** The beginning of the day of an instant in the time zone of the rows. */
export function dayOn({ settings: { zone } }: RowSnapshot, instantMs: number): number {
  return zone.startOfDay(instantMs)
}

function emptyTables(settings: RowSettings): Record<ObjectType, ObjectTable> {
  const ids: IdTables = byType(() => new IdTable())
  return byType((type) => ObjectTable.empty(type, ids, settings))
}

function byType<T>(make: (objectType: ObjectType) => T): Record<ObjectType, T> {
  return { identity: make('identity'), orgUnit: make('orgUnit'), relationship: make('relationship') }
}
