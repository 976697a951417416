import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { PageRange } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { storedConditionTask } from '../collections/condition-entry.ts'
import { type LiveDependencies, lazyContext, objectTypeOf, withReferences } from '../collections/live-members.ts'
import type { ObjectType } from '../core/core-object.ts'
import { CORE_TYPE, type Row } from '../criteria/collection-members.ts'
import { compile, ROW_PLACE } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { objectEvaluationTask } from '../criteria/evaluate.ts'
import { type ExplainedGroup, explainTask } from '../criteria/explain.ts'
import { withCurrentApproverCounts } from '../membership-requests/approvers.ts'
import { lastToEnd } from '../membership-requests/ends.ts'
import type { MembershipRequest } from '../membership-requests/membership-request.ts'
import { approverSources, type RequestDependencies } from '../membership-requests/request-dependencies.ts'
import { toMembershipRequestDto } from '../membership-requests/request-names.ts'
import { hasFullAccess } from '../object-access/object-access.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ExplainedRow, Explanation } from './explanation.ts'

/** Who asks: with the own identity, if any, and whether any object may be explained or only own ones. */
export type Asker = { readonly caller: Caller; readonly identityId: string | undefined; readonly seesAll: boolean }

/** Of the rows' JSON: a response of 2 MB has room for them and for the rest. */
const ROWS_BYTES_COUNT = 1_900_000

export type VerdictDependencies = LiveDependencies &
  Pick<CollectionDependencies, 'memberships'> &
  Pick<RequestDependencies, 'requests' | 'membershipResolver'>

/** An object with its rows. */
export type Subject = { readonly objectType: ObjectType; readonly objectId: string; readonly rows: readonly Row[] }

/** Whether an object is a member of a collection, and why. */
export type Verdict = Pick<Explanation, 'isMember' | 'satisfies' | 'evaluatedAt' | 'rowCount' | 'rows' | 'request'> & {
  /** Ids under which the history of the collection names the object. */
  readonly memberIds: readonly string[]
  /** Positions that the decisive membership is for. Undefined: any. */
  readonly relationshipIds?: readonly (string | null)[]
  readonly membershipVersion: number
}

/**
 * The verdict of the condition and of the stored members. In a collection of the object's own type, the object itself is tested; in any other one, those objects on its rows
 * that the collection can have. An identity is tested in a collection of positions by all its positions.
 */
export async function criteriaVerdict(
  collection: Collection,
  subject: Subject & PageRange,
  asker: Asker,
  rows: RowSnapshot,
  deps: VerdictDependencies,
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
  { scheduler }: Pick<VerdictDependencies, 'scheduler'>,
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

/**
 * The verdict of requests to join. A position is a member by a membership of its holder for this position or for none. Of
 * several memberships the last to end decides: the object is a member until then.
 */
export async function joinableVerdict(
  collection: Collection,
  { objectType, objectId }: Subject,
  rows: RowSnapshot,
  deps: Pick<VerdictDependencies, 'joined' | 'nowMs' | 'requests' | 'membershipResolver'>,
): Promise<Verdict> {
  const { tenantId, id } = collection
  const identityId = objectType === 'relationship' ? rows.holderOf(objectId) : objectId
  const isOf = ({ relationshipId }: MembershipRequest) =>
    objectType === 'identity' || relationshipId === null || relationshipId === objectId
  const isPerson = identityId !== undefined && objectType !== 'orgUnit'
  const live = isPerson ? await deps.requests.liveIn(tenantId, id, [identityId]) : []
  const requests = live.map(({ value }) => value).filter(isOf)
  const decisive = lastToEnd(requests.filter(({ status }) => status === 'Joined')) ?? lastToEnd(requests)
  const orgChart = new OrgChart(rows, deps.nowMs())
  const shown = decisive === undefined ? [] : [decisive]
  const [request] = await withCurrentApproverCounts(shown, [collection], tenantId, approverSources(orgChart, deps))
  // The position that an Identity collection records can become null during a membership.
  const isByPosition = request !== undefined && collection.objectType === 'Relationship'
  return {
    isMember: request?.status === 'Joined',
    satisfies: null,
    evaluatedAt: toTimestamp(deps.nowMs()),
    rowCount: 0,
    rows: [],
    request: request === undefined ? null : toMembershipRequestDto(request, collection, orgChart),
    memberIds: isPerson ? [identityId] : [],
    ...(isByPosition && { relationshipIds: [request.relationshipId] }),
    membershipVersion: (await deps.joined.versions(tenantId, [id])).get(id) ?? 0,
  }
}
