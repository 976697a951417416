import { type Static, Type } from 'typebox'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

/** Ids in one list of a request. */
const MAX_IDS_COUNT = 1000

const Ids = (description: string) =>
  Type.Optional(Described(Nullable(Type.Array(Guid, { maxItems: MAX_IDS_COUNT })), description))

/** Body of a question for people. */
export const PeopleQuery = Type.Object({
  identityIds: Ids(`Ids of at most ${MAX_IDS_COUNT} identities.`),
  accounts: Ids(`Ids of at most ${MAX_IDS_COUNT} directory accounts (\`directoryObjectId\`).`),
})
export type PeopleQuery = Static<typeof PeopleQuery>

/** What distinguishes people of one name. */
export const PersonDto = Closed({
  identityId: Guid,
  displayName: Described(Nullable(Type.String()), 'Null when the identity has none.'),
  title: Described(
    Nullable(Type.String()),
    'The title of the primary position; of any position for an identity without a primary one.',
  ),
  orgUnitName: Described(Nullable(Type.String()), 'The name of the org unit of the same position.'),
  directoryObjectId: Described(Nullable(Guid), 'The directory account; null without one.'),
  directoryUserPrincipalName: Described(Nullable(Type.String()), 'The name of the account; null when unknown.'),
})
export type PersonDto = Static<typeof PersonDto>

/**
 * The live identities with one of the ids, then those with one of the accounts, in the order of the request. Unknown
 * ids are left out.
 */
export async function listPeople(
  tenantId: string,
  query: PeopleQuery,
  { snapshots }: Pick<CollectionDependencies, 'snapshots'>,
): Promise<PersonDto[]> {
  const rows = await snapshots.fresh(tenantId)
  return snapshots.reading(rows, peopleTask(query, rows))
}

/** People described in one step of the task. */
const PEOPLE_PER_STEP_COUNT = 128

function* peopleTask({ identityIds, accounts }: PeopleQuery, rows: RowSnapshot): Task<PersonDto[]> {
  const holders = yield* holdersTask(accounts ?? [], rows)
  const ids = [...(identityIds ?? []), ...(accounts ?? []).flatMap((account) => holders.get(account) ?? [])]
  const people: PersonDto[] = []
  for (const id of new Set(ids)) {
    if (people.length % PEOPLE_PER_STEP_COUNT === 0) yield
    if (rows.has('identity', id)) people.push(personDto(id, rows))
  }
  return people
}

/** Identities compared in one step of the task. */
const SLOTS_PER_STEP_COUNT = 16_384

/** The identities that have the accounts. */
function* holdersTask(accounts: readonly string[], rows: RowSnapshot): Task<ReadonlyMap<string, readonly string[]>> {
  const { identity } = rows.tables
  const column = identity.column('directoryObjectId')
  const { values } = column
  const holders = new Map<string, string[]>()
  if (accounts.length === 0 || values.kind !== 'text') return holders
  const accountOf = new Map(accounts.map((account) => [values.codeOf(account), account]))
  accountOf.delete(0)
  const codes = column.codes(identity.slotCount)
  for (let slot = 1; slot < identity.slotCount; slot += 1) {
    if (slot % SLOTS_PER_STEP_COUNT === 0) yield
    const account = accountOf.get(codes[slot] as number)
    if (account === undefined) continue
    holders.set(account, [...(holders.get(account) ?? []), identity.ids.idOf(slot)])
  }
  return holders
}

function personDto(identityId: string, rows: RowSnapshot): PersonDto {
  const position = positionOf(identityId, rows)
  const unit = position === undefined ? undefined : rows.orgUnitOf(position)
  const text = (attribute: string) => rows.textOf('identity', attribute, identityId) ?? null
  return {
    identityId,
    displayName: text('displayName'),
    title: (position && rows.textOf('relationship', 'title', position)) ?? null,
    orgUnitName: (unit && rows.textOf('orgUnit', 'displayName', unit)) ?? null,
    directoryObjectId: rows.accountOf('identity', identityId) ?? null,
    directoryUserPrincipalName: text('directoryUserPrincipalName'),
  }
}

/** The primary position of an identity; without one, that with the lowest id. */
function positionOf(identityId: string, rows: RowSnapshot): string | undefined {
  const { identity, relationship } = rows.tables
  const primary = identity.column('primaryRelationship').codeAt(identity.ids.codeOf(identityId))
  if (primary !== 0 && relationship.isLive(primary)) return relationship.ids.idOf(primary)
  return rows.heldBy(identityId).sort()[0]
}
