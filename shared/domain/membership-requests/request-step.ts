import { grantedEnd } from './ends.ts'
import type { AppliedPolicy, ApprovalGate } from './join-policy.ts'
import type { LifecycleEntry, MembershipRequest, RequestStatus } from './membership-request.ts'

/** Actor and time of an action, and the policy that applies. */
export type Step = {
  readonly actorId: string
  /** The identity that the actor represents, as its deputy. */
  readonly onBehalfOf?: string | undefined
  readonly nowMs: number
  /** The time from which the days of the policy count for a membership that is granted. */
  readonly limitFromMs: number
  /** `nowMs` as a timestamp. */
  readonly at: string
  readonly policy: AppliedPolicy
}

export type EntryDetails = { readonly gate?: ApprovalGate; readonly notes?: string | undefined }

/**
 * A membership can be extended any number of times, with notes each time. The limit leaves room for what the service adds
 * to the document, which has at most 2 MB: a membership must always be able to end.
 */
const LIFECYCLE_LIMIT_BYTES = 256 * 1024

/** Whether a person can add no entry to the lifecycle any more. */
export const isLifecycleFull = ({ lifecycle }: Pick<MembershipRequest, 'lifecycle'>): boolean =>
  Buffer.byteLength(JSON.stringify(lifecycle)) > LIFECYCLE_LIMIT_BYTES

/** The request in another status, with one more entry in its lifecycle. */
export function withStatus(
  status: RequestStatus,
  request: MembershipRequest,
  { actorId, onBehalfOf, at }: Step,
  { gate, notes }: EntryDetails,
): MembershipRequest {
  const entry: LifecycleEntry = {
    status,
    actorId,
    at,
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
    ...(gate === undefined ? {} : { gate: { order: gate.order, type: gate.type } }),
    ...(notes === undefined ? {} : { notes }),
  }
  return { ...request, status, updatedAt: at, lifecycle: [...request.lifecycle, entry] }
}

/** The request with a step after which it waits no more. */
export function withFinalStatus(
  status: RequestStatus,
  request: MembershipRequest,
  step: Step,
  details: EntryDetails = {},
): MembershipRequest {
  const ended = withStatus(status, request, step, details)
  const {
    deadlineMs: _deadlineMs,
    extension: _extension,
    reminder: _reminder,
    gateApprovers: _approvers,
    ...rest
  } = ended
  return { ...rest, currentGate: null }
}

/** The request as a membership, which ends at the time that was asked for or, without one, as late as the policy allows. */
export function withMembership(request: MembershipRequest, step: Step, details: EntryDetails = {}): MembershipRequest {
  const { endsAt, ...rest } = withFinalStatus('Joined', request, step, details)
  const end = grantedEnd(endsAt, step.policy, step.limitFromMs)
  return end === undefined ? rest : { ...rest, endsAt: end }
}

/**
 * The open request of a person who is added directly, as a membership.
 * @param end The end that the addition asks for. Without one, that of the request counts while it is not past.
 */
export function withAdmission(request: MembershipRequest, end: string | undefined, step: Step): MembershipRequest {
  const { endsAt, ...rest } = request
  const ownEnd = endsAt !== undefined && Date.parse(endsAt) > step.nowMs ? endsAt : undefined
  const asked = end ?? ownEnd
  return withMembership(asked === undefined ? rest : { ...rest, endsAt: asked }, step)
}
