import { type ApproverSources, isApprover } from './approvers.ts'
import { type DeputyStore, representedBy } from './deputies.ts'
import type { ApprovalGate } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'

/** Whether an identity may decide at a gate, and for a deputy, on whose behalf. */
export type DecisionRight = { readonly mayDecide: boolean; readonly onBehalfOf?: string }

/**
 * By what right an identity decides on a request: as an approver, or as the deputy of one. Whether the request is their
 * own, or that of the one represented, is decided with the request: `SelfApproval`.
 */
export async function decisionRight(
  identityId: string | undefined,
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  sources: ApproverSources,
  deputies: Pick<DeputyStore, 'ofDeputy'>,
): Promise<DecisionRight> {
  if (identityId === undefined || gate === undefined) return { mayDecide: false }
  if (await isApprover(identityId, gate, request, sources)) return { mayDecide: true }
  const nowMs = () => sources.nowMs
  const represented = await representedBy(identityId, request.tenantId, sources.orgChart, { deputies, nowMs })
  const isOwn = (id: string) => Number(id === request.requesterId)
  for (const id of represented.toSorted((left, right) => isOwn(left) - isOwn(right))) {
    if (await isApprover(id, gate, request, sources)) return { mayDecide: true, onBehalfOf: id }
  }
  return { mayDecide: false }
}
