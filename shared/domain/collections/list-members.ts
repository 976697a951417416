import { type Static, Type } from 'typebox'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, characterCount, Described, Guid, Nullable } from '../../kernel/schema.ts'
import { type Page, type PageRange, pageFrom } from '../../kernel/versioned.ts'
import type { ObjectType } from '../core/core-object.ts'
import { compareNames, foldedText } from '../core/search-text.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { objectTypeOf } from './live-members.ts'
import { joinedMembersOf } from './membership-store.ts'
import { readCollection } from './read-collections.ts'

/** A member with the names that people know it by. */
export const MemberDto = Closed({
  objectId: Described(Guid, 'The id as in the results of the collection; in a joinable collection the identity.'),
  relationshipId: Described(
    Nullable(Guid),
    'In a criteria collection of relationships the same as `objectId`; in a joinable collection the position that the ' +
      'membership is for; otherwise null.',
  ),
  displayName: Described(
    Nullable(Type.String()),
    'The name of the org unit, or of the identity, also for a position. Null when it has none.',
  ),
  title: Described(Nullable(Type.String()), 'The title of the position.'),
  orgUnitName: Described(Nullable(Type.String()), 'The name of the org unit of the position.'),
  hasAccount: Described(Type.Boolean(), 'Whether the identity has a directory account.'),
})
export type MemberDto = Static<typeof MemberDto>

type MemberDependencies = Pick<CollectionDependencies, 'collections' | 'memberships' | 'joined' | 'snapshots' | 'nowMs'>

export type MemberQuery = PageRange & {
  /** Only members with this text in their display name or title, compared folded. */
  readonly text: string | undefined
}

/** As for searches of core objects. */
const TEXT_LIMIT_COUNT = 200

/**
 * A page of the members of a collection, ordered by display name; those without a name come last. The number of store
 * operations depends neither on the page nor on the collection.
 * @throws Refusal `CollectionNotFound`; `InvalidLength` for an empty text or one with too many characters.
 */
export async function listMembers(
  tenantId: string,
  collectionId: string,
  { text, after, size }: MemberQuery,
  deps: MemberDependencies,
): Promise<Page<MemberDto>> {
  const wanted = text?.trim()
  if (wanted === '' || characterCount(wanted ?? '') > TEXT_LIMIT_COUNT)
    throw new Refusal('InvalidLength', `text must have 1 to ${TEXT_LIMIT_COUNT} characters`, 'text')
  const { value: collection } = await readCollection(tenantId, collectionId, undefined, deps)
  const [memberships, rows] = await Promise.all([membershipsOf(collection, deps), deps.snapshots.fresh(tenantId)])
  const folded = wanted === undefined ? undefined : foldedText(wanted)
  return deps.snapshots.reading(rows, memberPageTask(memberships, rows, { text: folded, after, size }))
}

/**
 * A page of members with their names, ordered by display name; those without a name come last.
 * @param query.text Folded.
 */
export function* memberPageTask(
  memberships: readonly NamedMember[],
  rows: RowSnapshot,
  { text, after, size }: MemberQuery,
): Task<Page<MemberDto>> {
  const position = after === undefined ? undefined : (JSON.parse(after) as Position)
  const found = yield* selectedTask(memberships, rows, { text, after: position, count: size + 1 })
  const page = pageFrom(found, size, (entry) => JSON.stringify(entry.position))
  return { ...page, items: page.items.map(({ member }) => member) }
}

/** The ids of a member: its object, and in a joinable collection or for a position the relationship. */
export type NamedMember = {
  readonly holder: ObjectType
  readonly objectId: string
  readonly relationshipId: string | null
}

/**
 * Where a member stands in the order of names. Names longer than this many characters are ordered by their beginning,
 * so that a cursor has a bounded size.
 */
type Position = readonly [name: string | null, objectId: string, relationshipId: string]
const NAME_LENGTH_COUNT = 100

async function membershipsOf(
  collection: Collection,
  deps: Pick<MemberDependencies, 'joined' | 'memberships'>,
): Promise<NamedMember[]> {
  const { tenantId, id } = collection
  if (collection.kind === 'joinable') {
    const { memberships } = await joinedMembersOf(tenantId, id, deps.joined)
    return memberships.map(({ identityId, relationshipId }) => ({
      holder: 'identity',
      objectId: identityId,
      relationshipId,
    }))
  }
  const holder = CORE_TYPE[objectTypeOf(collection)]
  const ids = (await deps.memberships.members(tenantId, id))?.ids ?? []
  return ids.map((objectId) => ({ holder, objectId, relationshipId: holder === 'relationship' ? objectId : null }))
}

/** Members considered, sorted or described in one step of the task. */
const MEMBERS_PER_STEP_COUNT = 512

type Selected = { readonly member: MemberDto; readonly position: Position }
type Candidate = { readonly ids: NamedMember; readonly position: Position }

/**
 * The first members after a position. Keeps no more of them than asked for: a member that comes after all of these is
 * dropped after one comparison.
 */
function* selectedTask(
  memberships: readonly NamedMember[],
  rows: RowSnapshot,
  { text, after, count }: { text: string | undefined; after: Position | undefined; count: number },
): Task<Selected[]> {
  let first: readonly Candidate[] = []
  let open: Candidate[] = []
  for (const [index, ids] of memberships.entries()) {
    if (index % MEMBERS_PER_STEP_COUNT === 0) yield
    const position = positionOf(ids, rows)
    const bound = first.length < count ? undefined : first.at(-1)?.position
    if (after !== undefined && comparePositions(position, after) <= 0) continue
    if (bound !== undefined && comparePositions(position, bound) >= 0) continue
    if (text !== undefined && !isNamed(ids, text, rows)) continue
    open.push({ ids, position })
    if (open.length < MEMBERS_PER_STEP_COUNT) continue
    first = merged(first, open, count)
    open = []
    yield
  }
  first = merged(first, open, count)
  const selected: Selected[] = []
  for (const { ids, position } of first) {
    if (selected.length % MEMBERS_PER_STEP_COUNT === 0) yield
    selected.push({ member: memberDto(ids, rows), position })
  }
  return selected
}

/** The first candidates of two lists, in order. The first list is in order already. */
function merged(ordered: readonly Candidate[], more: Candidate[], count: number): Candidate[] {
  more.sort(inOrder)
  const all: Candidate[] = []
  let [left, right] = [0, 0]
  while (all.length < count && (left < ordered.length || right < more.length)) {
    const [first, second] = [ordered[left], more[right]]
    const isLeft = second === undefined || (first !== undefined && inOrder(first, second) < 0)
    all.push((isLeft ? first : second) as Candidate)
    if (isLeft) left += 1
    else right += 1
  }
  return all
}

const inOrder = (left: Candidate, right: Candidate): number => comparePositions(left.position, right.position)

function comparePositions(left: Position, right: Position): number {
  const [name, objectId, relationshipId] = left
  const [otherName, otherId, otherRelationship] = right
  if (name === null || otherName === null) {
    if (name !== otherName) return name === null ? 1 : -1
  } else {
    const order = compareNames(name, otherName)
    if (order !== 0) return order
  }
  if (objectId !== otherId) return objectId < otherId ? -1 : 1
  return relationshipId < otherRelationship ? -1 : Number(relationshipId > otherRelationship)
}

function positionOf(ids: NamedMember, rows: RowSnapshot): Position {
  const name = nameOf(ids, rows)?.slice(0, NAME_LENGTH_COUNT) ?? null
  return [name, ids.objectId, ids.relationshipId ?? '']
}

/** The name of an org unit or identity; for a position that of its holder. */
function nameOf({ holder, objectId }: NamedMember, rows: RowSnapshot): string | undefined {
  const owner = holder === 'relationship' ? rows.holderOf(objectId) : objectId
  return owner === undefined
    ? undefined
    : rows.textOf(holder === 'orgUnit' ? 'orgUnit' : 'identity', 'displayName', owner)
}

function titleOf({ relationshipId }: NamedMember, rows: RowSnapshot): string | undefined {
  return relationshipId === null ? undefined : rows.textOf('relationship', 'title', relationshipId)
}

function isNamed(ids: NamedMember, text: string, rows: RowSnapshot): boolean {
  const isIn = (name: string | undefined) => name !== undefined && foldedText(name).includes(text)
  return isIn(nameOf(ids, rows)) || isIn(titleOf(ids, rows))
}

function memberDto(ids: NamedMember, rows: RowSnapshot): MemberDto {
  const { holder, objectId, relationshipId } = ids
  const orgUnit = relationshipId === null ? undefined : rows.orgUnitOf(relationshipId)
  return {
    objectId,
    relationshipId,
    displayName: nameOf(ids, rows) ?? null,
    title: titleOf(ids, rows) ?? null,
    orgUnitName: (orgUnit && rows.textOf('orgUnit', 'displayName', orgUnit)) ?? null,
    hasAccount: holder !== 'orgUnit' && rows.accountOf(holder, objectId) !== undefined,
  }
}
