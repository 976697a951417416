import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import type { CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Days turn at midnight UTC: decisions, section 10. */
export function dayOf(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS) * DAY_MS
}

/** What evaluation needs besides the rows: today, and the members of the collections that a condition names. */
export async function evaluationContext(
  tenantId: string,
  referredTo: ReadonlySet<string>,
  deps: Pick<CollectionDependencies, 'collections' | 'memberships' | 'joined' | 'nowMs'>,
): Promise<EvaluationContext> {
  const collections = await deps.collections.existing(tenantId, [...referredTo])
  const members = new Map<string, CollectionMembers>()
  const joinables = collections.filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
  for (const [id, { memberships }] of await deps.joined.of(tenantId, joinables)) {
    members.set(id, { kind: 'joinable', memberships })
  }
  for (const { id, kind, objectType } of collections) {
    if (kind !== 'criteria') continue
    const membership = await deps.memberships.members(tenantId, id)
    members.set(id, {
      kind: 'criteria',
      objectType: objectType as CriteriaObjectType,
      ids: new Set(membership?.ids ?? []),
    })
  }
  return { todayMs: dayOf(deps.nowMs()), membersOf: (id) => members.get(id) }
}
