import { chunk } from '../../kernel/chunk.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { approverCounter, approverCountsOnly, NO_APPROVERS } from './approvers.ts'
import { type Actor, decideRequest, gateOf, type RequestAction, type RequestOutcome } from './decide-request.ts'
import { gatesOf, type JoinPolicy, policyOf } from './join-policy.ts'
import { isLive, type MembershipRequest, SYSTEM_ACTOR } from './membership-request.ts'
import {
  freshOrgChart,
  notifyMembershipChanges,
  type RequestChange,
  type RequestDependencies,
  saveable,
} from './request-dependencies.ts'

const SYSTEM: Actor = { id: SYSTEM_ACTOR, identityId: undefined }

/** Times that one request is read anew because others act on it at the same moment. */
const ATTEMPTS_AT_MOST = 5

const NO_POLICY: JoinPolicy = { approvalRequired: false, approvalGates: [], joinableBy: { collectionIds: [] } }

/**
 * Ends live requests, whatever they wait for: memberships as `Left`, open ones as `Cancelled`. Repeating it does no harm.
 * @returns The collections that lost members by it. Whoever calls tells of them.
 */
export async function endRequests(
  requests: readonly Versioned<MembershipRequest>[],
  notes: string,
  deps: RequestDependencies,
): Promise<Set<string>> {
  const action: RequestAction = { kind: 'end', actor: SYSTEM, notes }
  return applyTransitions(
    requests,
    (request) => decideRequest(request, NO_POLICY, NO_APPROVERS, action, deps.nowMs()),
    deps,
  )
}

/**
 * Brings the waiting requests of a collection to where its policy, now another one, has them wait. Of several who change
 * the policy at once each does so, and looks afterwards: whoever ends last has followed the last policy.
 */
export async function applyPolicyToWaiting(
  collection: Collection,
  requests: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<void> {
  const { tenantId, id } = collection
  let waiting = requests.filter(isWaiting)
  for (let followed = collection; waiting.length > 0; ) {
    await applyPolicyOnce(followed, waiting, deps)
    const now = await deps.collections.find(tenantId, id, 'joinable')
    if (now === undefined || now.value.definitionVersion === followed.definitionVersion) return
    followed = now.value
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
  const counter = await approverCounter(collection.tenantId, gatesOf(policy), orgChart, deps.membershipResolver)
  const action: RequestAction = { kind: 'move', actor: SYSTEM, notes: 'The join policy has changed' }
  const changed = await applyTransitions(
    waiting,
    (request) => decideRequest(request, policy, approverCountsOnly(counter, request), action, deps.nowMs()),
    deps,
  )
  await notifyMembershipChanges(collection.tenantId, changed, deps)
}

function isWaiting({ value }: Versioned<MembershipRequest>): boolean {
  return value.status === 'PendingApproval'
}

/** Requests read at once, where many are due: those asked for together share reads. */
const READ_AT_ONCE_COUNT = 200

/** The requests as they are now; without those that are not there. */
export async function readRequests(
  tenantId: string,
  requestIds: readonly string[],
  { requests }: Pick<RequestDependencies, 'requests'>,
): Promise<Versioned<MembershipRequest>[]> {
  const read: Versioned<MembershipRequest>[] = []
  for (const some of chunk(requestIds, READ_AT_ONCE_COUNT)) {
    const found = await Promise.all(some.map((id) => requests.find(tenantId, id)))
    read.push(...found.filter((request) => request !== undefined))
  }
  return read
}

/** Whether it waits at a gate that the policy does not have, or has as one of another type. */
export function isMisplaced(request: Pick<MembershipRequest, 'status' | 'currentGate'>, policy: JoinPolicy): boolean {
  return request.status === 'PendingApproval' && gateOf(request, policy)?.type !== request.currentGate?.type
}

/** The request; moved first where a crash in the midst of a change of the policy has left it astray. */
export async function moveIfMisplaced(
  request: Versioned<MembershipRequest>,
  collection: Collection,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  if (!isMisplaced(request.value, policyOf(collection))) return request
  await applyPolicyToWaiting(collection, [request], deps)
  return (await deps.requests.find(collection.tenantId, request.value.id)) ?? request
}

/**
 * Looks, after a request was left waiting, whether its collection is still what it was when that was decided, and
 * otherwise settles it by what the collection is now. Closes the gap between reading the policy and writing the request.
 */
export async function recheckPolicy(
  saved: Versioned<MembershipRequest>,
  decidedBy: Collection,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { tenantId, collectionId, id, status } = saved.value
  if (status !== 'PendingApproval') return saved
  const now = await deps.collections.find(tenantId, collectionId, 'joinable')
  if (now?.value.definitionVersion === decidedBy.definitionVersion) return saved
  if (now === undefined) await endRequests([saved], 'The collection was deleted', deps)
  else await applyPolicyToWaiting(now.value, [saved], deps)
  return (await deps.requests.find(tenantId, id)) ?? saved
}

/**
 * Looks, after requests for one collection were made, whether it, their people and their positions are still there, and
 * ends those that stand on nothing. Whoever deletes such a thing ends the requests that there are; one that was made a
 * moment later is for its maker to find.
 * @returns Whether there were any.
 */
export async function endOrphaned(
  made: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<boolean> {
  const [first] = made
  if (first === undefined) return false
  const { tenantId, collectionId } = first.value
  const [orgChart, collection] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.find(tenantId, collectionId, 'joinable'),
  ])
  const baseless = made.filter(({ value }) => collection === undefined || isOrphaned(value, orgChart))
  if (baseless.length === 0) return false
  await notifyMembershipChanges(tenantId, await endRequests(baseless, ORPHANED_NOTE, deps), deps)
  return true
}

/** What the lifecycle tells of a request that ended with what it stood on. */
export const ORPHANED_NOTE = 'The person, the position or the collection was deleted'

/** Whether the person or the position that it is for is no more. */
export function isOrphaned(
  { requesterId, relationshipId }: Pick<MembershipRequest, 'requesterId' | 'relationshipId'>,
  orgChart: OrgChart,
): boolean {
  return (
    !orgChart.has('identity', requesterId) || (relationshipId !== null && !orgChart.has('relationship', relationshipId))
  )
}

type Decide = (request: MembershipRequest) => RequestOutcome

async function applyTransitions(
  requests: readonly Versioned<MembershipRequest>[],
  decideOn: Decide,
  deps: RequestDependencies,
): Promise<Set<string>> {
  const membershipsChanged = new Set<string>()
  const changes = requests.flatMap((before) => changeBy(decideOn, before) ?? [])
  for (const ofOne of Map.groupBy(changes, ({ after }) => after.collectionId).values()) {
    for (const some of saveable(ofOne)) {
      const saved = await saveOrEach(some, decideOn, deps)
      for (const { after } of saved.filter(isOfMembership)) membershipsChanged.add(after.collectionId)
    }
  }
  return membershipsChanged
}

function isOfMembership({ before, after }: RequestChange): boolean {
  return (before?.value.status === 'Joined') !== (after.status === 'Joined')
}

function changeBy(decideOn: Decide, before: Versioned<MembershipRequest>): RequestChange | undefined {
  const decision = decideOn(before.value)
  return decision.outcome === 'next' ? { before, after: decision.request } : undefined
}

/** Together; when one of them has changed meanwhile, each for itself as it is now. @returns What was written. */
async function saveOrEach(
  changes: readonly RequestChange[],
  decideOn: Decide,
  deps: RequestDependencies,
): Promise<readonly RequestChange[]> {
  try {
    await deps.requests.save(changes)
    return changes
  } catch (error) {
    if (!isRequestConflict(error)) throw error
    const saved: RequestChange[] = []
    for (const { after } of changes) saved.push(...(await retryTransition(after, decideOn, deps)))
    return saved
  }
}

async function retryTransition(
  { tenantId, id }: MembershipRequest,
  decideOn: Decide,
  deps: RequestDependencies,
): Promise<RequestChange[]> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await deps.requests.find(tenantId, id)
    if (before === undefined || !isLive(before.value)) return []
    const change = changeBy(decideOn, before)
    if (change === undefined) return []
    try {
      await deps.requests.save([change])
      return [change]
    } catch (error) {
      if (!isRequestConflict(error) || attempt === ATTEMPTS_AT_MOST) throw error
    }
  }
}

function isRequestConflict(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'InvalidRequestState'
}
