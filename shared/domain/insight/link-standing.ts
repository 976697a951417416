import type { Static } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { MembershipChange } from '../collections/membership-store.ts'
import type { GroupLink } from '../group-links/group-link.ts'

/** Where an object stands in the group of a link. */
export const LinkStanding = Closed({
  linkId: Guid,
  directoryGroupId: Guid,
  directoryObjectId: Described(Nullable(Guid), 'The account of the identity; null without one.'),
  state: Described(
    OneOf(['NoAccount', 'LinkDisabled', 'Pending', 'Held', 'Written', 'NotInGroup']),
    '`NoAccount`: a member without an account. `LinkDisabled`: nothing is written. `Pending`: the last change is not ' +
      'written yet. `Held`: the removal guard holds the removal. `Written`: added, as this service last left the group. `NotInGroup`: no member, so not added by ' +
      'this service.',
  ),
})
export type LinkStanding = Static<typeof LinkStanding>

/** What is known of an object and the collection that a link feeds. */
export type Standing = {
  readonly isMember: boolean
  readonly directoryObjectId: string | null
  /** Ids under which the history of the collection names the object. */
  readonly memberIds: readonly string[]
}

/**
 * Decides where an object stands.
 * @param isHeld Whether the removal guard holds the removal of the account.
 * @param changes The changes of the collection's members that the link has not applied; undefined when they are not
 * known.
 */
export function linkStanding(
  link: GroupLink,
  { isMember, directoryObjectId, memberIds }: Standing,
  changes: readonly MembershipChange[] | undefined,
  isHeld: boolean,
): LinkStanding {
  const { id: linkId, directoryGroupId, state } = link
  const standing = (decided: LinkStanding['state']) => ({
    linkId,
    directoryGroupId,
    directoryObjectId,
    state: decided,
  })
  if (directoryObjectId === null) return standing(isMember ? 'NoAccount' : 'NotInGroup')
  if (state === 'Disabled') return standing('LinkDisabled')
  const isNamed = (ids: readonly string[]) => memberIds.some((id) => ids.includes(id))
  if (isMember) {
    const isWritten =
      link.appliedMembershipVersion !== null &&
      link.accountsChangedAtMs === null &&
      changes !== undefined &&
      !changes.some(({ added }) => isNamed(added))
    return standing(isWritten ? 'Written' : 'Pending')
  }
  if (isHeld) return standing('Held')
  const isLeaving = changes === undefined || changes.some(({ removed }) => isNamed(removed))
  return standing(isLeaving && link.appliedMembershipVersion !== null ? 'Pending' : 'NotInGroup')
}
