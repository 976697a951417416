import { Type } from 'typebox'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import { CriteriaCollectionUpdate } from '../collections/collection.ts'
import { type MemberDto, memberPageTask, type NamedMember } from '../collections/list-members.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import { type CriteriaUpdate, prepareCriteriaUpdate } from '../collections/manage-criteria.ts'
import { CORE_TYPE, type RowObjectType } from '../criteria/collection-members.ts'
import { type Bitmap, bitsWithout, hasBit } from '../tenant-index/rows/bitmap.ts'
import { slotsIn } from '../tenant-index/rows/column.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type PlanDependencies, type PlanInput, readPlanInput } from './plan-input.ts'
import { identitiesBehind, type LinkToPlan, PlannedAccounts } from './planned-accounts.ts'
import { type MembersOfBoth, PlannedMembers } from './planned-members.ts'

/** Body of a question for the people behind a number of a plan: the plan's body, and the number. */
export const PlannedPeopleQuery = Type.Object({
  ...CriteriaCollectionUpdate.properties,
  collectionId: Type.Optional(
    Described(Nullable(Guid), 'A collection of the plan: whom it gains or loses. Either this or `linkId`.'),
  ),
  linkId: Type.Optional(
    Described(Nullable(Guid), 'A link of the plan: whose accounts become due. Either this or `collectionId`.'),
  ),
  change: Described(OneOf(['added', 'removed']), '`removed` of a link: those that are due and those that are paused.'),
})
/** A number of a plan. Undefined and null: not given. */
type AskedNumber = {
  readonly collectionId: string | null | undefined
  readonly linkId: string | null | undefined
  readonly change: 'added' | 'removed'
}

type Asked = { readonly change: 'added' | 'removed' } & (
  | { readonly collectionId: string }
  | { readonly linkId: string }
)

/**
 * A page of the people behind a number of a plan, ordered by name. Writes nothing.
 * @throws Refusal `MissingMember` without `collectionId` and `linkId`, `InvalidMember` with both, `LinkNotFound` for a
 * link that the change cannot affect, and as `planUpdate`.
 */
export async function listPlannedPeople(
  update: CriteriaUpdate,
  query: AskedNumber,
  { after, size }: PageRange,
  deps: PlanDependencies,
): Promise<Page<MemberDto>> {
  const wanted = askedOf(query)
  const prepared = await prepareCriteriaUpdate(update, deps)
  const input = await readPlanInput({ before: prepared.before.value, after: prepared.after }, false, deps)
  if ('linkId' in wanted && linkIn(input, wanted.linkId) === undefined)
    throw new Refusal('LinkNotFound', `The plan has no link ${wanted.linkId}`)
  const nowMs = deps.nowMs()
  const rows = await deps.snapshots.fresh(update.caller.tenantId)
  const page = { text: undefined, after, size }
  return deps.snapshots.reading(rows, pageTask(input, wanted, rows, nowMs, page))
}

function askedOf({ collectionId, linkId, change }: AskedNumber): Asked {
  const [collection, link] = [collectionId ?? undefined, linkId ?? undefined]
  if (collection !== undefined && link !== undefined)
    throw new Refusal('InvalidMember', 'Specify either collectionId or linkId', '/linkId')
  if (collection !== undefined) return { collectionId: collection, change }
  if (link !== undefined) return { linkId: link, change }
  throw new Refusal('MissingMember', 'collectionId or linkId is required', '/collectionId')
}

function linkIn({ links }: PlanInput, linkId: string): LinkToPlan | undefined {
  return [...links.values()].flat().find(({ link }) => link.id === linkId)
}

/** One task, so that people and names are of the same state of the rows. */
function* pageTask(
  input: PlanInput,
  wanted: Asked,
  rows: RowSnapshot,
  nowMs: number,
  page: Parameters<typeof memberPageTask>[2],
): Task<Page<MemberDto>> {
  const { graph, joined, stored, conditions } = input
  const conditionOf = (collection: Parameters<typeof conditions.get>[0]) => conditions.get(collection)
  const planned = new PlannedMembers({ graph, rows, todayMs: dayOn(rows, nowMs), conditionOf, joined, stored })
  const link = 'linkId' in wanted ? linkIn(input, wanted.linkId) : undefined
  const collectionId = 'collectionId' in wanted ? wanted.collectionId : link?.link.collectionId
  let people: readonly NamedMember[] = []
  yield* planned.evaluate(function* (collection, members) {
    if (collection.id !== collectionId) return
    const objectType = objectTypeOf(collection)
    people =
      link === undefined
        ? changedMembers(objectType, members, wanted.change, rows)
        : yield* changedAccountsTask(objectType, members, wanted.change, { link, rows, input, nowMs })
    yield
  })
  return yield* memberPageTask(people, rows, page)
}

function changedMembers(
  objectType: RowObjectType,
  { before, after }: MembersOfBoth,
  change: Asked['change'],
  rows: RowSnapshot,
): NamedMember[] {
  const holder = CORE_TYPE[objectType]
  const changed = change === 'added' ? bitsWithout(after, before) : bitsWithout(before, after)
  return [...slotsIn(changed)].map((slot) => {
    const objectId = rows.tables[holder].ids.idOf(slot)
    return { holder, objectId, relationshipId: holder === 'relationship' ? objectId : null }
  })
}

/** The identities whose accounts become due. */
function* changedAccountsTask(
  objectType: RowObjectType,
  members: MembersOfBoth,
  change: Asked['change'],
  {
    link,
    rows,
    input,
    nowMs,
  }: { readonly link: LinkToPlan; readonly rows: RowSnapshot; readonly input: PlanInput; readonly nowMs: number },
): Task<NamedMember[]> {
  if (CORE_TYPE[objectType] === 'orgUnit') return []
  const accounts = new PlannedAccounts(rows, input.guard, nowMs)
  const accountsOf = (objects: Bitmap) => accounts.accountsOf(objectType, objects)
  const both = { before: accountsOf(members.before), after: accountsOf(members.after) }
  const codes = accounts.differenceOf(link, both)[change]
  const { identity } = rows.tables
  const account = identity.column('directoryObjectId')
  const [effect] = change === 'removed' ? yield* accounts.effectsOn([link], objectType, members) : []
  const freed = new Set(effect?.freed.map((id) => accounts.codeOf(id)))
  const behind = identitiesBehind(objectType, change === 'added' ? members.after : members.before, rows)
  const people: NamedMember[] = []
  // Held accounts belong to people who are no members any more.
  for (const slot of slotsIn(freed.size === 0 ? behind : identity.liveSlots())) {
    const code = account.codeAt(slot)
    if (code === 0 || !(freed.has(code) || (hasBit(behind, slot) && hasBit(codes, code)))) continue
    people.push({ holder: 'identity', objectId: identity.ids.idOf(slot), relationshipId: null })
  }
  return people
}
