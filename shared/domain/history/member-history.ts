import { type Page, pageFrom } from '../../kernel/versioned.ts'

/** Why a member was added or removed. */
export const MEMBER_CHANGE_CAUSES = [
  'DefinitionChanged',
  'ObjectChanged',
  'ReferencedCollection',
  'DayChanged',
  'ObjectDeleted',
  'Merged',
  'Request',
  'Direct',
  'Expired',
] as const
export type MemberChangeCause = (typeof MEMBER_CHANGE_CAUSES)[number]

/** The cause of a change, who caused it, and in a joinable collection the membership. */
export type Attribution = {
  readonly cause: MemberChangeCause
  /** A core identity id; the `oid` of an actor without one; or `system`. */
  readonly actorId: string
  readonly requestId?: string
  readonly relationshipId?: string | null
  /** When the membership of those added was to end; absent without an end. */
  readonly until?: string
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

/** All that is kept. */
export const ALL_TIME: HistoryRange = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }

/** An event, as the place in a history after which a page starts. */
export type HistoryPosition = Pick<MemberEvent, 'membershipVersion' | 'index'>

/**
 * The changes of the members of collections, for as long as they are kept. Each change was written in the same
 * transaction as the members.
 */
export interface MemberHistory {
  /** All events from a time on, in pages. In any order: a database that need not sort reads them faster. */
  since(tenantId: string, collectionId: string, fromMs: number): AsyncIterable<readonly MemberEvent[]>
  /** Pages of events, the newest first: by version, then index, both descending. */
  newestFirst(
    tenantId: string,
    collectionId: string,
    range: HistoryRange,
    after?: HistoryPosition,
  ): AsyncIterable<readonly MemberEvent[]>
  /** Pages of the events of one object, the newest first. */
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

/** The oldest event of each membership, found among events in any order: what was so before all of them. */
export class OldestEvents {
  readonly #keyOf: (event: MemberEvent) => string
  readonly #oldest = new Map<string, MemberEvent>()
  readonly #versions = new Set<number>()

  /** @param keyOf One key for all events of a membership. */
  constructor(keyOf: (event: MemberEvent) => string) {
    this.#keyOf = keyOf
  }

  add(event: MemberEvent): void {
    this.#versions.add(event.membershipVersion)
    const key = this.#keyOf(event)
    const known = this.#oldest.get(key)
    if (known === undefined || isOlder(event, known)) this.#oldest.set(key, event)
  }

  get byKey(): ReadonlyMap<string, MemberEvent> {
    return this.#oldest
  }

  /** Whether there are events of each version from their oldest one to this one. */
  isUnbrokenTo(version: number): boolean {
    const oldest = this.#versions.values().reduce((left, right) => Math.min(left, right), version + 1)
    return this.#versions.size === version + 1 - oldest
  }
}

function isOlder(left: HistoryPosition, right: HistoryPosition): boolean {
  const versions = left.membershipVersion - right.membershipVersion
  return versions < 0 || (versions === 0 && left.index < right.index)
}

/** The newest event that satisfies a condition, of pages that are newest first; undefined when there is none. */
export async function newestEvent(
  pages: AsyncIterable<readonly MemberEvent[]>,
  isWanted: (event: MemberEvent) => boolean = () => true,
): Promise<MemberEvent | undefined> {
  for await (const events of pages) {
    const found = events.find(isWanted)
    if (found !== undefined) return found
  }
  return undefined
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
  return pageFrom(found, size, positionText)
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
