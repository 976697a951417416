import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { approvalAt, approvalsOf, gateAfterApproval, remainingGates } from './approvals.ts'
import { type AppliedPolicy, type ApprovalGate, gatesOf } from './join-policy.ts'
import {
  LIVE_STATUSES,
  type LifecycleEntry,
  type MembershipRequest,
  OPEN_STATUSES,
  type RequestStatus,
} from './membership-request.ts'

/** The actor of an action: the id recorded in the lifecycle, and the core identity that the rules apply to. */
export type Actor = { readonly id: string; readonly identityId: string | undefined }

export type RequestAction = {
  readonly kind:
    | 'open' // moves a new request on from `Requested`
    | 'approve'
    | 'reject'
    | 'cancel'
    | 'leave'
    | 'admit' // added directly: the open request is granted
    | 'end' // removed directly, or the subject, position or collection was deleted
    | 'move' // the join policy changed
  readonly actor: Actor
  readonly notes?: string | undefined
}

/** What the policy means for one request now: its approvers, and whether it admits the subject. */
export type PolicyFacts = {
  /** Whether the actor is an approver at the gate. The rule about own requests is checked separately. */
  mayDecide(gate: ApprovalGate): boolean
  /** The number of approvers other than the subject. */
  approverCount(gate: ApprovalGate): number
  /** Whether the policy allows the subject to join. */
  readonly isEligible: boolean
}

export type RequestOutcome =
  | { readonly outcome: 'next'; readonly request: MembershipRequest }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'refuse'
      readonly code: 'InvalidRequestState' | 'SelfApproval' | 'NotCurrentApprover' | 'NotRequester'
    }

/** The statuses in which each action is allowed. */
const ALLOWED_STATUSES: Readonly<Record<RequestAction['kind'], readonly RequestStatus[]>> = {
  open: ['Requested'],
  approve: ['PendingApproval'],
  reject: ['PendingApproval'],
  cancel: OPEN_STATUSES,
  leave: ['Joined'],
  admit: OPEN_STATUSES,
  end: LIVE_STATUSES,
  move: ['PendingApproval'],
}

/**
 * Decides on one action: returns the request after the action, or the reason for refusing it. When both the status and
 * the actor's rights refuse the action, the refusal names the status. The lifecycle only grows.
 */
export function decideRequest(
  request: MembershipRequest,
  policy: AppliedPolicy,
  facts: PolicyFacts,
  action: RequestAction,
  nowMs: number,
): RequestOutcome {
  if (!ALLOWED_STATUSES[action.kind].includes(request.status)) return { outcome: 'refuse', code: 'InvalidRequestState' }
  const step: Step = { actorId: action.actor.id, at: toTimestamp(nowMs), policy, facts }
  switch (action.kind) {
    case 'open':
      return next(atGate(remainingGates(approvalsOf(request, policy), policy)[0], request, step))
    case 'approve':
    case 'reject':
      return decideAtGate(request, action, step)
    case 'cancel':
      return ifAllowed([request.requesterId, request.submittedBy], step, withFinalStatus('Cancelled', request, step))
    case 'leave':
      return ifAllowed([request.requesterId], step, withFinalStatus('Left', request, step))
    case 'admit':
      return next(withFinalStatus('Joined', request, step))
    case 'end':
      return next(
        withFinalStatus(request.status === 'Joined' ? 'Left' : 'Cancelled', request, step, { notes: action.notes }),
      )
    case 'move':
      return applyPolicy(request, action, step)
  }
}

/** The gate where the request waits; undefined when the policy no longer has it. */
export function gateOf(
  { currentGate }: Pick<MembershipRequest, 'currentGate'>,
  policy: AppliedPolicy,
): ApprovalGate | undefined {
  return gatesOf(policy).find(({ order, type }) => order === currentGate?.order && type === currentGate.type)
}

/** Actor and time of the action, the policy, and what it means for the request. */
type Step = {
  readonly actorId: string
  readonly at: string
  readonly policy: AppliedPolicy
  readonly facts: PolicyFacts
}

type EntryDetails = { readonly gate?: ApprovalGate; readonly notes?: string | undefined }

function decideAtGate(request: MembershipRequest, action: RequestAction, step: Step): RequestOutcome {
  const { kind, actor, notes } = action
  const { policy } = step
  const gate = gateOf(request, policy)
  if (gate === undefined) return { outcome: 'refuse', code: 'InvalidRequestState' }
  if (actor.identityId === request.requesterId) return { outcome: 'refuse', code: 'SelfApproval' }
  if (!step.facts.mayDecide(gate)) return { outcome: 'refuse', code: 'NotCurrentApprover' }
  if (kind === 'reject') return next(withFinalStatus('Rejected', request, step, { gate, notes }))
  const approved: MembershipRequest = {
    ...withStatus('Approved', request, step, { gate, notes }),
    approvals: [...approvalsOf(request, policy), approvalAt(gate)],
  }
  return next(atGateIfEligible(gateAfterApproval(request, gate, policy), approved, step))
}

function ifAllowed(allowed: readonly string[], { actorId }: Step, after: MembershipRequest): RequestOutcome {
  return allowed.includes(actorId) ? next(after) : { outcome: 'refuse', code: 'NotRequester' }
}

/** The request goes to the first gate, in the order of the policy, that has not approved it. */
function applyPolicy(request: MembershipRequest, action: RequestAction, step: Step): RequestOutcome {
  const { currentGate, policyVersion } = request
  const { policy, facts } = step
  const approvals = approvalsOf(request, policy)
  const [gate] = remainingGates(approvals, policy)
  if (gate === undefined || gate.order !== currentGate?.order || gate.type !== currentGate.type) {
    return next(atGateIfEligible(gate, { ...request, approvals }, step, action.notes))
  }
  const approverCount = facts.approverCount(gate)
  if (approverCount === currentGate.approverCount && policyVersion === policy.version) return { outcome: 'unchanged' }
  return next({ ...request, approvals, policyVersion: policy.version, currentGate: { ...currentGate, approverCount } })
}

/** Lifecycle note of a request that ends because its subject is no longer allowed to join. */
const NOT_ELIGIBLE_NOTE = 'NotEligible'

/** Eligibility is checked again at every gate and at the grant. */
function atGateIfEligible(
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  step: Step,
  notes?: string,
): MembershipRequest {
  if (step.facts.isEligible) return atGate(gate, request, step, notes)
  return withFinalStatus('Cancelled', request, { ...step, actorId: SYSTEM_ACTOR }, { notes: NOT_ELIGIBLE_NOTE })
}

/** Returns the request waiting at the gate, or joined when there is no gate. */
function atGate(
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  step: Step,
  notes?: string,
): MembershipRequest {
  if (gate === undefined) return withFinalStatus('Joined', request, step, { notes })
  const { order, type } = gate
  const approverCount = step.facts.approverCount(gate)
  const waiting = withStatus('PendingApproval', request, step, { gate, notes })
  return { ...waiting, policyVersion: step.policy.version, currentGate: { order, type, approverCount } }
}

function withFinalStatus(
  status: RequestStatus,
  request: MembershipRequest,
  step: Step,
  said: EntryDetails = {},
): MembershipRequest {
  return { ...withStatus(status, request, step, said), currentGate: null }
}

function withStatus(
  status: RequestStatus,
  request: MembershipRequest,
  { actorId, at }: Step,
  { gate, notes }: EntryDetails,
): MembershipRequest {
  const entry: LifecycleEntry = {
    status,
    actorId,
    at,
    ...(gate === undefined ? {} : { gate: { order: gate.order, type: gate.type } }),
    ...(notes === undefined ? {} : { notes }),
  }
  return { ...request, status, updatedAt: at, lifecycle: [...request.lifecycle, entry] }
}

function next(request: MembershipRequest): RequestOutcome {
  return { outcome: 'next', request }
}
