import type { LifecycleEntry, MembershipRequest } from './membership-request.ts'

/**
 * Returns the key under which the approvers of a waiting request find it; null when the request does not wait at a
 * gate.
 */
export function reviewKeyOf({
  status,
  currentGate: ofRequest,
  extension,
  collectionId,
  requesterId,
}: Pick<MembershipRequest, 'status' | 'currentGate' | 'extension' | 'collectionId' | 'requesterId'>): string | null {
  const currentGate = status === 'PendingApproval' ? ofRequest : status === 'Joined' ? extension?.currentGate : null
  if (currentGate === undefined || currentGate === null) return null
  return currentGate.type === 'Manager' ? subjectKey(requesterId) : gateKey(collectionId, currentGate.order)
}

/** Returns the gate where a request that waits no more was last; undefined when it waits or was never at a gate. */
export function lastGateOf({
  currentGate,
  lifecycle,
}: Pick<MembershipRequest, 'currentGate' | 'lifecycle'>): LifecycleEntry['gate'] {
  return currentGate === null ? lifecycle.findLast(({ gate }) => gate !== undefined)?.gate : undefined
}

/**
 * Returns the key under which the approvers of the gate where a request ended find it; null when there is no such gate.
 */
export function endedKeyOf(
  request: Pick<MembershipRequest, 'currentGate' | 'lifecycle' | 'collectionId' | 'requesterId'>,
): string | null {
  const gate = lastGateOf(request)
  if (gate === undefined) return null
  return gate.type === 'Manager' ? subjectKey(request.requesterId) : gateKey(request.collectionId, gate.order)
}

/** Review key of the requests that wait at a gate whose approvers the policy names. */
export function gateKey(collectionId: string, order: number): string {
  return `gate:${collectionId}:${order}`
}

/** Review key of an identity's requests that wait for its manager. */
export function subjectKey(requesterId: string): string {
  return `subject:${requesterId}`
}

/** Returns the identity of a key of `subjectKey`; undefined for other keys. */
export function subjectOfKey(reviewKey: string): string | undefined {
  return isManagerKey(reviewKey) ? reviewKey.slice('subject:'.length) : undefined
}

/** Whether the requests under a review key wait for a manager rather than for approvers that the policy names. */
export function isManagerKey(reviewKey: string): boolean {
  return reviewKey.startsWith('subject:')
}
