import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { PageRange } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { readCollection } from '../collections/read-collections.ts'
import { OBJECT_TYPES } from '../core/core-object.ts'
import { ALL_TIME, type MemberEvent, newestEvent } from '../history/member-history.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type ExplainedLinkDependencies, linkStandings } from './explained-links.ts'
import type { Explanation } from './explanation.ts'
import {
  type Asker,
  criteriaVerdict,
  joinableVerdict,
  type Subject,
  type Verdict,
  type VerdictDependencies,
} from './membership-verdict.ts'

export type ExplainDependencies = VerdictDependencies &
  ExplainedLinkDependencies &
  Pick<CollectionDependencies, 'history' | 'log'>

export type ExplainQuery = PageRange & { readonly collectionId: string; readonly objectId: string }

export const MAX_ROWS_COUNT = 20

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
  const newest = (memberId: string) => newestEvent(history[kind].ofObject(tenantId, id, memberId, ALL_TIME), isOf)
  const found = (await Promise.all(memberIds.map(newest))).filter((event) => event !== undefined)
  return found.sort((left, right) => right.membershipVersion - left.membershipVersion)[0]
}

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
