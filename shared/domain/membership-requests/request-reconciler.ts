import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { ChangeReconciler } from '../collections/tenant-evaluator.ts'
import { schemaName } from '../core/attribute-names.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/tenant-snapshots.ts'
import { applyTransitions, readRequests } from './apply-transitions.ts'
import { approverCounter, factsWithoutApprover, NO_FACTS } from './approvers.ts'
import { type Actor, decideRequest, type RequestAction } from './decide-request.ts'
import { eligibleIdentities } from './eligibility.ts'
import { type AppliedPolicy, gatesOf, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { readObjectFates } from './object-fates.ts'
import { reconcileRequests } from './reconcile-requests.ts'
import { identitiesNamedBy, type RenamedIdentities, renameInDefinitions } from './rename-identities.ts'
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
    const current = await deps.collections.findCurrent(tenantId, id, 'joinable')
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
    { cause: 'DefinitionChanged', actorId: collection.definedBy },
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
  const current = await deps.collections.findCurrent(tenantId, collectionId, 'joinable')
  if (current?.value.definitionVersion === decidedBy.definitionVersion) return saved
  if (current === undefined) await endRequests([saved], 'The collection was deleted', deps)
  else await applyPolicyToWaiting(current.value, [saved], deps)
  return (await deps.requests.find(tenantId, id)) ?? saved
}

/**
 * Brings new requests in line with core objects that were deleted, merged or handed over, and with a collection that was
 * deleted, shortly before they were saved: what happens later is followed by the evaluation.
 * @returns Whether any request changed.
 */
export async function endOrphaned(
  created: readonly Versioned<MembershipRequest>[],
  deps: RequestDependencies,
): Promise<boolean> {
  const [first] = created
  if (first === undefined) return false
  const { tenantId } = first.value
  const { changedCollections, hasChanged } = await reconcileRequests(tenantId, created, deps)
  await notifyMembershipChanges(tenantId, changedCollections, deps)
  return hasChanged
}

/** Bounds how long a process keeps relying on changes alone, in case another process was interrupted. */
const FULL_PASS_INTERVAL_MS = 24 * 60 * 60 * 1000

/**
 * Keeps requests, join policies and conditions in line with the core objects: what an identity had that was merged belongs
 * to the one that remains, what ended by a deletion comes back with the deleted object. A full pass checks everything; it
 * runs first in each process, after each failure, and once a day. It completes what an interrupted process has left.
 *
 * The org chart is read again after the requests: an identity created in the meantime may have joined.
 */
export class RequestReconciler implements ChangeReconciler {
  readonly #deps: RequestDependencies
  /** Time of the last full pass, for tenants whose changes have all been processed since. */
  readonly #fullPassAtMs = new Map<string, number>()

  constructor(deps: RequestDependencies) {
    this.#deps = deps
  }

  async reconcile(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<boolean> {
    const nowMs = this.#deps.nowMs()
    const fullPassAtMs = this.#fullPassAtMs.get(tenantId)
    // Restored only when this pass succeeds.
    this.#fullPassAtMs.delete(tenantId)
    const isFullPassDue = fullPassAtMs === undefined || nowMs - fullPassAtMs >= FULL_PASS_INTERVAL_MS
    const isFull = changes === 'everything' || isFullPassDue
    const isRewritten = isFull
      ? await this.#reconcileAll(tenantId)
      : await this.#reconcileChanged(tenantId, rows, changes)
    this.#fullPassAtMs.set(tenantId, isFull ? nowMs : fullPassAtMs)
    return isRewritten
  }

  async #reconcileChanged(
    tenantId: string,
    rows: RowSnapshot,
    { ids, attributes, rowsMoved }: KnownChanges,
  ): Promise<boolean> {
    const { requests, collections } = this.#deps
    const deletedIdentities = [...ids.identity].filter((id) => !rows.has('identity', id))
    const positions = [...ids.relationship].filter((id) => !rows.has('relationship', id) || attributes.has(HOLDER))
    const affected = [...deletedIdentities, ...positions]
    // A request that was saved before a change of these rows was decided without it.
    if (affected.length > 0 || rowsMoved) await requests.catchUp(tenantId)
    const live = affected.length === 0 ? [] : await requests.liveOfObjects(tenantId, affected)
    const restorable = rowsMoved ? await requests.restorable(tenantId, this.#deps.nowMs()) : []
    const renamed = await this.#renamed(tenantId, deletedIdentities)
    const isRewritten =
      renamed.size > 0 && (await renameInDefinitions(await collections.list(tenantId, {}), renamed, this.#deps))
    await this.#reconcile(tenantId, [...live, ...restorable])
    if (isRewritten) await this.#moveMisplaced(tenantId, await requests.liveOutlines(tenantId))
    return isRewritten
  }

  async #reconcileAll(tenantId: string): Promise<boolean> {
    const { requests, collections } = this.#deps
    await requests.catchUp(tenantId)
    const outlines = await requests.liveOutlines(tenantId)
    // After the requests: the collection of each of them is in the list, unless it was deleted.
    await collections.catchUp(tenantId)
    const all = await collections.list(tenantId, {})
    const isRewritten = await renameInDefinitions(
      all,
      await this.#renamed(tenantId, all.flatMap(identitiesNamedBy)),
      this.#deps,
    )
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    const joinables = new Set(all.flatMap(({ id, kind }) => (kind === 'joinable' ? [id] : [])))
    const suspect = outlines.filter((outline) => !joinables.has(outline.collectionId) || isSuspect(outline, orgChart))
    const restorable = await requests.restorable(tenantId, this.#deps.nowMs())
    await this.#reconcile(tenantId, [...(await this.#read(tenantId, suspect)), ...restorable])
    await this.#moveMisplaced(tenantId, outlines)
    return isRewritten
  }

  /** The identities among these that were merged into others. */
  async #renamed(tenantId: string, identityIds: readonly string[]): Promise<RenamedIdentities> {
    if (identityIds.length === 0) return new Map()
    const fates = await readObjectFates(tenantId, identityIds, this.#deps)
    return new Map(
      identityIds.flatMap((id) => {
        const fate = fates.identity(id)
        return fate.isLive && fate.id !== id ? [[id, fate.id] as const] : []
      }),
    )
  }

  /** Moves waiting requests that another version of their policy has placed. */
  async #moveMisplaced(tenantId: string, outlines: readonly RequestOutline[]): Promise<void> {
    const waiting = outlines.filter(({ status }) => status === 'PendingApproval')
    if (waiting.length === 0) return
    const joinables = await this.#deps.collections.list(tenantId, { kind: 'joinable' })
    const byCollection = Map.groupBy(waiting, ({ collectionId }) => collectionId)
    for (const collection of joinables) {
      const policy = policyOf(collection)
      const misplaced = (byCollection.get(collection.id) ?? []).filter((outline) => isMisplaced(outline, policy))
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
  async #reconcile(tenantId: string, requests: readonly Versioned<MembershipRequest>[]): Promise<void> {
    const { changedCollections } = await reconcileRequests(tenantId, requests, this.#deps)
    await notifyLinkedGroups(tenantId, changedCollections, this.#deps)
  }
}

const HOLDER = schemaName('relationship', 'identity')

/** Whether the subject or the position no longer exists, or another identity holds the position. */
function isSuspect({ requesterId, relationshipId }: RequestOutline, orgChart: OrgChart): boolean {
  if (!orgChart.has('identity', requesterId)) return true
  return relationshipId !== null && orgChart.holderOf(relationshipId) !== requesterId
}
