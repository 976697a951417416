import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { instantIn, type TimeZone } from '../../kernel/time-zone.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { type Page, type PageRange, pageFrom } from '../../kernel/versioned.ts'
import type { CollectionDependencies, CollectionSummary } from '../collections/collection-dependencies.ts'
import { readCollection } from '../collections/read-collections.ts'
import {
  type HistoryRange,
  MEMBER_CHANGE_CAUSES,
  type MemberEvent,
  pageOfEvents,
  positionOf,
} from '../history/member-history.ts'
import type { TimeZoneSource } from '../tenant-index/row-settings.ts'

/** One member that was added or removed. */
export const HistoryEntry = Closed({
  at: Timestamp,
  objectId: Described(Guid, 'The id as in the results of the collection; in a joinable collection the identity.'),
  relationshipId: Described(
    Nullable(Guid),
    'In a criteria collection of relationships the same as `objectId`; in a joinable collection the position that the ' +
      'membership is for; otherwise null.',
  ),
  change: OneOf(['Added', 'Removed']),
  cause: Described(
    OneOf(MEMBER_CHANGE_CAUSES),
    '`DefinitionChanged`: the condition or the join policy was changed, or the collection is new. `ObjectChanged`: the ' +
      'object itself, or data on its rows; also a position that was handed over and what was restored after a deletion. ' +
      '`ReferencedCollection`: the members of a collection that the condition tests. `DayChanged`: a date that the ' +
      'condition compares with `Today()`. `ObjectDeleted`: the object was deleted. `Merged`: two identities became one. ' +
      '`Request`: a membership request. `Direct`: added or removed without a request. `Expired`: the membership reached ' +
      'its end.',
  ),
  actorId: Described(
    Type.String(),
    'Who changed the definition, decided on the request, left, or changed the members directly: a core identity id, or ' +
      'the `oid` of an actor without one. Otherwise `system`.',
  ),
  requestId: Described(Nullable(Guid), 'The membership request; null in a criteria collection.'),
  until: Described(
    Nullable(Timestamp),
    'When the membership that began was to end at the time of the change; an extension can have moved the end since. ' +
      'Null without an end, and for a removal.',
  ),
  membershipVersion: Described(
    Type.Integer(),
    'Rises by one with each change of the members. Members that were changed together have the same version.',
  ),
})
export type HistoryEntry = Static<typeof HistoryEntry>

export const ObjectHistoryEntry = Closed({ collectionId: Guid, ...HistoryEntry.properties })
export type ObjectHistoryEntry = Static<typeof ObjectHistoryEntry>

type HistoryDependencies = Pick<CollectionDependencies, 'collections' | 'history'> & {
  readonly timeZones: TimeZoneSource
}

export type HistoryQuery = TimeQuery & { readonly objectId: string | undefined }

type TimeQuery = {
  /** Dates or timestamps. */
  readonly from: string | undefined
  readonly to: string | undefined
}

/**
 * A page of the changes of the members of a collection, the newest first.
 * @throws Refusal `CollectionNotFound`; `InvalidValue` for a time that is none.
 */
export async function listHistory(
  tenantId: string,
  collectionId: string,
  { objectId, from, to }: HistoryQuery,
  { after, size }: PageRange,
  deps: HistoryDependencies,
): Promise<Page<HistoryEntry>> {
  const range = rangeOf(from, to, await deps.timeZones.zoneOf(tenantId))
  const { value: collection } = await readCollection(tenantId, collectionId, undefined, deps)
  const history = deps.history[collection.kind]
  const position = after === undefined ? undefined : positionOf(after)
  const pages =
    objectId === undefined
      ? history.newestFirst(tenantId, collectionId, range, position)
      : history.ofObject(tenantId, collectionId, objectId, range, position)
  const page = await pageOfEvents(pages, size)
  return { ...page, items: page.items.map((event) => toHistoryEntry(event, collection)) }
}

/** An entry as clients see it. */
export function toHistoryEntry(event: MemberEvent, { kind, objectType }: CollectionSummary): HistoryEntry {
  const { objectId, change, cause, actorId, membershipVersion } = event
  const position = kind === 'criteria' && objectType === 'Relationship' ? objectId : null
  return {
    at: toTimestamp(event.atMs),
    objectId,
    relationshipId: event.relationshipId ?? position,
    change,
    cause,
    actorId,
    requestId: event.requestId ?? null,
    until: (change === 'Added' ? event.until : undefined) ?? null,
    membershipVersion,
  }
}

/**
 * The history of one object in all collections of the tenant. Each page reads all its changes: an object has few of them.
 * @throws Refusal `InvalidValue` for a time that is none.
 */
export async function listObjectHistory(
  tenantId: string,
  objectId: string,
  { from, to }: TimeQuery,
  { after, size }: PageRange,
  deps: HistoryDependencies,
): Promise<Page<ObjectHistoryEntry>> {
  const range = rangeOf(from, to, await deps.timeZones.zoneOf(tenantId))
  const all = await deps.collections.summaries(tenantId)
  const found = await Promise.all(
    (['criteria', 'joinable'] as const).map((kind) => {
      const ids = all.flatMap((collection) => (collection.kind === kind ? [collection.id] : []))
      return deps.history[kind].ofObjectInEach(tenantId, ids, objectId, range)
    }),
  )
  const events = all.flatMap((collection) =>
    found.flatMap((byCollection) => byCollection.get(collection.id) ?? []).map((event) => ({ collection, event })),
  )
  const ordered = events.sort((left, right) => comparePlaces(offsetOf(right), offsetOf(left)))
  const last = after === undefined ? undefined : (JSON.parse(after) as Place)
  const rest = last === undefined ? ordered : ordered.filter((entry) => comparePlaces(offsetOf(entry), last) < 0)
  const page = pageFrom(rest, size, (entry) => JSON.stringify(offsetOf(entry)))
  const items = page.items.map(({ collection, event }) => {
    return { collectionId: collection.id, ...toHistoryEntry(event, collection) }
  })
  return { ...page, items }
}

/** The place of an event among those of all collections. */
type Place = readonly [atMs: number, collectionId: string, membershipVersion: number, index: number]

function offsetOf({
  collection,
  event,
}: {
  readonly collection: CollectionSummary
  readonly event: MemberEvent
}): Place {
  return [event.atMs, collection.id, event.membershipVersion, event.index]
}

function comparePlaces(left: Place, right: Place): number {
  for (const [index, value] of left.entries()) {
    const compared = right[index] as typeof value
    if (value !== compared) return value < compared ? -1 : 1
  }
  return 0
}

function rangeOf(from: string | undefined, to: string | undefined, zone: TimeZone): HistoryRange {
  return {
    fromMs: from === undefined ? 0 : instantMsOf(from, 'from', zone),
    toMs: to === undefined ? Number.MAX_SAFE_INTEGER : instantMsOf(to, 'to', zone),
  }
}

/**
 * The instant of a query parameter, for a date the beginning of its day. In a URL, `+` that is not encoded arrives as a
 * space.
 * @throws Refusal `InvalidValue`.
 */
export function instantMsOf(text: string, parameter: string, zone: TimeZone): number {
  const instantMs = instantIn(zone, text.replace(' ', '+'))
  if (instantMs === undefined)
    throw new Refusal('InvalidValue', `${parameter} must be a date, or a date and time`, parameter)
  return instantMs
}
