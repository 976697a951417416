import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { ObjectType } from '../core/core-object.ts'
import { addBits, type Bitmap, commonBits, emptyBitmap, hasBit, setBit } from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { ROW_PLACE } from './compile.ts'

/** The object types of rows, as collections name them. */
export type RowObjectType = 'Identity' | 'Relationship' | 'OrgUnit'

/** The core object type of a collection's object type. */
export const CORE_TYPE = {
  Identity: 'identity',
  Relationship: 'relationship',
  OrgUnit: 'orgUnit',
} as const satisfies Record<RowObjectType, ObjectType>

export type JoinedMembership = { readonly identityId: string; readonly relationshipId: string | null }

/** The members of a collection. Ids are in lower case. Immutable. */
export type CollectionMembers =
  | { readonly kind: 'criteria'; readonly objectType: RowObjectType; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'joinable'; readonly memberships: readonly JoinedMembership[] }

/** The members of a criteria collection as slots of the snapshot on which it was evaluated. All of them live. */
export type MembersBySlot = { readonly kind: 'bySlot'; readonly objectType: RowObjectType; readonly slots: Bitmap }

/** The slots of a row's identity, org unit and relationship; 0 for none. See `ROW_PLACE`. */
export type Row = readonly [identity: number, orgUnit: number, relationship: number]

/**
 * Whether a row is a member of a collection. A membership whose position is gone, or has another holder, counts as
 * one for no position: the row may be older or newer than the membership.
 */
export function isRowOf(members: CollectionMembers | MembersBySlot, row: Row, snapshot: RowSnapshot): boolean {
  if (members.kind === 'bySlot') return hasBit(members.slots, row[ROW_PLACE[CORE_TYPE[members.objectType]]])
  if (members.kind === 'criteria') {
    const objectType = CORE_TYPE[members.objectType]
    const slot = row[ROW_PLACE[objectType]]
    const { isLive, ids } = { isLive: snapshot.tables[objectType].isLive(slot), ids: snapshot.tables[objectType].ids }
    return isLive && members.ids.has(ids.idOf(slot))
  }
  if (!snapshot.tables.identity.isLive(row[0])) return false
  const identityId = snapshot.tables.identity.ids.idOf(row[0])
  const positions = positionsByIdentity(members.memberships).get(identityId)
  if (positions === undefined) return false
  if (row[2] !== 0 && positions.has(snapshot.tables.relationship.ids.idOf(row[2]))) return true
  return positions.values().some((position) => position === null || !isHeldBy(position, identityId, snapshot))
}

/**
 * Of some people, those who have joined a collection at one of these positions. When such a position gets another
 * holder, it depends on that whether the membership counts for the other positions of the person.
 */
export function joinedAt(
  positions: ReadonlySet<string>,
  people: ReadonlySet<string>,
  members: CollectionMembers | undefined,
): string[] {
  if (members?.kind !== 'joinable') return []
  const joined = positionsByIdentity(members.memberships)
  const isJoinedAt = (position: string | null) => position !== null && positions.has(position)
  return [...people].filter((id) => joined.get(id)?.values().some(isJoinedAt) === true)
}

/** The members of a collection as slots of a snapshot. Looked up once for all leaves that refer to the collection. */
export type MemberSlots = Readonly<Partial<Record<ObjectType, Bitmap>>>

/** The slots of a collection's live members: objects of its type; identities and relationships for a joinable one. */
export function* memberSlots(members: CollectionMembers | MembersBySlot, snapshot: RowSnapshot): Task<MemberSlots> {
  if (members.kind === 'bySlot') return { [CORE_TYPE[members.objectType]]: members.slots }
  if (members.kind === 'criteria') {
    const of = CORE_TYPE[members.objectType]
    return { [of]: yield* slotsOf(of, members.ids, snapshot) }
  }
  const anyPosition: string[] = []
  const onePosition: string[] = []
  for (const { identityId, relationshipId } of members.memberships) {
    if (relationshipId !== null && isHeldBy(relationshipId, identityId, snapshot)) onePosition.push(relationshipId)
    else anyPosition.push(identityId)
  }
  const identity = yield* slotsOf('identity', anyPosition, snapshot)
  return { identity, relationship: yield* slotsOf('relationship', onePosition, snapshot) }
}

/** The rows in `mask`, slots of `objectType`, that are members of a collection. */
export function rowsOf(members: MemberSlots, objectType: ObjectType, mask: Bitmap, snapshot: RowSnapshot): Bitmap {
  const [rows = new Int32Array(mask.length), ...more] = (Object.entries(members) as [ObjectType, Bitmap][]).map(
    ([of, slots]) => rowsWith(of, slots, objectType, mask, snapshot),
  )
  for (const others of more) addBits(rows, others)
  return rows
}

/** Ids looked up in one step of the task. */
const IDS_PER_STEP_COUNT = 1024

function* slotsOf(objectType: ObjectType, ids: Iterable<string>, snapshot: RowSnapshot): Task<Bitmap> {
  const table = snapshot.tables[objectType]
  const slots = emptyBitmap(table.slotCount)
  let count = 0
  for (const id of ids) {
    count += 1
    if (count % IDS_PER_STEP_COUNT === 0) yield
    const slot = table.ids.codeOf(id)
    if (table.isLive(slot)) setBit(slots, slot)
  }
  return slots
}

function rowsWith(of: ObjectType, slots: Bitmap, objectType: ObjectType, mask: Bitmap, snapshot: RowSnapshot): Bitmap {
  if (of === objectType) return commonBits(mask, slots)
  if (of === 'relationship' || objectType !== 'relationship') return new Int32Array(mask.length)
  return snapshot.referringTo(of, slots, mask)
}

/** Whether a live identity holds the relationship. */
function isHeldBy(relationshipId: string, identityId: string, snapshot: RowSnapshot): boolean {
  const { identity, relationship } = snapshot.tables
  const slot = identity.ids.codeOf(identityId)
  return identity.isLive(slot) && snapshot.link('identity').codeAt(relationship.ids.codeOf(relationshipId)) === slot
}

const POSITIONS = new WeakMap<readonly JoinedMembership[], ReadonlyMap<string, ReadonlySet<string | null>>>()

/** Computed once per list: a thousand conditions may use the same list for one object. */
function positionsByIdentity(memberships: readonly JoinedMembership[]) {
  const known = POSITIONS.get(memberships)
  if (known !== undefined) return known
  const positions = new Map<string, Set<string | null>>()
  for (const { identityId, relationshipId } of memberships) {
    const held = positions.get(identityId)
    if (held === undefined) positions.set(identityId, new Set([relationshipId]))
    else held.add(relationshipId)
  }
  POSITIONS.set(memberships, positions)
  return positions
}
