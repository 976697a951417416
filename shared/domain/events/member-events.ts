import { toTimestamp } from '../../kernel/timestamp.ts'
import type { CollectionSummary } from '../collections/collection-dependencies.ts'
import { type AttributedChange, eventsOf } from '../history/member-history.ts'
import { toHistoryEntry } from '../insight/list-history.ts'
import type { EventDraft } from './event-types.ts'

/** A stored change of the members of a collection. */
export type ChangeOfVersion = {
  readonly membershipVersion: number
  readonly atMs: number
  readonly addedCount: number
  readonly removedCount: number
  /** Empty when there are more than `SINGLE_EVENTS_COUNT`. */
  readonly changes: readonly AttributedChange[]
}

/** Members that may change in one version with an event for each of them. */
export const SINGLE_EVENTS_COUNT = 1_000

/** What a change of members tells, in the order of the history. */
export function eventsOfMembers(change: ChangeOfVersion, collection: CollectionSummary): EventDraft[] {
  const { membershipVersion, atMs, addedCount: added, removedCount: removed, changes } = change
  const collectionId = collection.id
  const version = [collectionId, String(membershipVersion), String(atMs)]
  const time = toTimestamp(atMs)
  if (added + removed > SINGLE_EVENTS_COUNT) {
    const data = { collectionId, added, removed, membershipVersion }
    return [{ key: version, type: 'members.changed', time, subject: `/collections/${collectionId}`, data }]
  }
  return eventsOf(changes, change)
    .reverse()
    .map((event) => ({
      key: [...version, String(event.index)],
      type: event.change === 'Added' ? 'member.added' : 'member.removed',
      time,
      subject: `/collections/${collectionId}/members/${event.objectId}`,
      data: { collectionId, ...toHistoryEntry(event, collection) },
    }))
}
