import type { Caller, Role } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { policyOf } from './join-policy.ts'
import { slotOf } from './membership-request.ts'
import { freshOrgChart, type Person, type RequestDependencies } from './request-dependencies.ts'

/** Who may ask for anybody: decisions, section 2. */
export const ELIGIBILITY_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

/** The collections that the person may ask to join, by name; without those where nothing is left to ask for. */
export async function eligibleCollections(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  return eligibleFor(person, await freshOrgChart(person.tenantId, deps), deps)
}

/**
 * The same for somebody, named by core identity id or directory object id.
 * @param identityId that of the caller, if it has one.
 * @throws Refusal `NotManager` for a caller who may ask for oneself and one's reports only, `IdentityNotFound` for others.
 */
export async function eligibleCollectionsOf(
  userId: string,
  caller: Caller,
  identityId: string | undefined,
  deps: RequestDependencies,
): Promise<Collection[]> {
  const { tenantId } = caller
  const orgChart = await freshOrgChart(tenantId, deps)
  const askedFor = orgChart.has('identity', userId) ? userId : orgChart.identityOfAccount(userId)
  if (!ELIGIBILITY_READERS.some((role) => caller.roles.has(role))) {
    const isOwnOrReport =
      askedFor !== undefined &&
      identityId !== undefined &&
      (askedFor === identityId || orgChart.isManagerOf(identityId, askedFor))
    if (!isOwnOrReport) throw new Refusal('NotManager', `${userId} does not report to the caller`)
  }
  if (askedFor === undefined) throw new Refusal('IdentityNotFound', `There is no identity of ${userId}`)
  return eligibleFor({ tenantId, identityId: askedFor }, orgChart, deps)
}

async function eligibleFor(person: Person, orgChart: OrgChart, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [joinables, live] = await Promise.all([
    deps.collections.list(tenantId, { kind: 'joinable' }),
    deps.requests.liveOf(tenantId, identityId),
  ])
  const taken = new Set(live.map(({ value }) => value.slot))
  const positions = orgChart.activePositionsOf(identityId)
  const open = joinables.filter((collection) => isAnythingLeft(collection, identityId, positions, taken))
  const asked = [...new Set(open.flatMap((collection) => policyOf(collection).joinableBy.collectionIds))]
  const memberOf = await deps.membershipResolver.collectionsOf(tenantId, identityId, asked, orgChart)
  return open.filter((collection) => {
    const { collectionIds } = policyOf(collection).joinableBy
    return collectionIds.length === 0 || collectionIds.some((id) => memberOf.has(id))
  })
}

function isAnythingLeft(
  collection: Collection,
  identityId: string,
  positions: readonly string[],
  taken: ReadonlySet<string>,
): boolean {
  const slots = positions.length === 0 ? [null] : positions
  return slots.some((position) => !taken.has(slotOf(collection, identityId, position)))
}
