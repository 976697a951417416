import { type Static, Type } from 'typebox'
import { GroupLink } from './group-link.ts'
import { rejectionOf } from './removal-rejection.ts'

/**
 * What belongs to a group rather than to its link: the removals that the guard counts, those that a person has rejected,
 * the writes that reads may not show yet, and the lease of a worker that may still be writing. A link that is deleted
 * leaves it to the group's next link, of whichever collection.
 */
export const FormerLink = Type.Object({
  removalWindow: GroupLink.properties.removalWindow,
  recentWrites: GroupLink.properties.recentWrites,
  lease: GroupLink.properties.lease,
  lastToken: GroupLink.properties.lastToken,
  /** Held removals that a person has rejected. Absent in records of the version before. */
  heldRemovals: Type.Optional(GroupLink.properties.heldRemovals),
})
export type FormerLink = Readonly<Static<typeof FormerLink>>

/** Seconds. Removals count for 24 hours. The worker of a deleted link can send some until its lease ends. */
export const FORMER_LINK_KEPT_S = 25 * 60 * 60

/** What a link leaves to the next link of its group. */
export function formerLinkOf({
  removalWindow,
  recentWrites,
  lease,
  lastToken,
  heldRemovals = null,
}: FormerLink): Required<FormerLink> {
  const rejected = rejectionOf(heldRemovals) === undefined ? null : heldRemovals
  return { removalWindow, recentWrites, lease, lastToken, heldRemovals: rejected }
}

/** A new link of a group that had one before. */
export function succeeding(link: GroupLink, former: FormerLink | undefined): GroupLink {
  return former === undefined ? link : { ...link, ...formerLinkOf(former) }
}
