import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { requireIfMatch, type Versioned } from '../../kernel/versioned.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { type RequestName, refusalMessage, requireVisibleRequest } from './act-on-request.ts'
import { recheckPolicy } from './apply-policy.ts'
import { approverCounter } from './approvers.ts'
import { type Actor, decideRequest } from './decide-request.ts'
import { isEligible } from './eligibility.ts'
import { allowedEnd, DateInput, futureEndMs } from './ends.ts'
import { type ApprovalGate, gatesOf, policyOf } from './join-policy.ts'
import { type MembershipRequest, type MembershipRequestDto, Notes } from './membership-request.ts'
import { approverSources, freshOrgChart, type RequestDependencies } from './request-dependencies.ts'
import { toMembershipRequestDto } from './request-names.ts'

/** Body of extend. */
export const MembershipExtension = Type.Object({ endsAt: DateInput, notes: Type.Optional(Notes) })

/** Who extends a membership. A writer of collections can extend any membership. */
export type Extender = { readonly actor: Actor; readonly isWriter: boolean }

/**
 * Asks for a later end of a membership: the extension passes the approval gates, or is granted at once without any.
 * @throws Refusal `InvalidEnd`, `CollectionNotFound`, `RequestNotFound`, `PreconditionFailed`, `EndTooLate`,
 * `InvalidRequestState`, `NotRequester`, `EndNotLater`, `LifecycleTooLarge`, `NotEligible`,
 * `NoApprover`.
 */
export async function extendMembership(
  name: RequestName,
  { endsAt, notes }: Static<typeof MembershipExtension>,
  { actor, isWriter }: Extender,
  ifMatch: string | undefined,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequestDto>> {
  const { identityId } = actor
  const { zone } = await freshOrgChart(name.tenantId, deps)
  const endMs = futureEndMs(endsAt, zone, deps.nowMs())
  const { request, collection, orgChart } = await requireVisibleRequest(
    name,
    { identityId, seesAll: isWriter },
    deps,
    (value, chart) => isManager(identityId, value, chart),
  )
  requireIfMatch(request.version, ifMatch)
  const policy = policyOf(collection)
  const end = allowedEnd(endMs, policy, deps.nowMs())
  const [counter, eligible] = await Promise.all([
    approverCounter(name.tenantId, gatesOf(policy).slice(0, 1), approverSources(orgChart, deps)),
    isEligible(request.value, policy, orgChart, deps),
  ])
  const mayExtend =
    isWriter || request.value.requesterId === identityId || isManager(identityId, request.value, orgChart)
  const facts = {
    mayDecide: () => false,
    approverCount: (gate: ApprovalGate) => counter(gate, request.value),
    isEligible: eligible,
    mayExtend,
  }
  const action = { kind: 'extend', actor, notes, endsAt: end } as const
  const decision = decideRequest(request.value, policy, facts, action, deps.nowMs())
  if (decision.outcome === 'refuse') throw new Refusal(decision.code, refusalMessage(decision.code, request.value))
  if (decision.outcome === 'unchanged')
    throw new Error('The decision on an extension was to leave the membership as it is')
  const [saved] = await deps.requests.save([{ before: request, after: decision.request }])
  if (saved === undefined) throw new Error('The store did not return the saved request')
  const { value, version } = await recheckPolicy(saved, collection, deps)
  return { value: toMembershipRequestDto(value, collection, orgChart), version }
}

function isManager(
  identityId: string | undefined,
  { requesterId, relationshipId }: MembershipRequest,
  orgChart: OrgChart,
): boolean {
  return identityId !== undefined && orgChart.managersOf(requesterId, relationshipId).has(identityId)
}
