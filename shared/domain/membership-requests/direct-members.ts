import { type Static, Type } from 'typebox'
import { chunk } from '../../kernel/chunk.ts'
import { Refusal, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, Guid } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { type Actor, decideRequest } from './decide-request.ts'
import { NO_GATES } from './gate-approvers.ts'
import { policyOf } from './join-policy.ts'
import { type MembershipRequest, slotOf } from './membership-request.ts'
import { freshOrgChart, notifyMembershipChanges, type RequestDependencies } from './request-dependencies.ts'
import { type RequestChange, saveable } from './request-store.ts'
import { endOrphaned } from './settle-requests.ts'

/** As many as filter-members takes. */
const IDENTITIES_AT_MOST = 10_000

export const MemberChange = Type.Object({ coreIdentityIds: Type.Array(Guid, { maxItems: IDENTITIES_AT_MOST }) })
export type MemberChange = Static<typeof MemberChange>

export const AddedMembers = Closed({ added: Type.Integer(), alreadyMembers: Type.Integer() })
export const RemovedMembers = Closed({ removed: Type.Integer(), notMembers: Type.Integer() })

/** Identities whose requests are read at once. */
const IDENTITIES_PER_PART_COUNT = 500

/** Times that a part is read and decided anew, without any of it saved, because others changed the same memberships. */
const ATTEMPTS_AT_MOST = 5

/**
 * Makes identities members without asking anyone, at their main position. An open request for the same membership is
 * thereby answered; each other membership gets a request of its own, so that it has its history.
 * @throws Refusal `CollectionNotFound`; `IdentityUnknown` for each id that does not exist, and then nobody is added.
 */
export async function addMembersDirectly(
  tenantId: string,
  collectionId: string,
  { coreIdentityIds }: MemberChange,
  actor: Actor,
  deps: RequestDependencies,
): Promise<Static<typeof AddedMembers>> {
  const orgChart = await freshOrgChart(tenantId, deps)
  const unknown = coreIdentityIds.flatMap((id, index) => (orgChart.has('identity', id) ? [] : [{ id, index }]))
  const collection = await deps.collections.find(tenantId, collectionId, 'joinable')
  throwIfRefused(
    unknown.map(({ id, index }) =>
      refusalEntry('IdentityUnknown', `There is no identity ${id}`, `/coreIdentityIds/${index}`),
    ),
  )
  const { value } = found(collection, collectionId)
  const identityIds = [...new Set(coreIdentityIds)]
  const added = await inParts(identityIds, value, deps, (part, live) =>
    part.flatMap((identityId) => joining(identityId, live, value, orgChart, actor, deps) ?? []),
  )
  return { added, alreadyMembers: identityIds.length - added }
}

/**
 * Ends all memberships of identities in a collection; those who are none are counted.
 * @throws Refusal `CollectionNotFound`
 */
export async function removeMembersDirectly(
  tenantId: string,
  collectionId: string,
  { coreIdentityIds }: MemberChange,
  actor: Actor,
  deps: RequestDependencies,
): Promise<Static<typeof RemovedMembers>> {
  const { value } = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId)
  const identityIds = [...new Set(coreIdentityIds)]
  const removed = await inParts(identityIds, value, deps, (_part, live) =>
    live
      .filter((request) => request.value.status === 'Joined')
      .flatMap((before) => changeTo('end', before, value, actor, deps)),
  )
  return { removed, notMembers: identityIds.length - removed }
}

/** What is to change for some identities, given what is live of them in the collection. */
type Plan = (part: readonly string[], live: readonly Versioned<MembershipRequest>[]) => RequestChange[]

/** @returns How many identities were changed. */
async function inParts(
  identityIds: readonly string[],
  { tenantId, id: collectionId }: Collection,
  deps: RequestDependencies,
  plan: Plan,
): Promise<number> {
  const saved: Versioned<MembershipRequest>[] = []
  await deps.tenants.remember(tenantId)
  try {
    for (const part of chunk(identityIds, IDENTITIES_PER_PART_COUNT)) {
      await changePart(part, tenantId, collectionId, deps, plan, saved)
    }
  } finally {
    // Who was changed before a later part failed is changed nevertheless.
    if (saved.length > 0) await notifyMembershipChanges(tenantId, new Set([collectionId]), deps)
    await endOrphaned(
      saved.filter(({ value }) => value.status === 'Joined'),
      deps,
    )
  }
  return new Set(saved.map(({ value }) => value.requesterId)).size
}

/** @param saved is added to. */
async function changePart(
  part: readonly string[],
  tenantId: string,
  collectionId: string,
  deps: RequestDependencies,
  plan: Plan,
  saved: Versioned<MembershipRequest>[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const savedBefore = saved.length
    const changes = plan(part, await deps.requests.liveIn(tenantId, collectionId, part))
    try {
      for (const some of saveable(changes)) saved.push(...(await deps.requests.save(some)))
      return
    } catch (error) {
      const isOvertaken =
        error instanceof Refusal && (error.code === 'InvalidRequestState' || error.code === 'RequestAlreadyOpen')
      if (saved.length > savedBefore) attempt = 0
      if (!isOvertaken || attempt === ATTEMPTS_AT_MOST) throw error
    }
  }
}

function joining(
  identityId: string,
  live: readonly Versioned<MembershipRequest>[],
  collection: Collection,
  orgChart: OrgChart,
  actor: Actor,
  deps: RequestDependencies,
): RequestChange[] | undefined {
  const relationshipId = orgChart.mainPositionOf(identityId) ?? null
  const slot = slotOf(collection, identityId, relationshipId)
  const before = live.find(({ value }) => value.slot === slot)
  if (before?.value.status === 'Joined') return undefined
  if (before !== undefined) return changeTo('admit', before, collection, actor, deps)
  const at = toTimestamp(deps.nowMs())
  const after: MembershipRequest = {
    id: deps.newId(),
    tenantId: collection.tenantId,
    slot,
    collectionId: collection.id,
    requesterId: identityId,
    submittedBy: actor.id,
    relationshipId,
    status: 'Joined',
    currentGate: null,
    notes: null,
    createdAt: at,
    updatedAt: at,
    lifecycle: [{ status: 'Joined', actorId: actor.id, at }],
  }
  return [{ after }]
}

function changeTo(
  kind: 'admit' | 'end',
  before: Versioned<MembershipRequest>,
  collection: Collection,
  actor: Actor,
  deps: RequestDependencies,
): RequestChange[] {
  const decision = decideRequest(before.value, policyOf(collection), NO_GATES, { kind, actor }, deps.nowMs())
  return decision.outcome === 'next' ? [{ before, after: decision.request }] : []
}
