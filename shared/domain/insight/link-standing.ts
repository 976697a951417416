import type { Static } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { MembershipChange } from '../collections/membership-store.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { syncStateOf } from '../group-links/sync-state.ts'

/** Where an object stands in the group of a link. */
export const LinkStanding = Closed({
  linkId: Guid,
  directoryGroupId: Guid,
  directoryObjectId: Described(Nullable(Guid), 'The account of the identity; null without one.'),
  state: Described(
    OneOf([
      'NoAccount',
      'LinkDisabled',
      'Pending',
      'Held',
      'Written',
      'InGroupByOthers',
      'InGroupRemovalPaused',
      'InGroupRemovalPending',
      'NotInGroup',
    ]),
    'The directory is asked for the groups of the account. `NoAccount`: a member without an account, or with one that ' +
      'the directory does not know, or that the last sync could not add. `LinkDisabled`: nothing is written. ' +
      '`Written`: a member, and in the group. ' +
      '`Pending`: a member, and not in the group yet; or the directory cannot be asked, or does not show what was ' +
      'written within the last ten minutes. Of an object that is no member: `Held`: the removal guard holds the removal. ' +
      '`InGroupByOthers`: in the group, and not added by this service. `InGroupRemovalPaused`: in the group for as long ' +
      "as members without an account pause removals; see the link's `pausedBy`. `InGroupRemovalPending`: in the group " +
      'until the next sync. `NotInGroup`: not in the group.',
  ),
})
export type LinkStanding = Static<typeof LinkStanding>
type State = LinkStanding['state']

/** What is known of an object and the collection that a link feeds. */
export type Standing = {
  /** Whether a member of the collection has the account. */
  readonly isMember: boolean
  readonly directoryObjectId: string | null
  /** Ids under which the history of the collection names the members with this account. */
  readonly memberIds: readonly string[]
}

/** Where the directory has the account: in the group or not; it knows no such user; or it could not be asked. */
export type Presence = 'InGroup' | 'NotInGroup' | 'AccountUnknown' | 'NotKnown'

export type StandingFacts = {
  readonly presence: Presence
  /** Whether the removal guard holds the removal of the account. */
  readonly isHeld: boolean
  /** Whether a member with this account has ever left the collection. */
  readonly wasMember: boolean
  /** The changes of the collection's members that the link has not applied; undefined when they are not known. */
  readonly changes: readonly MembershipChange[] | undefined
  readonly nowMs: number
}

/** Decides where an object stands. */
export function linkStanding(link: GroupLink, standing: Standing, facts: StandingFacts): LinkStanding {
  const { id: linkId, directoryGroupId } = link
  const { directoryObjectId } = standing
  return { linkId, directoryGroupId, directoryObjectId, state: stateOf(link, standing, facts) }
}

function stateOf(link: GroupLink, standing: Standing, facts: StandingFacts): State {
  const { isMember, directoryObjectId: account } = standing
  if (account === null) return isMember ? 'NoAccount' : 'NotInGroup'
  if (link.state === 'Disabled') return 'LinkDisabled'
  return isMember
    ? stateOfMember(link, { ...standing, account }, facts)
    : stateOfOther(link, { ...standing, account }, facts)
}

type WithAccount = Standing & { readonly account: string }

function stateOfMember(
  link: GroupLink,
  { account, memberIds }: WithAccount,
  { presence, changes }: StandingFacts,
): State {
  switch (presence) {
    case 'InGroup':
      return 'Written'
    case 'NotInGroup':
      return link.unresolved.includes(account) ? 'NoAccount' : 'Pending'
    case 'AccountUnknown':
      return 'NoAccount'
    case 'NotKnown': {
      if (link.unresolved.includes(account)) return 'NoAccount'
      const isApplied = link.appliedMembershipVersion !== null && link.accountsChangedAtMs === null
      const isWritten = isApplied && changes !== undefined && !changes.some(({ added }) => isNamed(memberIds, added))
      return isWritten ? 'Written' : 'Pending'
    }
  }
}

function stateOfOther(link: GroupLink, standing: WithAccount, facts: StandingFacts): State {
  const { presence, isHeld, wasMember, changes, nowMs } = facts
  if (presence === 'AccountUnknown') return 'NotInGroup'
  const isRecent = wasAddedRecently(link, standing.account, nowMs)
  if (presence === 'NotInGroup' && !isRecent) return 'NotInGroup'
  if (isHeld) return 'Held'
  // Either the read does not show the addition yet, or another client of the directory has removed the account since.
  if (presence === 'NotInGroup') return 'Pending'
  if (presence === 'NotKnown') {
    const isLeaving = changes === undefined || changes.some(({ removed }) => isNamed(standing.memberIds, removed))
    return wasMember && isPaused(link) && !isLeaving ? 'InGroupRemovalPaused' : 'Pending'
  }
  if (presence === 'InGroup' && !wasMember) return 'InGroupByOthers'
  return isPaused(link) ? 'InGroupRemovalPaused' : 'InGroupRemovalPending'
}

const isPaused = (link: GroupLink): boolean => syncStateOf(link) === 'RemovalsPaused'

const isNamed = (memberIds: readonly string[], ids: readonly string[]): boolean =>
  memberIds.some((id) => ids.includes(id))

/** Reads of the directory may not show an addition yet. */
const READ_DELAY_MS = 10 * 60_000

function wasAddedRecently({ recentWrites }: GroupLink, account: string, nowMs: number): boolean {
  return recentWrites.some((write) => {
    return write.account === account && write.kind === 'added' && nowMs - write.atMs < READ_DELAY_MS
  })
}
