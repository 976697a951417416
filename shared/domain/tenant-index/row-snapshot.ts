import { type CoreObject, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { type Bitmap, countBits, removeBits } from './bitmap.ts'
import type { Column } from './column.ts'
import { Referrers } from './column.ts'
import { IdTable } from './id-table.ts'
import { type IdTables, ObjectTable } from './object-table.ts'
import { RecordedChange, type SnapshotChange } from './snapshot-change.ts'

/** What a snapshot needs of a core object. */
export type SnapshotObject = Pick<CoreObject, 'id' | 'objectType' | 'externalId' | 'attributes' | 'deleted'>

/** The two ends of a relationship. */
export type LinkedType = Exclude<ObjectType, 'relationship'>

/**
 * A tenant's rows, compactly. Every relationship gives one: itself, its identity, its org unit; an identity or org unit
 * without relationships gives one of its own (decisions, section 5). Each object is kept once, in the table of its type,
 * and rows are read through the relationship's references: so a changed identity costs the same with one position or many.
 */
export class RowSnapshot {
  readonly tables: Readonly<Record<ObjectType, ObjectTable>>
  /** The relationships of an identity and of an org unit. */
  readonly referrers: Readonly<Record<LinkedType, Referrers>>
  /** The same object for a snapshot and all its forks, which share their values and codes. */
  readonly family: object
  /** Another object after each change: what was made of the rows is true of them as long as it is the same. */
  revision: object = {}
  readonly #links: Readonly<Record<LinkedType, Column>>

  /** @param origin of which this becomes a fork; an empty snapshot without one. */
  constructor(origin?: RowSnapshot) {
    this.tables = origin === undefined ? emptyTables() : byType((type) => origin.tables[type].forked())
    this.referrers = {
      identity: origin?.referrers.identity.forked() ?? new Referrers(),
      orgUnit: origin?.referrers.orgUnit.forked() ?? new Referrers(),
    }
    this.family = origin?.family ?? {}
    if (origin !== undefined) this.revision = origin.revision
    const { relationship } = this.tables
    this.#links = { identity: relationship.column('identity'), orgUnit: relationship.column('orgUnit') }
  }

  /**
   * A snapshot that begins as this one is, to be changed instead of it: this one then never changes any more. They share
   * what was not written since, and the values with their codes, so what was decided about these holds for both.
   */
  forked(): RowSnapshot {
    return new RowSnapshot(this)
  }

  /** Takes in objects as they are now. Any order, any number of times; a reference may come before what it names. */
  apply(objects: readonly SnapshotObject[]): SnapshotChange {
    const change = new RecordedChange(this.tables)
    for (const object of objects) {
      if (object.objectType === 'relationship') this.#applyRelationship(object, change)
      else this.#applyLinked(object, object.objectType, change)
    }
    if (change.rowsMoved || change.attributes.size > 0) this.revision = {}
    return change
  }

  /** Live objects of all types. */
  get objectCount(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.tables[type].liveCount, 0)
  }

  get rowCount(): number {
    return this.tables.relationship.liveCount + countBits(this.alone('identity')) + countBits(this.alone('orgUnit'))
  }

  /** Ids and distinct values ever seen: what memory grows by while objects come, change and go. */
  get seenCount(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.tables[type].seenCount, 0)
  }

  /** The relationship's reference to its identity or org unit: codes are slots. */
  link(to: LinkedType): Column {
    return this.#links[to]
  }

  /** Slots of the objects that have no relationship, and so a row of their own. */
  alone(objectType: LinkedType): Bitmap {
    const alone = this.tables[objectType].liveSlots()
    removeBits(alone, this.referrers[objectType].referredSlots(this.tables[objectType].slotCount))
    return alone
  }

  /** Custom attributes that live objects have: what `conditionSchema` asks for. */
  customAttributes(): Record<ObjectType, string[]> {
    const { identity, orgUnit, relationship } = this.tables
    return {
      identity: identity.customAttributes(),
      orgUnit: orgUnit.customAttributes(),
      relationship: relationship.customAttributes(),
    }
  }

  /** Whether the object is there, and not deleted. */
  has(objectType: ObjectType, id: string): boolean {
    const table = this.tables[objectType]
    return table.isLive(table.ids.codeOf(id))
  }

  /** What to call an object; a relationship by its identity's name and its title. Undefined where nothing is known. */
  displayNameOf(objectType: ObjectType, id: string): string | undefined {
    const slot = this.tables[objectType].ids.codeOf(id)
    if (objectType !== 'relationship') return this.#text(objectType, 'displayName', slot)
    const holder = this.#text('identity', 'displayName', this.#links.identity.codeAt(slot))
    const parts = [holder, this.#text('relationship', 'title', slot)].filter((part) => part !== undefined)
    return parts.length === 0 ? undefined : parts.join(', ')
  }

  /** The directory account of an identity, or of the identity that holds a relationship. */
  accountOf(holder: 'identity' | 'relationship', id: string): string | undefined {
    const slot = this.tables[holder].ids.codeOf(id)
    return this.#text('identity', 'directoryObjectId', holder === 'identity' ? slot : this.#links.identity.codeAt(slot))
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

  /** The identity that holds a relationship; undefined when the relationship or the identity is not there. */
  holderOf(relationshipId: string): string | undefined {
    const { identity, relationship } = this.tables
    const slot = this.#links.identity.codeAt(relationship.ids.codeOf(relationshipId))
    return identity.isLive(slot) ? identity.ids.idOf(slot) : undefined
  }

  /** The relationships that an identity holds. */
  heldBy(identityId: string): string[] {
    const { identity, relationship } = this.tables
    const held: string[] = []
    let slot = this.referrers.identity.first(identity.ids.codeOf(identityId))
    for (; slot !== 0; slot = this.referrers.identity.next(slot)) held.push(relationship.ids.idOf(slot))
    return held
  }

  #text(objectType: ObjectType, attribute: string, slot: number): string | undefined {
    const column = this.tables[objectType].column(attribute)
    const code = column.codeAt(slot)
    return code === 0 || column.values.kind !== 'text' ? undefined : column.values.dictionary.textOf(code)
  }

  #applyRelationship(object: SnapshotObject, change: RecordedChange): void {
    const slot = this.#slotOf(object)
    if (slot === 0) return
    const identityBefore = this.#links.identity.codeAt(slot)
    const orgUnitBefore = this.#links.orgUnit.codeAt(slot)
    if (!this.#write(object, slot, change)) return
    change.touch('relationship', slot)
    this.#relink('identity', slot, identityBefore, change)
    this.#relink('orgUnit', slot, orgUnitBefore, change)
  }

  #relink(to: LinkedType, slot: number, before: number, change: RecordedChange): void {
    const now = this.#links[to].codeAt(slot)
    change.touchLive(to, before)
    change.touchLive(to, now)
    if (now === before) return
    this.referrers[to].remove(before, slot)
    this.referrers[to].add(now, slot)
    change.rowsMoved = true
  }

  #applyLinked(object: SnapshotObject, objectType: LinkedType, change: RecordedChange): void {
    const slot = this.#slotOf(object)
    if (slot === 0 || !this.#write(object, slot, change)) return
    change.touch(objectType, slot)
    const otherEnd = objectType === 'identity' ? 'orgUnit' : 'identity'
    const referrers = this.referrers[objectType]
    for (let relationship = referrers.first(slot); relationship !== 0; relationship = referrers.next(relationship)) {
      change.touch('relationship', relationship)
      change.touchLive(otherEnd, this.#links[otherEnd].codeAt(relationship))
    }
  }

  /** 0 when there is nothing to do: deleted, and never there. */
  #slotOf({ objectType, id, deleted }: SnapshotObject): number {
    const { ids } = this.tables[objectType]
    return deleted ? ids.codeOf(id) : ids.intern(id)
  }

  /** Whether the object is another than before. */
  #write(object: SnapshotObject, slot: number, change: RecordedChange): boolean {
    const table = this.tables[object.objectType]
    const wasLive = table.isLive(slot)
    if (object.deleted && !wasLive) return false
    if (wasLive === object.deleted) change.rowsMoved = true
    if (!object.deleted) return table.write(slot, object.externalId, object.attributes, change.attributes)
    table.clear(slot, change.attributes)
    return true
  }
}

function emptyTables(): Record<ObjectType, ObjectTable> {
  const ids: IdTables = byType(() => new IdTable())
  return byType((type) => ObjectTable.empty(type, ids))
}

function byType<T>(make: (objectType: ObjectType) => T): Record<ObjectType, T> {
  return { identity: make('identity'), orgUnit: make('orgUnit'), relationship: make('relationship') }
}
