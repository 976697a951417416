import type { Actor, PolicyFacts } from '../../../../shared/domain/membership-requests/decide-request.ts'
import type {
  AppliedPolicy,
  ApprovalGate,
  GateType,
} from '../../../../shared/domain/membership-requests/join-policy.ts'
import type {
  MembershipRequest,
  RequestStatus,
} from '../../../../shared/domain/membership-requests/membership-request.ts'

export const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
export const NOW = '2030-01-02T00:00:00.000+00:00'
const BEFORE = '2030-01-01T00:00:00.000+00:00'

export const SUBJECT: Actor = { id: 'subject', identityId: 'subject' }
export const SUBMITTER: Actor = { id: 'submitter', identityId: 'submitter' }
export const APPROVER: Actor = { id: 'approver', identityId: 'approver' }
export const STRANGER: Actor = { id: 'stranger', identityId: 'stranger' }
export const APPLICATION: Actor = { id: 'application', identityId: undefined }

export const gate = (order: number, type: GateType = 'Identity'): ApprovalGate => ({
  order,
  type,
  approvers: type === 'Manager' ? [] : ['approver'],
})

export const policyOf = (...approvalGates: ApprovalGate[]): AppliedPolicy => ({
  version: 1,
  approvalRequired: approvalGates.length > 0,
  approvalGates,
  joinableBy: { collectionIds: [] },
})

/** One approver at every gate, which is the actor. */
export const peopleFor = (actor: Actor): PolicyFacts => ({
  mayDecide: () => actor.id === 'approver' || actor.id === 'subject',
  approverCount: () => 1,
  isEligible: true,
})

/** A request for the subject by the submitter, in a status reached at gate 1 of two. */
export function requestIn(status: RequestStatus, changes: Partial<MembershipRequest> = {}): MembershipRequest {
  return {
    id: 'request',
    tenantId: 'tenant',
    slot: 'collection:subject:none',
    collectionId: 'collection',
    requesterId: 'subject',
    submittedBy: 'submitter',
    relationshipId: null,
    status,
    currentGate: status === 'PendingApproval' ? { order: 1, type: 'Identity', approverCount: 1 } : null,
    notes: null,
    createdAt: BEFORE,
    updatedAt: BEFORE,
    lifecycle: [{ status: 'Requested', actorId: 'submitter', at: BEFORE }],
    approvals: [],
    policyVersion: 1,
    ...changes,
  }
}
