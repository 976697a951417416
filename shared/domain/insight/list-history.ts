import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { parseInstantMs, Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { Page } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { readCollection } from '../collections/read-collections.ts'
import {
  type HistoryRange,
  MEMBER_CHANGE_CAUSES,
  type MemberEvent,
  pageOfEvents,
  positionOf,
} from '../history/member-history.ts'

/** One member that was added or removed: decisions, section 15. */
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
      '`Request`: a membership request. `Direct`: added or removed without a request.',
  ),
  actorId: Described(
    Type.String(),
    'Who changed the definition, decided on the request, left, or changed the members directly: a core identity id, or ' +
      'the `oid` of an actor without one. Otherwise `system`.',
  ),
  requestId: Described(Nullable(Guid), 'The membership request; null in a criteria collection.'),
  membershipVersion: Described(
    Type.Integer(),
    'Rises by one with each change of the members. Members that were changed together have the same version.',
  ),
})
export type HistoryEntry = Static<typeof HistoryEntry>

type HistoryDependencies = Pick<CollectionDependencies, 'collections' | 'memberships' | 'joined' | 'history' | 'nowMs'>

export type HistoryQuery = {
  readonly objectId: string | undefined
  /** Timestamps. */
  readonly from: string | undefined
  readonly to: string | undefined
}

type AskedPage = { readonly after: string | undefined; readonly size: number }

/**
 * A page of the changes of the members of a collection, the newest first.
 * @throws Refusal `CollectionNotFound`; `InvalidValue` for a time that is none.
 */
export async function listHistory(
  tenantId: string,
  collectionId: string,
  { objectId, from, to }: HistoryQuery,
  { after, size }: AskedPage,
  deps: HistoryDependencies,
): Promise<Page<HistoryEntry>> {
  const range = rangeOf(from, to)
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

function toHistoryEntry(event: MemberEvent, { kind, objectType }: Collection): HistoryEntry {
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
    membershipVersion,
  }
}

function rangeOf(from: string | undefined, to: string | undefined): HistoryRange {
  return {
    fromMs: from === undefined ? 0 : instantMsOf(from, 'from'),
    toMs: to === undefined ? Number.MAX_SAFE_INTEGER : instantMsOf(to, 'to'),
  }
}

/**
 * The instant of a query parameter. In a URL, `+` that is not encoded arrives as a space.
 * @throws Refusal `InvalidValue`.
 */
export function instantMsOf(text: string, parameter: string): number {
  const instantMs = parseInstantMs(text.replace(' ', '+'))
  if (instantMs === undefined) throw new Refusal('InvalidValue', `${parameter} must be a date and time`, parameter)
  return instantMs
}
