import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { applyTransitions, readRequests, type TransitionDependencies } from './apply-transitions.ts'
import { approverCounter, factsWithoutApprover, NO_FACTS } from './approvers.ts'
import { type Actor, decideRequest, type RequestAction } from './decide-request.ts'
import { eligibleIdentities } from './eligibility.ts'
import { waitingPart } from './extension.ts'
import { type AppliedPolicy, gatesOf, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import {
  approverSources,
  freshOrgChart,
  type RequestDependencies,
  type RequestOutline,
} from './request-dependencies.ts'
import { SYSTEM_NOTES } from './system-notes.ts'

export const SYSTEM: Actor = { id: SYSTEM_ACTOR, identityId: undefined }

export const NO_POLICY: AppliedPolicy = {
  approvalRequired: false,
  approvalGates: [],
  joinableBy: { collectionIds: [] },
  version: 0,
}

/**
 * Ends live requests: memberships become `Left`, open requests `Cancelled`. Repeating the call has no further effect.
 */
export async function endRequests(
  requests: readonly Versioned<MembershipRequest>[],
  notes: string,
  deps: Pick<RequestDependencies, 'nowMs'> & TransitionDependencies,
): Promise<void> {
  const action: RequestAction = { kind: 'end', actor: SYSTEM, notes }
  return applyTransitions(
    requests,
    (request) => decideRequest(request, NO_POLICY, NO_FACTS, action, deps.nowMs()),
    deps,
  )
}

/**
 * Moves the waiting requests of a collection to the gates of its current policy. When the policy changes concurrently,
 * the requests are moved again, so that the last change determines their gates.
 */
export async function applyPolicyToWaiting(
  collection: Collection,
  requests: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<void> {
  const { tenantId, id } = collection
  let waiting = requests.filter(isWaiting)
  for (let applied = collection; waiting.length > 0; ) {
    await applyPolicyOnce(applied, waiting, deps)
    const current = await deps.collections.find(tenantId, id, 'joinable')
    if (current === undefined || current.value.definitionVersion === applied.definitionVersion) return
    applied = current.value
    const waitingIds = waiting.map(({ value }) => value.id)
    waiting = (await readRequests(tenantId, waitingIds, deps)).filter(isWaiting)
  }
}

async function applyPolicyOnce(
  collection: Collection,
  waiting: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<void> {
  const policy = policyOf(collection)
  const orgChart = await freshOrgChart(collection.tenantId, deps)
  const { tenantId } = collection
  const [counter, isEligibleNow] = await Promise.all([
    approverCounter(tenantId, gatesOf(policy), approverSources(orgChart, deps)),
    eligibleIdentities(tenantId, policy, orgChart, deps),
  ])
  const factsOf = (request: MembershipRequest) =>
    factsWithoutApprover(counter, request, isEligibleNow(request.requesterId))
  const action: RequestAction = { kind: 'move', actor: SYSTEM, notes: SYSTEM_NOTES.policyChanged }
  await applyTransitions(
    waiting,
    (request) => decideRequest(request, policy, factsOf(request), action, deps.nowMs()),
    deps,
    { cause: 'DefinitionChanged', actorId: collection.definedBy },
  )
}

function isWaiting({ value }: Versioned<MembershipRequest>): boolean {
  return waitingPart(value) !== undefined
}

/** Returns whether the request, or its extension, waits at a gate that another version of the policy has determined. */
export function isMisplaced(
  {
    status,
    policyVersion,
    extensionPolicyVersion,
  }: Pick<RequestOutline, 'status' | 'policyVersion' | 'extensionPolicyVersion'>,
  policy: AppliedPolicy,
): boolean {
  if (status === 'Joined') return extensionPolicyVersion !== undefined && extensionPolicyVersion !== policy.version
  return status === 'PendingApproval' && policyVersion !== policy.version
}

/** Returns the request. Moves it first when a policy change that was interrupted has left it misplaced. */
export async function moveIfMisplaced(
  request: Versioned<MembershipRequest>,
  collection: Collection,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { status, policyVersion, extension } = request.value
  const placed = {
    status,
    ...(policyVersion && { policyVersion }),
    ...(extension && { extensionPolicyVersion: extension.policyVersion }),
  }
  if (!isMisplaced(placed, policyOf(collection))) return request
  await applyPolicyToWaiting(collection, [request], deps)
  return (await deps.requests.find(collection.tenantId, request.value.id)) ?? request
}

/**
 * Reads the collection again after a request was saved as waiting. If the collection has changed since the decision,
 * the request is moved by the current policy, or ended when the collection was deleted. This closes the gap between
 * reading the policy and writing the request.
 */
export async function recheckPolicy(
  saved: Versioned<MembershipRequest>,
  decidedBy: Collection,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { tenantId, collectionId, id } = saved.value
  if (!isWaiting(saved)) return saved
  const current = await deps.collections.find(tenantId, collectionId, 'joinable')
  if (current?.value.definitionVersion === decidedBy.definitionVersion) return saved
  if (current === undefined) await endRequests([saved], 'The collection was deleted', deps)
  else await applyPolicyToWaiting(current.value, [saved], deps)
  return (await deps.requests.find(tenantId, id)) ?? saved
}
