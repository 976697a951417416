import { type Static, Type } from 'typebox'
import { chunk } from '../../kernel/chunk.ts'
import { refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, Guid } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { isMembershipChange, isRequestConflict } from './apply-transitions.ts'
import { NO_FACTS } from './approvers.ts'
import { type Actor, decideRequest, type RequestAction } from './decide-request.ts'
import { allowedEnd, DateInput, futureEndMs, grantedEnd } from './ends.ts'
import { policyOf } from './join-policy.ts'
import { endedForGood, isLive, type MembershipRequest, newRequest, slotOf } from './membership-request.ts'
import { endOrphaned, type ReconciledDependencies } from './reconcile-requests.ts'
import {
  freshOrgChart,
  type JoinDependencies,
  notifyMembershipChanges,
  type RequestChange,
} from './request-dependencies.ts'

/** The limit of filter-members. */
const MAX_IDENTITIES = 10_000

export const MemberChange = Type.Object({ coreIdentityIds: Type.Array(Guid, { maxItems: MAX_IDENTITIES }) })
export type MemberChange = Static<typeof MemberChange>

/** Body of a direct add. */
export const MemberAddition = Type.Object({ ...MemberChange.properties, endsAt: Type.Optional(DateInput) })
type MemberAddition = Static<typeof MemberAddition>

export const AddedMembers = Closed({ added: Type.Integer(), alreadyMembers: Type.Integer() })
export const RemovedMembers = Closed({ removed: Type.Integer(), notMembers: Type.Integer() })

/** Identities whose requests are read together. */
const IDENTITIES_PER_BATCH_COUNT = 500

/** Attempts for a batch without any progress, when concurrent actions change the same memberships. */
const MAX_ATTEMPTS = 5

type DirectDependencies = ReconciledDependencies & Pick<JoinDependencies, 'tenants'>

/**
 * Adds identities as members without approval, at their main position. An open request for the same membership is
 * granted. Otherwise a request is created in `Joined`, so that each membership has a history.
 * @throws Refusal `InvalidEnd`; `CollectionNotFound`; `IdentityUnknown` for each id that does not exist, and no member is
 * added then; `EndTooLate`.
 */
export async function addMembersDirectly(
  tenantId: string,
  collectionId: string,
  { coreIdentityIds, endsAt }: MemberAddition,
  actor: Actor,
  deps: DirectDependencies,
): Promise<Static<typeof AddedMembers>> {
  const orgChart = await freshOrgChart(tenantId, deps)
  const endMs = endsAt === undefined ? undefined : futureEndMs(endsAt, orgChart.zone, deps.nowMs())
  const unknown = coreIdentityIds.flatMap((id, index) => (orgChart.has('identity', id) ? [] : [{ id, index }]))
  const collection = await deps.collections.find(tenantId, collectionId, 'joinable')
  throwIfRefused(
    unknown.map(({ id, index }) =>
      refusalEntry('IdentityUnknown', `There is no identity ${id}`, `/coreIdentityIds/${index}`),
    ),
  )
  const { value } = found(collection, collectionId)
  const identityIds = [...new Set(coreIdentityIds)]
  const addition: Addition = {
    collection: value,
    orgChart,
    actor,
    endsAt: allowedEnd(endMs, policyOf(value), deps.nowMs()),
  }
  const added = await changeMembers(identityIds, value, deps, (batch, requests) => {
    const live = requests.filter(({ value }) => isLive(value))
    return batch.flatMap((identityId) => joinChanges(identityId, live, addition, deps) ?? [])
  })
  return { added: added.size, alreadyMembers: identityIds.length - added.size }
}

/**
 * Ends all memberships of identities in a collection, also those of identities that were merged into them. Those that
 * ended by a deletion do not come back. Identities that are not members are counted in `notMembers`.
 * @throws Refusal `CollectionNotFound`
 */
export async function removeMembersDirectly(
  tenantId: string,
  collectionId: string,
  { coreIdentityIds }: MemberChange,
  actor: Actor,
  deps: DirectDependencies,
): Promise<Static<typeof RemovedMembers>> {
  const { value } = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId)
  const identityIds = [...new Set(coreIdentityIds)]
  const owners = await ownersOf(tenantId, identityIds, deps)
  const changed = await changeMembers([...owners.keys()], value, deps, (_batch, requests) =>
    requests.flatMap((before) => {
      if (before.value.status === 'Joined') return transitionChange({ kind: 'end', actor }, before, value, deps)
      return isLive(before.value) ? [] : [{ before, after: endedForGood(before.value) }]
    }),
  )
  const removed = new Set([...changed].map((id) => owners.get(id))).size
  return { removed, notMembers: identityIds.length - removed }
}

/** The identities by their own ids, and by those of all that were merged into them. */
async function ownersOf(
  tenantId: string,
  identityIds: readonly string[],
  { deletedObjects }: Pick<DirectDependencies, 'deletedObjects'>,
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map(identityIds.map((id) => [id, id]))
  let pending = identityIds
  while (pending.length > 0) {
    const merged: string[] = []
    for (const { id, mergedInto } of await deletedObjects.mergedInto(tenantId, pending)) {
      if (owners.has(id)) continue
      owners.set(id, owners.get(mergedInto) ?? mergedInto)
      merged.push(id)
    }
    pending = merged
  }
  return owners
}

/** Returns the changes for a batch of identities, given their requests in the collection that are live or can come back. */
type Plan = (batch: readonly string[], requests: readonly Versioned<MembershipRequest>[]) => RequestChange[]

/** @returns The identities whose membership changed. */
async function changeMembers(
  identityIds: readonly string[],
  { tenantId, id: collectionId }: Collection,
  deps: DirectDependencies,
  plan: Plan,
): Promise<ReadonlySet<string>> {
  const saved: Versioned<MembershipRequest>[] = []
  let hasChanges = false
  const observedPlan: Plan = (batch, requests) => {
    const changes = plan(batch, requests)
    hasChanges ||= changes.some(isMembershipChange)
    return changes
  }
  await deps.tenants.register(tenantId)
  try {
    for (const batch of chunk(identityIds, IDENTITIES_PER_BATCH_COUNT)) {
      await changeBatch(batch, tenantId, collectionId, deps, observedPlan, saved)
    }
  } finally {
    // Also after a failure: earlier batches are already saved, and the one that failed may be.
    if (hasChanges) await notifyMembershipChanges(tenantId, new Set([collectionId]), deps)
    await endOrphaned(
      saved.filter(({ value }) => value.status === 'Joined'),
      deps,
    )
  }
  return new Set(saved.map(({ value }) => value.requesterId))
}

/** @param saved Receives the saved requests that join or leave. */
async function changeBatch(
  batch: readonly string[],
  tenantId: string,
  collectionId: string,
  { requests, nowMs }: Pick<DirectDependencies, 'nowMs' | 'requests'>,
  plan: Plan,
  saved: Versioned<MembershipRequest>[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const savedBefore = saved.length
    const changes = plan(batch, await requests.liveOrRestorableIn(tenantId, collectionId, batch, nowMs()))
    try {
      for (const ofOne of requests.batches(changes)) {
        const written = await requests.save(ofOne)
        saved.push(...ofOne.flatMap((change, index) => (isMembershipChange(change) ? (written[index] ?? []) : [])))
      }
      return
    } catch (error) {
      if (saved.length > savedBefore) attempt = 0
      if (!isRequestConflict(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

type Addition = {
  readonly collection: Collection
  readonly orgChart: OrgChart
  readonly actor: Actor
  /** The end that was sent, as a timestamp. */
  readonly endsAt: string | undefined
}

function joinChanges(
  identityId: string,
  live: readonly Versioned<MembershipRequest>[],
  { collection, orgChart, actor, endsAt }: Addition,
  deps: Pick<DirectDependencies, 'newId' | 'nowMs'>,
): RequestChange[] | undefined {
  const relationshipId = orgChart.mainPositionOf(identityId) ?? null
  const own = live.filter(({ value }) => value.requesterId === identityId)
  // A member by another position is not added a second time.
  if (own.some(({ value }) => value.status === 'Joined')) return undefined
  const slot = slotOf(collection, identityId, relationshipId)
  const before = own.find(({ value }) => value.slot === slot)
  if (before !== undefined) return transitionChange({ kind: 'admit', actor, endsAt }, before, collection, deps)
  const after = newRequest({
    id: deps.newId(),
    collection,
    requesterId: identityId,
    relationshipId,
    submittedBy: actor.id,
    status: 'Joined',
    notes: null,
    endsAt: grantedEnd(endsAt, policyOf(collection), deps.nowMs()),
    at: toTimestamp(deps.nowMs()),
  })
  return [{ after, attribution: { cause: 'Direct', actorId: actor.id } }]
}

function transitionChange(
  action: RequestAction & { readonly kind: 'admit' | 'end' },
  before: Versioned<MembershipRequest>,
  collection: Collection,
  deps: Pick<DirectDependencies, 'nowMs'>,
): RequestChange[] {
  const { actor } = action
  const decision = decideRequest(before.value, policyOf(collection), NO_FACTS, action, deps.nowMs())
  if (decision.outcome !== 'next') return []
  return [{ before, after: decision.request, attribution: { cause: 'Direct', actorId: actor.id } }]
}
