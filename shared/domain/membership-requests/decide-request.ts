import { toTimestamp } from '../../kernel/timestamp.ts'
import { type ApprovalGate, gatesOf, type JoinPolicy } from './join-policy.ts'
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

/** The approvers at the gates of one request. */
export type GateApprovers = {
  /** Whether the actor is an approver at the gate. The rule about own requests is checked separately. */
  mayDecide(gate: ApprovalGate): boolean
  /** The number of approvers other than the subject. */
  approverCount(gate: ApprovalGate): number
}

export type RequestOutcome =
  | { readonly outcome: 'next'; readonly request: MembershipRequest }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'refuse'
      readonly code: 'InvalidRequestState' | 'SelfApproval' | 'NotCurrentApprover' | 'NotRequester'
    }

/** The statuses in which each action is allowed: decisions, section 7. */
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
 * Decides on one action: returns the request after the action, or the reason for refusing it. When both the status and the
 * actor's rights refuse the action, the refusal names the status. The lifecycle only grows.
 */
export function decideRequest(
  request: MembershipRequest,
  policy: JoinPolicy,
  approvers: GateApprovers,
  action: RequestAction,
  nowMs: number,
): RequestOutcome {
  if (!ALLOWED_STATUSES[action.kind].includes(request.status)) return { outcome: 'refuse', code: 'InvalidRequestState' }
  const step: Step = { actorId: action.actor.id, at: toTimestamp(nowMs), approvers }
  switch (action.kind) {
    case 'open':
      return next(atGate(gatesOf(policy)[0], request, step))
    case 'approve':
    case 'reject':
      return decideAtGate(request, policy, action, step)
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
      return applyPolicy(request, policy, action, step)
  }
}

/** The gates that have not approved the request. Gates before and after a policy change are the same when their order is. */
function remainingGates(request: MembershipRequest, policy: JoinPolicy): ApprovalGate[] {
  const passed = new Set(request.lifecycle.flatMap(({ status, gate }) => (status === 'Approved' ? gate?.order : [])))
  return gatesOf(policy).filter(({ order }) => !passed.has(order))
}

/** The gates that remain for a waiting request after its current gate. */
export function gatesAhead(request: MembershipRequest, policy: JoinPolicy): ApprovalGate[] {
  const here = request.currentGate?.order ?? 0
  return remainingGates(request, policy).filter(({ order }) => order > here)
}

/** The gate where the request waits; undefined when the policy no longer has it. */
export function gateOf(
  { currentGate }: Pick<MembershipRequest, 'currentGate'>,
  policy: JoinPolicy,
): ApprovalGate | undefined {
  return gatesOf(policy).find(({ order }) => order === currentGate?.order)
}

/** Actor and time of the action, and the approvers at the gates it can lead to. */
type Step = { readonly actorId: string; readonly at: string; readonly approvers: GateApprovers }

type EntryDetails = { readonly gate?: ApprovalGate; readonly notes?: string | undefined }

function decideAtGate(
  request: MembershipRequest,
  policy: JoinPolicy,
  action: RequestAction,
  step: Step,
): RequestOutcome {
  const { kind, actor, notes } = action
  const gate = gateOf(request, policy)
  if (gate === undefined) return { outcome: 'refuse', code: 'InvalidRequestState' }
  if (actor.identityId === request.requesterId) return { outcome: 'refuse', code: 'SelfApproval' }
  if (!step.approvers.mayDecide(gate)) return { outcome: 'refuse', code: 'NotCurrentApprover' }
  if (kind === 'reject') return next(withFinalStatus('Rejected', request, step, { gate, notes }))
  return next(atGate(gatesAhead(request, policy)[0], withStatus('Approved', request, step, { gate, notes }), step))
}

function ifAllowed(allowed: readonly string[], { actorId }: Step, after: MembershipRequest): RequestOutcome {
  return allowed.includes(actorId) ? next(after) : { outcome: 'refuse', code: 'NotRequester' }
}

/** The request stays at its gate if the policy still has it; otherwise it moves to the first remaining gate. */
function applyPolicy(
  request: MembershipRequest,
  policy: JoinPolicy,
  action: RequestAction,
  step: Step,
): RequestOutcome {
  const { currentGate } = request
  const gate = gateOf(request, policy)
  if (gate === undefined || gate.type !== currentGate?.type) {
    return next(atGate(gate ?? remainingGates(request, policy)[0], request, step, action.notes))
  }
  const approverCount = step.approvers.approverCount(gate)
  if (approverCount === currentGate.approverCount) return { outcome: 'unchanged' }
  return next({ ...request, currentGate: { ...currentGate, approverCount } })
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
  const approverCount = step.approvers.approverCount(gate)
  const waiting = withStatus('PendingApproval', request, step, { gate, notes })
  return { ...waiting, currentGate: { order, type, approverCount } }
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
