import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { ChangeFollower } from '../collections/tenant-evaluator.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/tenant-snapshots.ts'
import { applyTransitions, readRequests } from './apply-transitions.ts'
import { approverCounter, factsWithoutApprover, NO_FACTS } from './approvers.ts'
import { type Actor, decideRequest, type RequestAction } from './decide-request.ts'
import { eligibleIdentities } from './eligibility.ts'
import { type AppliedPolicy, gatesOf, policyOf } from './join-policy.ts'
import { type MembershipRequest, SYSTEM_ACTOR } from './membership-request.ts'
import {
  freshOrgChart,
  notifyLinkedGroups,
  notifyMembershipChanges,
  type RequestDependencies,
  type RequestOutline,
} from './request-dependencies.ts'

const SYSTEM: Actor = { id: SYSTEM_ACTOR, identityId: undefined }

const NO_POLICY: AppliedPolicy = {
  approvalRequired: false,
  approvalGates: [],
  joinableBy: { collectionIds: [] },
  version: 0,
}

/** Lifecycle note of a request that ends because its subject, position or collection was deleted. */
const ORPHANED_NOTE = 'The person, the position or the collection was deleted'

/**
 * Ends live requests: memberships become `Left`, open requests `Cancelled`. Repeating the call has no further effect.
 * @returns Ids of the collections that lost members. The caller enqueues their messages.
 */
export async function endRequests(
  requests: readonly Versioned<MembershipRequest>[],
  notes: string,
  deps: RequestDependencies,
): Promise<Set<string>> {
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
    approverCounter(tenantId, gatesOf(policy), orgChart, deps.membershipResolver),
    eligibleIdentities(tenantId, policy, orgChart, deps),
  ])
  const factsOf = (request: MembershipRequest) =>
    factsWithoutApprover(counter, request, isEligibleNow(request.requesterId))
  const action: RequestAction = { kind: 'move', actor: SYSTEM, notes: 'The join policy has changed' }
  const changed = await applyTransitions(
    waiting,
    (request) => decideRequest(request, policy, factsOf(request), action, deps.nowMs()),
    deps,
  )
  await notifyMembershipChanges(collection.tenantId, changed, deps)
}

function isWaiting({ value }: Versioned<MembershipRequest>): boolean {
  return value.status === 'PendingApproval'
}

/** Whether the request waits at a gate that another version of the policy has determined. */
function isMisplaced(request: Pick<MembershipRequest, 'status' | 'policyVersion'>, policy: AppliedPolicy): boolean {
  return request.status === 'PendingApproval' && request.policyVersion !== policy.version
}

/** Returns the request. Moves it first when a policy change that was interrupted has left it misplaced. */
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
 * Reads the collection again after a request was saved as waiting. If the collection has changed since the decision, the
 * request is moved by the current policy, or ended when the collection was deleted. This closes the gap between reading
 * the policy and writing the request.
 */
export async function recheckPolicy(
  saved: Versioned<MembershipRequest>,
  decidedBy: Collection,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { tenantId, collectionId, id, status } = saved.value
  if (status !== 'PendingApproval') return saved
  const current = await deps.collections.find(tenantId, collectionId, 'joinable')
  if (current?.value.definitionVersion === decidedBy.definitionVersion) return saved
  if (current === undefined) await endRequests([saved], 'The collection was deleted', deps)
  else await applyPolicyToWaiting(current.value, [saved], deps)
  return (await deps.requests.find(tenantId, id)) ?? saved
}

/**
 * Ends those of the new requests of one collection whose subject, position or collection no longer exists. A deletion
 * ends the requests that exist at that moment; a request saved shortly after it is ended here.
 * @returns Whether any request was orphaned.
 */
export async function endOrphaned(
  created: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<boolean> {
  const [first] = created
  if (first === undefined) return false
  const { tenantId, collectionId } = first.value
  const [orgChart, collection] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.find(tenantId, collectionId, 'joinable'),
  ])
  const orphaned = created.filter(({ value }) => collection === undefined || isOrphaned(value, orgChart))
  if (orphaned.length === 0) return false
  await notifyMembershipChanges(tenantId, await endRequests(orphaned, ORPHANED_NOTE, deps), deps)
  return true
}

/** Whether the subject or the position of the request no longer exists. */
function isOrphaned(
  { requesterId, relationshipId }: Pick<MembershipRequest, 'requesterId' | 'relationshipId'>,
  orgChart: OrgChart,
): boolean {
  return (
    !orgChart.has('identity', requesterId) || (relationshipId !== null && !orgChart.has('relationship', relationshipId))
  )
}

/** Bounds how long a process keeps relying on changes alone, in case another process was interrupted. */
const FULL_PASS_INTERVAL_MS = 24 * 60 * 60 * 1000

/**
 * Ends memberships and open requests whose subject or position was deleted. A full pass checks all live requests, and
 * also whether their collections and gates still exist; it runs first in each process, after each failure, and once a
 * day. It completes what an interrupted process has left.
 *
 * The org chart is read again after the requests: an identity created in the meantime may have joined.
 */
export class RequestReconciler implements ChangeFollower {
  readonly #deps: RequestDependencies
  /** Time of the last full pass, for tenants whose changes have all been processed since. */
  readonly #fullPassAtMs = new Map<string, number>()

  constructor(deps: RequestDependencies) {
    this.#deps = deps
  }

  async follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const fullPassAtMs = this.#fullPassAtMs.get(tenantId)
    // Restored only when this pass succeeds.
    this.#fullPassAtMs.delete(tenantId)
    const isFullPassDue = fullPassAtMs === undefined || nowMs - fullPassAtMs >= FULL_PASS_INTERVAL_MS
    if (changes === 'everything' || isFullPassDue) {
      await this.#reconcileAll(tenantId)
      this.#fullPassAtMs.set(tenantId, nowMs)
    } else {
      await this.#reconcileChanged(tenantId, rows, changes)
      this.#fullPassAtMs.set(tenantId, fullPassAtMs)
    }
  }

  async #reconcileChanged(tenantId: string, rows: RowSnapshot, { ids }: KnownChanges): Promise<void> {
    const deleted = [
      ...[...ids.identity].filter((id) => !rows.has('identity', id)),
      ...[...ids.relationship].filter((id) => !rows.has('relationship', id)),
    ]
    if (deleted.length === 0) return
    const affected = await this.#deps.requests.liveOfObjects(tenantId, deleted)
    if (affected.length === 0) return
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    await this.#end(
      tenantId,
      affected.filter(({ value }) => isOrphaned(value, orgChart)),
    )
  }

  async #reconcileAll(tenantId: string): Promise<void> {
    const { requests, collections } = this.#deps
    const outlines = await requests.liveOutlines(tenantId)
    if (outlines.length === 0) return
    const joinables = new Map((await collections.list(tenantId, { kind: 'joinable' })).map((one) => [one.id, one]))
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    const orphaned = outlines.filter((outline) => !joinables.has(outline.collectionId) || isOrphaned(outline, orgChart))
    await this.#end(tenantId, await this.#read(tenantId, orphaned))
    for (const [collectionId, ofOne] of Map.groupBy(outlines, (outline) => outline.collectionId)) {
      const collection = joinables.get(collectionId)
      if (collection === undefined) continue
      const policy = policyOf(collection)
      const misplaced = ofOne.filter((outline) => isMisplaced(outline, policy))
      if (misplaced.length > 0) {
        await applyPolicyToWaiting(collection, await this.#read(tenantId, misplaced), this.#deps)
      }
    }
  }

  #read(tenantId: string, outlines: readonly RequestOutline[]): Promise<Versioned<MembershipRequest>[]> {
    return readRequests(
      tenantId,
      outlines.map(({ id }) => id),
      this.#deps,
    )
  }

  /** Enqueues messages for links only: the current pass evaluates the collections that depend on these memberships. */
  async #end(tenantId: string, requests: readonly Versioned<MembershipRequest>[]): Promise<void> {
    await notifyLinkedGroups(tenantId, await endRequests(requests, ORPHANED_NOTE, this.#deps), this.#deps)
  }
}
