import { laterEnd } from './ends.ts'
import { type AppliedPolicy, type ApprovalGate, gatesOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'

/**
 * The part of a request that waits at a gate: the request itself or, for a membership, its extension in the form of a
 * request. Undefined when nothing waits.
 */
export function waitingPart(request: MembershipRequest): MembershipRequest | undefined {
  if (request.status === 'PendingApproval') return request
  const { extension, ...rest } = request
  if (request.status !== 'Joined' || extension === undefined) return undefined
  const { requestedBy: _requestedBy, requestedAt: _requestedAt, ...waiting } = extension
  return { ...rest, status: 'PendingApproval', ...waiting }
}

/** Since when the request, or its extension, waits at its gate, in milliseconds; for one that has ended, at its last gate. */
export function waitingSinceMs({ lifecycle, createdAt }: Pick<MembershipRequest, 'lifecycle' | 'createdAt'>): number {
  return Date.parse(lifecycle.findLast(({ status }) => status === 'PendingApproval')?.at ?? createdAt)
}

/** The extension that a caller asks for, in the form of a new request. */
export function askedExtension(request: MembershipRequest, endsAt: string): MembershipRequest {
  const { extension: _extension, ...rest } = request
  return { ...rest, status: 'Requested', approvals: [], currentGate: null, endsAt }
}

type Asked = { readonly requestedBy: string; readonly requestedAt: string }

/**
 * The membership after a decision on its extension.
 * @param decided The extension in the form of a request, after the decision.
 */
export function withDecidedExtension(
  membership: MembershipRequest,
  decided: MembershipRequest,
  requested: Asked,
): MembershipRequest {
  const { extension: _extension, reminder: _reminder, endsAt: present, ...rest } = membership
  const { status, lifecycle, updatedAt, endsAt, currentGate, gateApprovers, reminder } = decided
  const { approvals = [], policyVersion = 0 } = decided
  // A merge can have made the end later meanwhile.
  const end = status === 'Joined' ? laterEnd(present, endsAt) : present
  const after = { ...rest, lifecycle, updatedAt, ...(end === undefined ? {} : { endsAt: end }) }
  if (status !== 'PendingApproval' || currentGate === null || endsAt === undefined) return after
  const { requestedBy, requestedAt } = requested
  const placed = { currentGate, ...(gateApprovers && { gateApprovers }), approvals, policyVersion }
  const extension = { endsAt, requestedBy, requestedAt, ...placed }
  return { ...after, extension, ...(reminder === undefined ? {} : { reminder }) }
}

/** The gate where the request, or its extension, waits; undefined when the policy no longer has it. */
export function gateOf(request: MembershipRequest, policy: AppliedPolicy): ApprovalGate | undefined {
  const currentGate = waitingPart(request)?.currentGate
  return gatesOf(policy).find(({ order, type }) => order === currentGate?.order && type === currentGate.type)
}
