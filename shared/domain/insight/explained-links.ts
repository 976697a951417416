import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { ObjectType } from '../core/core-object.ts'
import type { AccountDependencies } from '../evaluation/member-accounts.ts'
import { type Directory, DirectoryFault } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkStore } from '../group-links/link-store.ts'
import { type CauseDependencies, removalCausesOf } from '../group-links/removal-causes.ts'
import type { RemovalPlanStore } from '../group-links/removal-plan.ts'
import { ALL_TIME, newestEvent } from '../history/member-history.ts'
import type { RequestStore } from '../membership-requests/request-dependencies.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type LinkStanding, linkStanding, type Presence, type Standing } from './link-standing.ts'

export type ExplainedLinkDependencies = AccountDependencies & {
  readonly linkStore: LinkStore
  readonly removalPlans: RemovalPlanStore
  readonly directory: Pick<Directory, 'groupsOf'>
  nowMs(): number
}

type Dependencies = ExplainedLinkDependencies &
  CauseDependencies &
  Pick<CollectionDependencies, 'memberships' | 'joined' | 'history' | 'log'> & {
    readonly requests: Pick<RequestStore, 'liveIn'>
  }

type Subject = { readonly objectType: ObjectType; readonly objectId: string; readonly account: string | null }
type Membership = {
  readonly isMember: boolean
  readonly memberIds: readonly string[]
  readonly membershipVersion: number
}

/** Where an object stands in the groups of a collection. The directory is asked once, for all of them. */
export async function linkStandings(
  collection: Collection,
  subject: Subject,
  membership: Membership,
  rows: RowSnapshot,
  deps: Dependencies,
): Promise<LinkStanding[]> {
  const { tenantId, id, kind } = collection
  const links = (await deps.linkStore.ofCollection(tenantId, id)).map(({ value }) => value)
  if (links.length === 0) return []
  const standing = await accountStanding(collection, subject, membership, rows, deps)
  const presenceIn = await presenceOf(tenantId, standing, links, deps)
  const history = kind === 'joinable' ? deps.joined : deps.memberships
  const changesFor = async ({ appliedMembershipVersion: applied }: GroupLink) => {
    if (applied === null || applied === membership.membershipVersion) return []
    return history.changesAfter(tenantId, id, applied)
  }
  let known: Promise<boolean> | undefined
  const wasMember = () => {
    known ??= hasLeft(collection, links, standing, deps)
    return known
  }
  return Promise.all(
    links.map(async (link) => {
      const presence = presenceIn(link)
      const isNeeded = !standing.isMember && standing.directoryObjectId !== null && presence !== 'AccountUnknown'
      return linkStanding(link, standing, {
        presence,
        isHeld: await isHeldFor(link, standing, deps),
        wasMember: isNeeded && (await wasMember()),
        changes: await changesFor(link),
        nowMs: deps.nowMs(),
      })
    }),
  )
}

/** The account of a position is in a group also when another position of the same person is a member. */
async function accountStanding(
  { tenantId, id, kind, objectType }: Collection,
  subject: Subject,
  { isMember, memberIds }: Membership,
  rows: RowSnapshot,
  { memberships, requests }: Pick<Dependencies, 'memberships' | 'requests'>,
): Promise<Standing> {
  const standing = { isMember, memberIds, directoryObjectId: subject.account }
  const holder = subject.objectType === 'relationship' ? rows.holderOf(subject.objectId) : undefined
  if (isMember || holder === undefined) return standing
  if (kind === 'joinable') {
    const live = await requests.liveIn(tenantId, id, [holder])
    return { ...standing, isMember: live.some(({ value }) => value.status === 'Joined') }
  }
  if (objectType !== 'Relationship') return standing
  const held = rows.heldBy(holder)
  const members = await memberships.membersAmong(tenantId, id, held)
  return { ...standing, isMember: members.size > 0, memberIds: members.size > 0 ? [...members] : held }
}

/** Asks the directory for the groups of the account, if it can be in one of them. */
async function presenceOf(
  tenantId: string,
  { directoryObjectId: account }: Standing,
  links: readonly GroupLink[],
  { directory, log }: Pick<Dependencies, 'directory' | 'log'>,
): Promise<(link: GroupLink) => Presence> {
  const groupIds = links.filter(({ state }) => state === 'Enabled').map((link) => link.directoryGroupId)
  if (account === null || groupIds.length === 0) return () => 'NotKnown'
  try {
    const groups = await directory.groupsOf(tenantId, account, groupIds)
    if (groups === undefined) return () => 'AccountUnknown'
    return ({ directoryGroupId }) => (groups.has(directoryGroupId) ? 'InGroup' : 'NotInGroup')
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    log.warn('explain.directory-fault', { tenantId, kind: error.kind, reason: error.message })
    return () => 'NotKnown'
  }
}

/** Whether a member with this account has left the collection, as far as its history is kept. */
async function hasLeft(
  { tenantId, id, kind }: Collection,
  links: readonly GroupLink[],
  { memberIds, directoryObjectId }: Standing,
  deps: Dependencies,
): Promise<boolean> {
  for (const memberId of memberIds) {
    const newest = await newestEvent(deps.history[kind].ofObject(tenantId, id, memberId, ALL_TIME))
    if (newest !== undefined) return true
  }
  // A former position of the person is not among the ids.
  const accounts = directoryObjectId === null ? [] : [directoryObjectId]
  const comparedAtMs = Math.min(...links.map((link) => link.comparedAtMs ?? 0))
  return (await removalCausesOf({ tenantId, collectionId: id, comparedAtMs }, accounts, deps)).newest !== null
}

/** Whether the account of an object that is no member is in the plan of held removals. */
async function isHeldFor(
  { tenantId, heldRemovals }: GroupLink,
  { isMember, directoryObjectId }: Standing,
  { removalPlans }: Pick<Dependencies, 'removalPlans'>,
): Promise<boolean> {
  if (isMember || directoryObjectId === null || heldRemovals === null) return false
  return removalPlans.includes({ tenantId, planId: heldRemovals.planId }, directoryObjectId)
}
