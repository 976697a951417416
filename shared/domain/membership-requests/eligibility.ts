import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { JoinPolicy } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { RequestDependencies } from './request-dependencies.ts'

type Eligibility = Pick<RequestDependencies, 'membershipResolver'>

/** Whether the policy allows the subject of the request to join, by current memberships. */
export async function isEligible(
  { tenantId, requesterId }: Pick<MembershipRequest, 'tenantId' | 'requesterId'>,
  { joinableBy: { collectionIds } }: JoinPolicy,
  orgChart: OrgChart,
  { membershipResolver }: Eligibility,
): Promise<boolean> {
  if (collectionIds.length === 0) return true
  return (await membershipResolver.collectionsOf(tenantId, requesterId, collectionIds, orgChart)).size > 0
}

/** The identities of a tenant that the policy allows to join, for decisions on many requests. */
export async function eligibleIdentities(
  tenantId: string,
  { joinableBy: { collectionIds } }: JoinPolicy,
  orgChart: OrgChart,
  { membershipResolver }: Eligibility,
): Promise<(identityId: string) => boolean> {
  if (collectionIds.length === 0) return () => true
  const members = [...(await membershipResolver.identitiesIn(tenantId, collectionIds, orgChart)).values()]
  return (identityId) => members.some((identities) => identities.has(identityId))
}
