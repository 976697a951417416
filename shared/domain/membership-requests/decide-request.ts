import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { approvalAt, approvalsOf, gateAfterApproval, isSameGate, remainingGates } from './approvals.ts'
import { deadlineOf, isOverdue } from './ends.ts'
import { askedExtension, gateOf, waitingPart, waitingSinceMs, withDecidedExtension } from './extension.ts'
import { type AppliedPolicy, type ApprovalGate, gatesOf } from './join-policy.ts'
import { LIVE_STATUSES, type MembershipRequest, OPEN_STATUSES, type RequestStatus } from './membership-request.ts'
import { withReminder, withTold } from './reminders.ts'
import {
  isLifecycleFull,
  type Step as RequestStep,
  withAdmission,
  withFinalStatus,
  withMembership,
  withStatus,
} from './request-step.ts'
import { SYSTEM_NOTES } from './system-notes.ts'

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
    | 'extend' // asks for a later end of a membership
    | 'expire' // ends what has an end or a deadline that is past, and tells what is due to be told
  readonly actor: Actor
  /** For a decision of a deputy: the identity that the actor represents. */
  readonly onBehalfOf?: string | undefined
  readonly notes?: string | undefined
  /** The end that is asked for: of the extension, or of the membership of one who is added directly. */
  readonly endsAt?: string | undefined
}

/** What the policy means for one request now: its approvers, and whether it admits the subject. */
export type PolicyFacts = {
  /** Whether the actor is an approver at the gate. The rule about own requests is checked separately. */
  mayDecide(gate: ApprovalGate): boolean
  /** The number of approvers other than the subject, for a request that waits there since then or has just come. */
  approverCount(gate: ApprovalGate, sinceMs?: number): number
  /** Whether the policy allows the subject to join. */
  readonly isEligible: boolean
  /** Whether the actor may ask for a later end. */
  readonly mayExtend?: boolean
}

export type RequestOutcome =
  | { readonly outcome: 'next'; readonly request: MembershipRequest }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'refuse'
      readonly code:
        | 'InvalidRequestState'
        | 'SelfApproval'
        | 'NotCurrentApprover'
        | 'NotRequester'
        | 'NotesRequired'
        | 'EndNotLater'
        | 'LifecycleTooLarge'
        | 'NotEligible'
        | 'NoApprover'
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
  extend: ['Joined'],
  expire: LIVE_STATUSES,
}

/** The actions that concern the extension of a membership as well as a waiting request. */
const AT_GATES: readonly RequestAction['kind'][] = ['approve', 'reject', 'move']

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
  const { status, extension } = request
  const waiting = waitingPart(request)
  if (status !== 'Joined' || extension === undefined || waiting === undefined || !AT_GATES.includes(action.kind)) {
    return decide(request, policy, facts, action, nowMs)
  }
  const decision = decide(waiting, policy, facts, action, nowMs, Date.parse(extension.requestedAt))
  return decision.outcome === 'next' ? next(withDecidedExtension(request, decision.request, extension)) : decision
}

/** @param limitFromMs The time from which the days of the policy count for a membership that is granted. */
function decide(
  request: MembershipRequest,
  policy: AppliedPolicy,
  facts: PolicyFacts,
  action: RequestAction,
  nowMs: number,
  limitFromMs = nowMs,
): RequestOutcome {
  if (!ALLOWED_STATUSES[action.kind].includes(request.status)) return refuse('InvalidRequestState')
  const { actor, onBehalfOf } = action
  const step: Step = { actorId: actor.id, onBehalfOf, nowMs, limitFromMs, at: toTimestamp(nowMs), policy, facts }
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
      return next(withAdmission(request, action.endsAt, step))
    case 'end':
      return next(
        withFinalStatus(request.status === 'Joined' ? 'Left' : 'Cancelled', request, step, { notes: action.notes }),
      )
    case 'move':
      return isOverdue(request, nowMs) ? expire(request, step) : applyPolicy(request, action, step)
    case 'extend':
      return extend(request, action, step)
    case 'expire':
      return isOverdue(request, nowMs) ? expire(request, step) : tell(request, nowMs)
  }
}

/** A membership, or a request that was not decided in time, ends by itself. */
function expire(request: MembershipRequest, step: Step): RequestOutcome {
  const status = request.status === 'Joined' ? 'Left' : 'Cancelled'
  const system = { ...step, actorId: SYSTEM_ACTOR, onBehalfOf: undefined }
  return next(withFinalStatus(status, request, system, { notes: SYSTEM_NOTES.expired }))
}

function tell(request: MembershipRequest, nowMs: number): RequestOutcome {
  const after = withTold(request, nowMs)
  return after === undefined ? { outcome: 'unchanged' } : next(after)
}

/** The extension passes the gates as a request does, and is granted at once without any. */
function extend(request: MembershipRequest, { notes, endsAt = '' }: RequestAction, step: Step): RequestOutcome {
  const { facts, nowMs, policy } = step
  if (request.extension !== undefined || isOverdue(request, nowMs)) return refuse('InvalidRequestState')
  if (facts.mayExtend !== true) return refuse('NotRequester')
  if (request.endsAt === undefined || Date.parse(endsAt) <= Date.parse(request.endsAt)) return refuse('EndNotLater')
  if (!facts.isEligible) return refuse('NotEligible')
  if (isLifecycleFull(request)) return refuse('LifecycleTooLarge')
  const [gate] = gatesOf(policy)
  if (gate !== undefined && facts.approverCount(gate) === 0) return refuse('NoApprover')
  const asking = { requestedBy: step.actorId, requestedAt: step.at }
  return next(withDecidedExtension(request, atGate(gate, askedExtension(request, endsAt), step, notes), asking))
}

/** Actor and time of the action, the policy, and what it means for the request. */
type Step = RequestStep & { readonly facts: PolicyFacts }

function decideAtGate(request: MembershipRequest, action: RequestAction, step: Step): RequestOutcome {
  const { kind, actor, onBehalfOf, notes } = action
  const { policy, nowMs } = step
  if (kind === 'reject' && policy.rejectionNeedsReason === true && (notes ?? '').trim() === '') {
    return refuse('NotesRequired')
  }
  const gate = gateOf(request, policy)
  if (gate === undefined || (kind === 'approve' && isOverdue(request, nowMs))) return refuse('InvalidRequestState')
  if ([actor.identityId, onBehalfOf].includes(request.requesterId)) return refuse('SelfApproval')
  if (!step.facts.mayDecide(gate)) return refuse('NotCurrentApprover')
  if (kind === 'reject') return next(withFinalStatus('Rejected', request, step, { gate, notes }))
  const approved: MembershipRequest = {
    ...withStatus('Approved', request, step, { gate, notes }),
    approvals: [...approvalsOf(request, policy), approvalAt(gate)],
  }
  return next(atGateIfEligible(gateAfterApproval(request, gate, policy), approved, step))
}

function ifAllowed(allowed: readonly string[], { actorId }: Step, after: MembershipRequest): RequestOutcome {
  return allowed.includes(actorId) ? next(after) : refuse('NotRequester')
}

/** The request goes to the first gate, in the order of the policy, that has not approved it. */
function applyPolicy(request: MembershipRequest, action: RequestAction, step: Step): RequestOutcome {
  const { currentGate, policyVersion } = request
  const { policy, facts } = step
  const approvals = approvalsOf(request, policy)
  const [gate] = remainingGates(approvals, policy)
  if (gate === undefined || currentGate === null || !isSameGate(request, gate, policy)) {
    return next(atGateIfEligible(gate, { ...request, approvals }, step, action.notes))
  }
  const approverCount = facts.approverCount(gate, waitingSinceMs(request))
  if (approverCount === currentGate.approverCount && policyVersion === policy.version) return { outcome: 'unchanged' }
  const placed = {
    ...request,
    approvals,
    policyVersion: policy.version,
    currentGate: { ...currentGate, approverCount },
    gateApprovers: gate.approvers,
  }
  const isReminded = gate.reminderDays === request.reminder?.days
  const reminded = isReminded ? placed : withReminder(placed, gate, waitingSinceMs(request))
  return next(withDeadline(reminded, policy))
}

/** Eligibility is checked again at every gate and at the grant. */
function atGateIfEligible(
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  step: Step,
  notes?: string,
): MembershipRequest {
  if (step.facts.isEligible) return atGate(gate, request, step, notes)
  const system = { ...step, actorId: SYSTEM_ACTOR, onBehalfOf: undefined }
  return withFinalStatus('Cancelled', request, system, { notes: SYSTEM_NOTES.notEligible })
}

/** Returns the request waiting at the gate, or joined when there is no gate. */
function atGate(
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  step: Step,
  notes?: string,
): MembershipRequest {
  if (gate === undefined) return withMembership(request, step, { notes })
  const { order, type, approvers: gateApprovers } = gate
  const currentGate = { order, type, approverCount: step.facts.approverCount(gate) }
  const waiting = withStatus('PendingApproval', request, step, { gate, notes })
  const placed = { ...waiting, policyVersion: step.policy.version, currentGate, gateApprovers }
  return withDeadline(withReminder(placed, gate, step.nowMs), step.policy)
}

function withDeadline(request: MembershipRequest, policy: AppliedPolicy): MembershipRequest {
  const { deadlineMs: _deadlineMs, ...rest } = request
  const deadlineMs = deadlineOf(request, policy)
  return deadlineMs === undefined ? rest : { ...rest, deadlineMs }
}

function next(request: MembershipRequest): RequestOutcome {
  return { outcome: 'next', request }
}

function refuse(code: Extract<RequestOutcome, { outcome: 'refuse' }>['code']): RequestOutcome {
  return { outcome: 'refuse', code }
}
