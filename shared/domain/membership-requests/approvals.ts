import { type AppliedPolicy, type ApprovalGate, gatesOf } from './join-policy.ts'
import type { Approval, MembershipRequest } from './membership-request.ts'

type Approved = Pick<MembershipRequest, 'approvals' | 'lifecycle'>

/**
 * The approvals of a request. A request that was stored before approvals had approvers counts them for the gates of the
 * same order and type.
 */
export function approvalsOf({ approvals, lifecycle }: Approved, policy: AppliedPolicy): readonly Approval[] {
  if (approvals !== undefined) return approvals
  return lifecycle.flatMap(({ status, gate }) => {
    const approved = gatesOf(policy).find(({ order, type }) => order === gate?.order && type === gate.type)
    return status === 'Approved' && approved !== undefined ? [approvalAt(approved)] : []
  })
}

/** The approval that an approver gives at a gate. */
export function approvalAt({ type, approvers }: ApprovalGate): Approval {
  return { type, approvers }
}

/**
 * The gates of the policy that have not approved the request, in order. An approval counts for the gate of the same
 * type and approvers, wherever that gate now stands. Of several such gates, it counts for the
 * first.
 */
export function remainingGates(approvals: readonly Approval[], policy: AppliedPolicy): ApprovalGate[] {
  const unused = approvals.map(approvalKey)
  return gatesOf(policy).filter((gate) => {
    const index = unused.indexOf(approvalKey(gate))
    if (index === -1) return true
    unused.splice(index, 1)
    return false
  })
}

function approvalKey({ type, approvers }: Approval): string {
  return `${type} ${[...approvers].sort().join(' ')}`
}

type Waiting = Pick<MembershipRequest, 'currentGate' | 'gateApprovers'>

/**
 * Whether the gate of a changed policy is the one where the request waits: it has the same place and type, and one of the
 * approvers who could decide before still can. When the former gate stands at another place, or none of its approvers
 * is left, the request comes to another gate, whose approvers have not been told.
 */
export function isSameGate(
  { currentGate, gateApprovers }: Waiting,
  gate: ApprovalGate,
  policy: AppliedPolicy,
): boolean {
  const { order, type, approvers } = gate
  if (order !== currentGate?.order || type !== currentGate.type) return false
  if (gateApprovers === undefined) return true
  const formerKey = approvalKey({ type, approvers: gateApprovers })
  if (approvalKey(gate) === formerKey) return true
  const isElsewhere = gatesOf(policy).some((other) => approvalKey(other) === formerKey)
  return !isElsewhere && approvers.some((id) => gateApprovers.includes(id))
}

/** The gate to which the request comes when its current gate approves it; undefined when it then joins. */
export function gateAfterApproval(
  request: MembershipRequest,
  gate: ApprovalGate,
  policy: AppliedPolicy,
): ApprovalGate | undefined {
  return remainingGates([...approvalsOf(request, policy), approvalAt(gate)], policy)[0]
}
