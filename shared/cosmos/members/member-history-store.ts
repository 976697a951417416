import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import {
  ALL_TIME,
  eventsOf,
  type HistoryPosition,
  type HistoryRange,
  type MemberEvent,
  type MemberHistory,
} from '../../domain/history/member-history.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import {
  CHANGE_TYPE,
  changesIn,
  PART_TYPE,
  parseChange,
  parsePart,
  StoredChange,
  slicesOfFirst,
} from '../change-document.ts'
import { documentParser } from '../document-parser.ts'
import { type QueryParameters, queryAll, queryDocuments, sqlParameters } from '../documents.ts'
import { type FirstMembersQuery, firstMembers, type MembersOfNow } from './first-members.ts'

/** Where the changes of a collection are. */
type Place = {
  readonly tenantId: string
  readonly collectionId: string
  readonly partition: string
  readonly where: string
  readonly parameters: QueryParameters
}

/** Collections whose changes are read at the same time: each has a partition of its own. */
const COLLECTIONS_AT_ONCE_COUNT = 20

/**
 * Changes of criteria collections. Container `members`, partition key `/membersOf`, which is `tenantId:collectionId`.
 */
export function cosmosCriteriaHistory(members: Container, memberships: MembersOfNow): MemberHistory {
  const history = historyIn(
    members,
    (tenantId, collectionId) => ({ partition: `${tenantId}:${collectionId}`, where: '', parameters: {} }),
    (query) => firstMembers(query, members, memberships),
  )
  return {
    ...history,
    async ofObjectInEach(tenantId, collectionIds, objectId, range) {
      const found = new Map<string, MemberEvent[]>()
      await forEachConcurrent(collectionIds, COLLECTIONS_AT_ONCE_COUNT, async (collectionId) => {
        const pages = await Array.fromAsync(history.ofObject(tenantId, collectionId, objectId, range))
        found.set(collectionId, pages.flat())
      })
      return found
    },
  }
}

/** Changes of joinable collections. Container `requests`, partition key `/tenantId`. */
export function cosmosJoinedHistory(requests: Container): MemberHistory {
  const history = historyIn(
    requests,
    (tenantId, collectionId) => ({
      partition: tenantId,
      where: 'c.collectionId = @collectionId AND ',
      parameters: { collectionId },
    }),
    // Each change of memberships is stored with its ids.
    async () => [],
  )
  return {
    ...history,
    async ofObjectInEach(tenantId, collectionIds, objectId, range) {
      const { and, parameters } = mayConcern(objectId)
      const query = {
        query: `SELECT * FROM c WHERE ${IN_RANGE}${and} ORDER BY c.membershipVersion DESC`,
        parameters: sqlParameters({ ...range, type: CHANGE_TYPE, ...parameters }),
      }
      const wanted = new Set(collectionIds)
      const changes = (await queryAll<object>(requests, tenantId, query)).map(parseJoinedChange)
      const byCollection = Map.groupBy(changes, ({ collectionId }) => collectionId)
      return new Map(
        [...byCollection].flatMap(([collectionId, ofOne]) => {
          if (!wanted.has(collectionId)) return []
          const events = ofOne.flatMap((change) => eventsOf(changesIn(change), change))
          return [[collectionId, events.filter((event) => event.objectId === objectId)] as const]
        }),
      )
    },
  }
}

const parseJoinedChange = documentParser(
  'change of members',
  Type.Object({ ...StoredChange.properties, collectionId: Type.String() }),
)

/** @property pageCount Changes per response of the database: most have few ids. A response has at most 4 MB. */
type Order = { readonly by: string; readonly pageCount: number }
const NEWEST_FIRST: Order = { by: ' ORDER BY c.membershipVersion DESC', pageCount: 1000 }
/** All changes are needed. Pages of about 1 MB are parsed in some milliseconds. */
const IN_ANY_ORDER: Order = { by: '', pageCount: 2500 }

/** Parts per response: about 1 MB. */
const PARTS_PER_PAGE_COUNT = 16

const IN_RANGE = 'c.type = @type AND c.atMs >= @fromMs AND c.atMs < @toMs'

/** A condition on `c` beyond those of the place and range, or none. */
type More = { readonly and: string; readonly parameters: QueryParameters }
const ALL: More = { and: '', parameters: {} }

/** Changes and parts that may have the events, and the object if they are of one only. */
type Narrowed = { readonly changes: More; readonly parts: More; readonly objectId: string | undefined }
const ALL_EVENTS: Narrowed = { changes: ALL, parts: ALL, objectId: undefined }

function historyIn(
  container: Container,
  partitionOf: (tenantId: string, collectionId: string) => Pick<Place, 'partition' | 'where' | 'parameters'>,
  firstIds: (query: FirstMembersQuery) => Promise<readonly string[]>,
): Omit<MemberHistory, 'ofObjectInEach'> {
  const offsetOf = (tenantId: string, collectionId: string): Place => ({
    tenantId,
    collectionId,
    ...partitionOf(tenantId, collectionId),
  })
  const changes = async function* (place: Place, range: HistoryRange, { and, parameters }: More, order: Order) {
    const query = {
      query: `SELECT * FROM c WHERE ${place.where}${IN_RANGE}${and}${order.by}`,
      parameters: sqlParameters({ ...place.parameters, ...range, type: CHANGE_TYPE, ...parameters }),
    }
    const options = { maxItemCount: order.pageCount }
    for await (const page of queryDocuments<object>(container, place.partition, query, options)) {
      yield page.map(parseChange)
    }
  }
  const parts = async function* (place: Place, change: StoredChange, { and, parameters }: More) {
    const query = {
      query: `SELECT * FROM c WHERE c.type = @type AND c.partsOf = @partsOf${and} ORDER BY c.firstIndex DESC`,
      parameters: sqlParameters({ type: PART_TYPE, partsOf: change.partsOf ?? '', ...parameters }),
    }
    const options = { maxItemCount: PARTS_PER_PAGE_COUNT }
    for await (const page of queryDocuments<object>(container, place.partition, query, options)) {
      for (const part of page.map(parsePart)) yield eventsOf(changesIn(part), change, part.firstIndex)
    }
  }
  /** Of one change, the last ones first. */
  const eventsIn = async function* (place: Place, change: StoredChange, narrowed: Narrowed) {
    if (change.partsOf !== undefined) yield* parts(place, change, narrowed.parts)
    else if (change.isFirst === true) yield* firstEvents(place, change, narrowed)
    else yield eventsOf(changesIn(change), change)
  }
  const since = async function* (place: Place, range: HistoryRange, narrowed: Narrowed) {
    for await (const page of changes(place, range, narrowed.changes, IN_ANY_ORDER)) {
      for (const change of page) yield* eventsIn(place, change, narrowed)
    }
  }
  const firstEvents = async function* (place: Place, change: StoredChange, narrowed: Narrowed) {
    const later = both(narrowed.changes, {
      and: ' AND c.membershipVersion > @first',
      parameters: { first: change.membershipVersion },
    })
    const query = {
      ...place,
      firstVersion: change.membershipVersion,
      objectId: narrowed.objectId,
      later: () => since(place, ALL_TIME, { ...narrowed, changes: later }),
    }
    for (const slice of slicesOfFirst(change, await firstIds(query))) {
      yield eventsOf(slice.changes, change, slice.firstIndex)
    }
  }
  const newestFirst = async function* (
    place: Place,
    range: HistoryRange,
    narrowed: Narrowed,
    after: HistoryPosition | undefined,
  ) {
    for await (const page of changes(place, range, both(narrowed.changes, upTo(after)), NEWEST_FIRST)) {
      for (const change of page) {
        const isContinued = change.partsOf !== undefined && change.membershipVersion === after?.membershipVersion
        const more = isContinued ? { ...narrowed, parts: both(narrowed.parts, before(after.index)) } : narrowed
        for await (const page of eventsIn(place, change, more)) yield page.filter((event) => isBeyond(event, after))
      }
    }
  }

  return {
    since: (tenantId, collectionId, fromMs) =>
      since(offsetOf(tenantId, collectionId), { ...ALL_TIME, fromMs }, ALL_EVENTS),
    newestFirst: (tenantId, collectionId, range, after) =>
      newestFirst(offsetOf(tenantId, collectionId), range, ALL_EVENTS, after),
    async *ofObject(tenantId, collectionId, objectId, range, after) {
      const narrowed = { changes: mayConcern(objectId), parts: around(objectId), objectId }
      for await (const page of newestFirst(offsetOf(tenantId, collectionId), range, narrowed, after)) {
        yield page.filter((event) => event.objectId === objectId)
      }
    },
  }
}

function both(left: More, right: More): More {
  return { and: left.and + right.and, parameters: { ...left.parameters, ...right.parameters } }
}

function upTo(after: HistoryPosition | undefined): More {
  if (after === undefined) return ALL
  return { and: ' AND c.membershipVersion <= @version', parameters: { version: after.membershipVersion } }
}

function before(index: number): More {
  return { and: ' AND c.firstIndex < @index', parameters: { index } }
}

/** Changes that list the object, and those whose ids no index has. */
function mayConcern(objectId: string): More {
  const lists = 'ARRAY_CONTAINS(c.added, @objectId) OR ARRAY_CONTAINS(c.removed, @objectId)'
  const others = 'c.isPacked = true OR c.isFirst = true OR IS_DEFINED(c.partsOf)'
  return { and: ` AND (${lists} OR ${others})`, parameters: { objectId } }
}

function around(objectId: string): More {
  return { and: ' AND c.fromId <= @objectId AND c.toId >= @objectId', parameters: { objectId } }
}

function isBeyond({ membershipVersion, index }: HistoryPosition, after: HistoryPosition | undefined): boolean {
  return after === undefined || membershipVersion !== after.membershipVersion || index < after.index
}
