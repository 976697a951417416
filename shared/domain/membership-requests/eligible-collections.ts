import type { Caller, Role } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { policyOf } from './join-policy.ts'
import { slotOf } from './membership-request.ts'
import { freshOrgChart, type OrgChartSource, type Person, type RequestDependencies } from './request-dependencies.ts'

/** Roles that may read the eligible collections of any identity. */
export const ELIGIBILITY_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

type EligibleDependencies = OrgChartSource &
  Pick<RequestDependencies, 'collections' | 'membershipResolver' | 'requests'>

/** Lists the collections that the person may request to join, by name, without those where every slot is taken. */
export async function eligibleCollections(person: Person, deps: EligibleDependencies): Promise<Collection[]> {
  return eligibleFor(person, await freshOrgChart(person.tenantId, deps), deps)
}

/**
 * Lists the eligible collections of an identity, given by core identity id or directory object id.
 * @param identityId The caller's identity, if any.
 * @throws Refusal `NotManager` for an unknown or foreign identity when the caller may read only their own and their
 * reports' collections; `IdentityNotFound` for other callers.
 */
export async function eligibleCollectionsOf(
  userId: string,
  caller: Caller,
  identityId: string | undefined,
  deps: EligibleDependencies,
): Promise<Collection[]> {
  const { tenantId } = caller
  const orgChart = await freshOrgChart(tenantId, deps)
  const askedFor = orgChart.has('identity', userId) ? userId : orgChart.identityOfAccount(userId)
  if (!ELIGIBILITY_READERS.some((role) => caller.roles.has(role))) {
    const isOwnOrReport =
      askedFor !== undefined &&
      identityId !== undefined &&
      (askedFor === identityId || orgChart.isManagerOf(identityId, askedFor))
    if (!isOwnOrReport) throw new Refusal('NotManager', `Identity ${userId} does not report to the caller`)
  }
  if (askedFor === undefined) throw new Refusal('IdentityNotFound', `There is no identity ${userId}`)
  return eligibleFor({ tenantId, identityId: askedFor }, orgChart, deps)
}

async function eligibleFor(person: Person, orgChart: OrgChart, deps: EligibleDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [joinables, live] = await Promise.all([
    deps.collections.list(tenantId, 'joinable'),
    deps.requests.liveOf(tenantId, identityId),
  ])
  const taken = new Set(live.map(({ value }) => value.slot))
  const positions = orgChart.activePositionsOf(identityId)
  const open = joinables.filter((collection) => hasFreeSlot(collection, identityId, positions, taken))
  const requiredIds = [...new Set(open.flatMap((collection) => policyOf(collection).joinableBy.collectionIds))]
  const memberOf = await deps.membershipResolver.collectionsOf(tenantId, identityId, requiredIds, orgChart)
  return open.filter((collection) => {
    const { collectionIds } = policyOf(collection).joinableBy
    return collectionIds.length === 0 || collectionIds.some((id) => memberOf.has(id))
  })
}

function hasFreeSlot(
  collection: Collection,
  identityId: string,
  positions: readonly string[],
  taken: ReadonlySet<string>,
): boolean {
  const slots = positions.length === 0 ? [null] : positions
  return slots.some((position) => !taken.has(slotOf(collection, identityId, position)))
}
