import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { storedConditionTask } from '../collections/condition-entry.ts'
import { type LiveDependencies, lazyContext, objectTypeOf, withReferences } from '../collections/live-members.ts'
import { readCollection } from '../collections/read-collections.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { CORE_TYPE, type Row } from '../criteria/collection-members.ts'
import { compile, ROW_PLACE } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { objectEvaluationTask } from '../criteria/evaluate.ts'
import { type ExplainedGroup, explainTask } from '../criteria/explain.ts'
import { MEMBER_CHANGE_CAUSES, type MemberEvent } from '../history/member-history.ts'
import { type MembershipRequest, MembershipRequestDto } from '../membership-requests/membership-request.ts'
import type { RequestDependencies } from '../membership-requests/request-dependencies.ts'
import { toMembershipRequestDto } from '../membership-requests/request-names.ts'
import { hasFullAccess } from '../object-access/object-access.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type ExplainedLinkDependencies, linkStandings } from './explained-links.ts'
import { LinkStanding } from './link-standing.ts'

/** The condition of a collection with the results on a row. The API description identifies the schema by its title. */
export const ExplainedCondition = Type.Unsafe<ExplainedGroup>({ type: 'object', title: 'ExplainedCondition' })

const ExplainedRow = Closed({
  identityId: Nullable(Guid),
  relationshipId: Nullable(Guid),
  orgUnitId: Nullable(Guid),
  holds: Type.Boolean(),
  condition: ExplainedCondition,
})
type ExplainedRow = Static<typeof ExplainedRow>

/** Why an object is, or is not, a member. */
export const Explanation = Closed({
  collectionId: Guid,
  objectId: Guid,
  verdict: Described(
    OneOf(['Member', 'NotMember', 'JoinsSoon', 'LeavesSoon']),
    '`JoinsSoon` and `LeavesSoon`: the stored members differ from what the condition says now.',
  ),
  isMember: Described(Type.Boolean(), 'Whether the object is among the stored members.'),
  satisfies: Described(
    Nullable(Type.Boolean()),
    'Whether the object satisfies the condition now; null for a joinable collection.',
  ),
  evaluatedAt: Described(
    Nullable(Timestamp),
    'When the stored members were evaluated; null before the first evaluation. For a joinable collection, now.',
  ),
  rowCount: Described(
    Type.Integer(),
    'Number of rows of the object on which the condition is evaluated; 0 for a joinable collection.',
  ),
  rows: Described(
    Type.Array(ExplainedRow),
    'A page of the rows of the object on which the condition is evaluated. Empty for a joinable collection.',
  ),
  request: Described(
    Nullable(MembershipRequestDto),
    'The request that makes the object a member, or else the one that waits; null in a criteria collection.',
  ),
  since: Described(
    Nullable(Timestamp),
    'When a member was last added, as far as the history of members is kept; null for an object that is no member.',
  ),
  cause: Described(
    Nullable(OneOf(MEMBER_CHANGE_CAUSES)),
    'Why a member was last added, as in the history of members; null as `since`.',
  ),
  until: Described(
    Nullable(Timestamp),
    'When the membership ends, as `endsAt` of its request; null without an end, and for an object that is no member.',
  ),
  links: Type.Array(LinkStanding),
})
export type Explanation = Static<typeof Explanation>

export type ExplainDependencies = LiveDependencies &
  ExplainedLinkDependencies &
  Pick<CollectionDependencies, 'memberships' | 'history' | 'log'> &
  Pick<RequestDependencies, 'requests'>

/** Who asks: with the own identity, if any, and whether any object may be explained or only own ones. */
export type Asker = { readonly caller: Caller; readonly identityId: string | undefined; readonly seesAll: boolean }

export type ExplainQuery = {
  readonly collectionId: string
  readonly objectId: string
  /** Number of the row after which the page starts. */
  readonly after: string | undefined
  readonly size: number
}

export const MAX_ROWS_COUNT = 20

/** Of the rows' JSON: a response of 2 MB has room for them and for the rest. */
const ROWS_BYTES_COUNT = 1_900_000

/** An object with its rows. */
type Subject = { readonly objectType: ObjectType; readonly objectId: string; readonly rows: readonly Row[] }

type Verdict = Pick<Explanation, 'isMember' | 'satisfies' | 'evaluatedAt' | 'rowCount' | 'rows' | 'request'> & {
  /** Ids under which the history of the collection names the object. */
  readonly memberIds: readonly string[]
  /** Positions that the memberships of the object are for. Undefined: any. */
  readonly relationshipIds?: readonly (string | null)[]
  readonly membershipVersion: number
}

/**
 * Explains the membership of one object. It is evaluated by the code and on the rows that evaluations use, with
 * everything that was written before the call. For a tenant whose rows are not in memory it waits until they are
 * loaded.
 * @throws Refusal `CollectionNotFound`; `ObjectNotFound`, also for an object that the caller may not ask about.
 */
export async function explainMembership(
  query: ExplainQuery,
  asker: Asker,
  deps: ExplainDependencies,
): Promise<{ data: Explanation; continueAfter?: string }> {
  const { collectionId, objectId } = query
  const { tenantId } = asker.caller
  const { value: collection } = await readCollection(tenantId, collectionId, undefined, deps)
  const rows = await deps.snapshots.fresh(tenantId)
  const subject = subjectOf(objectId, rows)
  if (subject === undefined || !(asker.seesAll || isOwn(subject, asker.identityId, rows)))
    throw new Refusal('ObjectNotFound', `There is no object ${objectId}`, 'objectId')
  const found =
    collection.kind === 'criteria'
      ? await criteriaVerdict(collection, { ...query, ...subject }, asker, rows, deps)
      : await joinableVerdict(collection, subject, rows, deps)
  const { memberIds, relationshipIds, membershipVersion, ...explained } = found
  const links = await linkStandings(collection, { ...subject, account: accountOf(subject, rows) }, found, rows, deps)
  const added = found.isMember ? await lastAddition(collection, found, deps) : undefined
  const since = added === undefined ? null : toTimestamp(added.atMs)
  const until = found.isMember ? (found.request?.endsAt ?? null) : null
  const reasons = { since, cause: added?.cause ?? null, until }
  const data = { collectionId, objectId, verdict: verdictOf(found), ...explained, ...reasons, links }
  const endRow = Number(query.after ?? 0) + data.rows.length
  return endRow < data.rowCount ? { data, continueAfter: String(endRow) } : { data }
}

/** The newest entry of the history that added the object; undefined when it is not kept. */
async function lastAddition(
  { tenantId, id, kind }: Collection,
  { memberIds, relationshipIds }: Verdict,
  { history }: Pick<ExplainDependencies, 'history'>,
): Promise<MemberEvent | undefined> {
  const isOf = ({ change, relationshipId = null }: MemberEvent) =>
    change === 'Added' && (relationshipIds === undefined || relationshipIds.includes(relationshipId))
  const newest = async (memberId: string): Promise<MemberEvent | undefined> => {
    for await (const events of history[kind].ofObject(tenantId, id, memberId, ALWAYS)) {
      const added = events.find(isOf)
      if (added !== undefined) return added
    }
    return undefined
  }
  const found = (await Promise.all(memberIds.map(newest))).filter((event) => event !== undefined)
  return found.sort((left, right) => right.membershipVersion - left.membershipVersion)[0]
}

const ALWAYS = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }

function verdictOf({ isMember, satisfies }: Pick<Verdict, 'isMember' | 'satisfies'>): Explanation['verdict'] {
  if (satisfies === null || satisfies === isMember) return isMember ? 'Member' : 'NotMember'
  return satisfies ? 'JoinsSoon' : 'LeavesSoon'
}

function subjectOf(objectId: string, rows: RowSnapshot): Subject | undefined {
  const objectType = OBJECT_TYPES.find((type) => rows.has(type, objectId))
  return objectType && { objectType, objectId, rows: rows.rowsOf(objectType, objectId) }
}

/** The own identity, and its positions. */
function isOwn({ objectType, objectId }: Subject, identityId: string | undefined, rows: RowSnapshot): boolean {
  if (identityId === undefined || objectType === 'orgUnit') return false
  return (objectType === 'identity' ? objectId : rows.holderOf(objectId)) === identityId
}

function accountOf({ objectType, objectId }: Subject, rows: RowSnapshot): string | null {
  return objectType === 'orgUnit' ? null : (rows.accountOf(objectType, objectId) ?? null)
}

/**
 * In a collection of the object's own type, the object itself is tested; in any other one, those objects on its rows
 * that the collection can have. An identity is tested in a collection of positions by all its positions.
 */
async function criteriaVerdict(
  collection: Collection,
  subject: Subject & Pick<ExplainQuery, 'after' | 'size'>,
  asker: Asker,
  rows: RowSnapshot,
  deps: ExplainDependencies,
): Promise<Verdict> {
  const { tenantId, id } = collection
  const objectType = objectTypeOf(collection)
  const type = CORE_TYPE[objectType]
  const condition = await deps.scheduler.run(storedConditionTask(collection, rows.settings.types))
  const tested = subject.rows.filter((row) => idAt(rows, type, row) !== null)
  const memberIds = [...new Set(tested.flatMap((row) => idAt(rows, type, row) ?? []))]
  const [head, members, references] = await Promise.all([
    deps.memberships.head(tenantId, id),
    deps.memberships.membersAmong(tenantId, id, memberIds),
    withReferences(tenantId, [...collectionsReferredTo(condition)], deps),
  ])
  const { context, running } = await lazyContext(tenantId, references, rows, dayOn(rows, deps.nowMs()), deps)
  const task = objectEvaluationTask(compile(condition), rows, objectType, memberIds, context)
  const results = await deps.snapshots.reading(rows, running(task))
  const startRow = Number(subject.after ?? 0)
  const page = tested.slice(startRow, startRow + subject.size)
  const shown = { showsCondition: hasFullAccess(asker.caller) }
  const explainable = page.map((row) => ({ row, showsSensitive: showsSensitive(asker, row, rows) }))
  const explained = await deps.snapshots.reading(
    rows,
    running(explainTask(condition, rows, explainable, context, shown)),
  )
  return {
    isMember: members.size > 0,
    satisfies: [...results.values()].includes(true),
    evaluatedAt: head === undefined ? null : toTimestamp(head.value.evaluatedAtMs),
    rowCount: tested.length,
    rows: await withinBytes(
      explained.map((explanation, index) => explainedRow(explanation, page[index] ?? [0, 0, 0], rows)),
      deps,
    ),
    request: null,
    memberIds: members.size === 0 ? memberIds : [...members],
    membershipVersion: head?.value.membershipVersion ?? 0,
  }
}

/** The first rows whose JSON is not too long. One row alone never is. */
function withinBytes(
  rows: readonly ExplainedRow[],
  { scheduler }: Pick<ExplainDependencies, 'scheduler'>,
): Promise<ExplainedRow[]> {
  return scheduler.run(firstRows(rows))
}

function* firstRows(rows: readonly ExplainedRow[]): Task<ExplainedRow[]> {
  const found: ExplainedRow[] = []
  let leftBytes = ROWS_BYTES_COUNT
  for (const row of rows) {
    yield
    leftBytes -= Buffer.byteLength(JSON.stringify(row))
    if (leftBytes < 0 && found.length > 0) break
    found.push(row)
  }
  return found
}

/** Sensitive attributes are those of identities. A caller may read all values of their own one. */
function showsSensitive({ caller, identityId }: Asker, row: Row, rows: RowSnapshot): boolean {
  return hasFullAccess(caller) || (identityId !== undefined && idAt(rows, 'identity', row) === identityId)
}

function explainedRow(condition: ExplainedGroup, row: Row, rows: RowSnapshot): ExplainedRow {
  return {
    identityId: idAt(rows, 'identity', row),
    relationshipId: idAt(rows, 'relationship', row),
    orgUnitId: idAt(rows, 'orgUnit', row),
    holds: condition.holds,
    condition,
  }
}

/** The id of the object of a type on a row; null when there is none. */
function idAt({ tables }: RowSnapshot, objectType: ObjectType, row: Row): string | null {
  const slot = row[ROW_PLACE[objectType]]
  return tables[objectType].isLive(slot) ? tables[objectType].ids.idOf(slot) : null
}

/** A position is a member by a membership of its holder for this position or for none. */
async function joinableVerdict(
  collection: Collection,
  { objectType, objectId }: Subject,
  rows: RowSnapshot,
  deps: Pick<ExplainDependencies, 'joined' | 'nowMs' | 'requests'>,
): Promise<Verdict> {
  const { tenantId, id } = collection
  const identityId = objectType === 'relationship' ? rows.holderOf(objectId) : objectId
  const isOf = ({ relationshipId }: MembershipRequest) =>
    objectType === 'identity' || relationshipId === null || relationshipId === objectId
  const isPerson = identityId !== undefined && objectType !== 'orgUnit'
  const live = isPerson ? await deps.requests.liveIn(tenantId, id, [identityId]) : []
  const requests = live.map(({ value }) => value).filter(isOf)
  const request = requests.find(({ status }) => status === 'Joined') ?? requests[0]
  const orgChart = new OrgChart(rows, deps.nowMs())
  return {
    isMember: request?.status === 'Joined',
    satisfies: null,
    evaluatedAt: toTimestamp(deps.nowMs()),
    rowCount: 0,
    rows: [],
    request: request === undefined ? null : toMembershipRequestDto(request, collection, orgChart),
    memberIds: isPerson ? [identityId] : [],
    ...(objectType === 'relationship' && { relationshipIds: [null, objectId] }),
    membershipVersion: (await deps.joined.versions(tenantId, [id])).get(id) ?? 0,
  }
}
