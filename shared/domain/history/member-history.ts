import type { Page } from '../../kernel/versioned.ts'

/** Why a member was added or removed: decisions, section 15. */
export const MEMBER_CHANGE_CAUSES = [
  'DefinitionChanged',
  'ObjectChanged',
  'ReferencedCollection',
  'DayChanged',
  'ObjectDeleted',
  'Merged',
  'Request',
  'Direct',
] as const
export type MemberChangeCause = (typeof MEMBER_CHANGE_CAUSES)[number]

/** The cause of a change, who caused it, and in a joinable collection the membership. */
export type Attribution = {
  readonly cause: MemberChangeCause
  /** A core identity id; the `oid` of an actor without one; or `system`. */
  readonly actorId: string
  readonly requestId?: string
  readonly relationshipId?: string | null
}

/** Members that were added and removed together for one cause. */
export type AttributedChange = Attribution & { readonly added: readonly string[]; readonly removed: readonly string[] }

/** One member that was added or removed. */
export type MemberEvent = Attribution & {
  readonly objectId: string
  readonly change: 'Added' | 'Removed'
  readonly membershipVersion: number
  readonly atMs: number
  /** Place among the events of the version. */
  readonly index: number
}

export type HistoryRange = {
  /** Inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/** An event, as the place in a history after which a page starts. */
export type HistoryPosition = Pick<MemberEvent, 'membershipVersion' | 'index'>

/**
 * The changes of the members of collections, for as long as they are kept. Each change was written in the same
 * transaction as the members.
 */
export interface MemberHistory {
  /** Pages of events, the newest first: by version, then index, both descending. */
  newestFirst(
    tenantId: string,
    collectionId: string,
    range: HistoryRange,
    after?: HistoryPosition,
  ): AsyncIterable<readonly MemberEvent[]>
  /** The same for the events of one object. */
  ofObject(
    tenantId: string,
    collectionId: string,
    objectId: string,
    range: HistoryRange,
    after?: HistoryPosition,
  ): AsyncIterable<readonly MemberEvent[]>
  /** All events of one object in these collections, by collection, in the same order. */
  ofObjectInEach(
    tenantId: string,
    collectionIds: readonly string[],
    objectId: string,
    range: HistoryRange,
  ): Promise<ReadonlyMap<string, readonly MemberEvent[]>>
}

/** The events of one version, the last one first. @param firstIndex The place of the first event within the version. */
export function eventsOf(
  changes: readonly AttributedChange[],
  { membershipVersion, atMs }: Pick<MemberEvent, 'membershipVersion' | 'atMs'>,
  firstIndex = 0,
): MemberEvent[] {
  const events: MemberEvent[] = []
  const add = (ids: readonly string[], change: MemberEvent['change'], attribution: Attribution) => {
    for (const objectId of ids) {
      events.push({ ...attribution, objectId, change, membershipVersion, atMs, index: firstIndex + events.length })
    }
  }
  for (const { added, removed, ...attribution } of changes) {
    add(removed, 'Removed', attribution)
    add(added, 'Added', attribution)
  }
  return events.reverse()
}

/** The first events of a history that is read page by page. */
export async function pageOfEvents(
  pages: AsyncIterable<readonly MemberEvent[]>,
  size: number,
): Promise<Page<MemberEvent>> {
  const found: MemberEvent[] = []
  for await (const events of pages) {
    found.push(...events.slice(0, size + 1 - found.length))
    if (found.length > size) break
  }
  const items = found.slice(0, size)
  const last = items.at(-1)
  return found.length <= size || last === undefined ? { items } : { items, continueAfter: positionText(last) }
}

/** The position as the text of a cursor. */
function positionText({ membershipVersion, index }: HistoryPosition): string {
  return `${membershipVersion} ${index}`
}

/** The position in the text of a cursor. */
export function positionOf(text: string): HistoryPosition {
  const [membershipVersion = 0, index = 0] = text.split(' ').map(Number)
  return { membershipVersion, index }
}
