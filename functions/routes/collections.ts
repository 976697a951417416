import { Type } from 'typebox'
import {
  CollectionDto,
  CollectionObjectType,
  CollectionResults,
  toCollectionDto,
} from '../../shared/domain/collections/collection.ts'
import { listMembers, MemberDto } from '../../shared/domain/collections/list-members.ts'
import { listPeople, PeopleQuery, PersonDto } from '../../shared/domain/collections/list-people.ts'
import {
  candidateIds,
  filterMembers,
  listCollections,
  readCollection,
  readResults,
  searchCollections,
  searchFilter,
} from '../../shared/domain/collections/read-collections.ts'
import {
  type CollectionCountDependencies,
  CollectionCounts,
  countMembersAndLinks,
} from '../../shared/domain/insight/collection-counts.ts'
import {
  type ExplainDependencies,
  explainMembership,
  MAX_ROWS_COUNT,
} from '../../shared/domain/insight/explain-membership.ts'
import { Explanation } from '../../shared/domain/insight/explanation.ts'
import { readResultsAsOf } from '../../shared/domain/insight/members-as-of.ts'
import { PageQuery, pagedRecord, pagedResult } from '../../shared/http/paging.ts'
import { ok, okVersioned, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import {
  COLLECTION_READERS,
  EXPLANATION_READERS,
  FilterMembersRequest,
  MemberIds,
  SearchQuery,
} from './collection-contract.ts'
import { DAY_OR_TIME, type HistoryRouteDependencies, historyRoutes } from './collection-history.ts'
import { type PeopleRouteDependencies, peopleRoutes } from './people.ts'
import { PREFIXES } from './prefixes.ts'

export type CollectionRouteDependencies = PeopleRouteDependencies &
  ExplainDependencies &
  CollectionCountDependencies &
  Pick<HistoryRouteDependencies, 'auditTrail'>

/** Reads collections of both kinds. */
export const collectionRoutes = (deps: CollectionRouteDependencies): RouteGroup => ({
  prefix: PREFIXES.collections,
  routes: [...definitionRoutes(deps), ...memberRoutes(deps), ...historyRoutes(deps), ...peopleRoutes(deps)],
})

const MemberPageQuery = Type.Object({
  text: Type.Optional(
    Type.String({
      description:
        '1 to 200 characters. Only members with this text in their display name or title; case does not matter.',
    }),
  ),
  ...PageQuery.properties,
})

const ResultsQuery = Type.Object({
  asOf: Type.Optional(
    Type.String({
      description:
        `${DAY_OR_TIME} In the past, from the creation of the collection, for as long as changes are kept: ` +
        '`HISTORY_DAYS`, 400 days by default.',
    }),
  ),
})

const ExplainQuery = Type.Object({
  objectId: Guid,
  pageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ROWS_COUNT,
      description: `Maximum number of rows per page. Default: the page size of the cursor, or ${MAX_ROWS_COUNT} without one.`,
    }),
  ),
  nextCursor: PageQuery.properties.nextCursor,
})

const definitionRoutes = (deps: CollectionRouteDependencies): readonly Route[] => [
  route('GET', '/', {
    operationId: 'listCollections',
    summary: 'List collections',
    description: 'Returns criteria and joinable collections, ordered by name.',
    roles: COLLECTION_READERS,
    query: Type.Object({ objectType: Type.Optional(CollectionObjectType) }),
    reply: { status: 200, schema: Type.Array(CollectionDto) },
    run: async ({ query: { objectType }, caller }) =>
      ok(
        (await listCollections(caller.tenantId, objectType === undefined ? {} : { objectType }, deps)).map(
          toCollectionDto,
        ),
      ),
  }),
  route('GET', '/counts', {
    operationId: 'countMembersAndLinks',
    summary: 'Count the members and links of collections',
    description:
      'Returns how many members and group links each collection has, or the collection that is asked for; in any order. ' +
      'Reads no members: the numbers are those that are stored beside them.',
    roles: COLLECTION_READERS,
    query: Type.Object({ collectionId: Type.Optional(Guid) }),
    reply: { status: 200, schema: Type.Array(CollectionCounts) },
    run: async ({ query: { collectionId }, caller }) =>
      ok(await countMembersAndLinks(caller.tenantId, collectionId, deps)),
  }),
  route('GET', '/search', {
    operationId: 'searchCollections',
    summary: 'Search collections',
    description: 'Returns the collections that have all given tags and attributes, ordered by name.',
    roles: COLLECTION_READERS,
    query: SearchQuery,
    reply: { status: 200, schema: Type.Array(CollectionDto) },
    run: async ({ query: { tags, attributes }, caller }) =>
      ok((await searchCollections(caller.tenantId, searchFilter(tags, attributes), deps)).map(toCollectionDto)),
  }),
  route('GET', '/{collectionId}', {
    operationId: 'getCollection',
    summary: 'Get a collection',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: CollectionDto, versioned: true },
    refusals: ['CollectionNotFound'],
    run: async ({ path: { collectionId }, caller }) =>
      okVersioned(await readCollection(caller.tenantId, collectionId, undefined, deps), toCollectionDto),
  }),
]

const memberRoutes = (deps: CollectionRouteDependencies): readonly Route[] => [
  route('POST', '/people', {
    operationId: 'listPeople',
    summary: 'List people by id or account',
    description:
      'Returns what distinguishes people of one name: title and unit of their position, and their account. First the ' +
      'identities with the given ids, then those with the given accounts, in the order of the request; each once. ' +
      'Identities that do not exist, and accounts that no identity has, are left out.',
    roles: COLLECTION_READERS,
    body: PeopleQuery,
    reply: { status: 200, schema: Type.Array(PersonDto) },
    run: async ({ body, caller }) => ok(await listPeople(caller.tenantId, body, deps)),
  }),
  route('GET', '/{collectionId}/members', {
    operationId: 'listMembers',
    summary: 'List the members of a collection with their names',
    description:
      'Returns a page of the members, ordered by display name, then id; members without a name come last. Of a ' +
      'criteria collection, the members of the last evaluation. While members or names change, a page can repeat or ' +
      'skip a member whose place in the order has changed.',
    roles: COLLECTION_READERS,
    query: MemberPageQuery,
    reply: { status: 200, schema: Type.Array(MemberDto), paged: true },
    refusals: ['CollectionNotFound', 'InvalidLength', 'InvalidCursor'],
    run: ({ path: { collectionId }, query: { text, ...page }, caller }) => {
      const binding = [caller.tenantId, 'members', collectionId, text]
      return pagedResult(page, binding, deps.cursors, (after, size) =>
        listMembers(caller.tenantId, collectionId, { text, after, size }, deps),
      )
    },
  }),
  route('GET', '/{collectionId}/explain', {
    operationId: 'explainMembership',
    summary: 'Explain a membership',
    description:
      'Tells why an identity, relationship or org unit is, or is not, a member: the condition with the result of each ' +
      'part on each row of the object, the request behind a membership, and where the object stands in linked groups. ' +
      'In a collection of another object type, the objects of that type on the rows of the object are explained: for an ' +
      'identity in a collection of relationships, all its positions. A sensitive value that the caller may not read is ' +
      '`hidden`. A caller with the role `User` can specify their own identity and positions; any other object is not ' +
      'found. When the data of the tenant is not in memory, the response waits until it is loaded.\n\n' +
      'Where the object stands in linked groups is what the directory says now, asked once for all groups. It can lag ' +
      'behind its writes by some minutes. `since` and `cause` are those of the newest entry of the history that added a ' +
      'member, of several memberships by request the one of `request`.\n\n' +
      'A page has at most 20 rows, and fewer where the response would exceed 2 MB; `rowCount` is the number of all rows. ' +
      'Of a list in `actual` or `compared` the first 100 entries are returned, and of a text the first 500 characters, ' +
      'with `…` behind them when there are more.',
    roles: EXPLANATION_READERS,
    identity: { exempt: COLLECTION_READERS },
    query: ExplainQuery,
    reply: { status: 200, schema: Explanation, paged: true },
    refusals: ['CollectionNotFound', 'ObjectNotFound', 'InvalidCursor'],
    run: ({ path: { collectionId }, query: { objectId, ...page }, caller, identityId }) => {
      const seesAll = COLLECTION_READERS.some((role) => caller.roles.has(role))
      const asker = { caller, identityId, seesAll }
      const binding = [caller.tenantId, 'explain', collectionId, objectId]
      const explain = (after: string | undefined, size: number) =>
        explainMembership({ collectionId, objectId, after, size }, asker, deps)
      return pagedRecord(page, binding, deps.cursors, explain, MAX_ROWS_COUNT)
    },
  }),
  route('GET', '/{collectionId}/results', {
    operationId: 'getCollectionResults',
    summary: 'List the members of a collection',
    description:
      'With `asOf`, returns the members at that time, under the current name and description of the collection; ' +
      '`evaluatedAt` is the time asked for.',
    roles: COLLECTION_READERS,
    query: ResultsQuery,
    reply: { status: 200, schema: CollectionResults },
    refusals: ['CollectionNotFound', 'HistoryNotKept', 'StaleVersion'],
    run: async ({ path: { collectionId }, query: { asOf }, caller }) =>
      ok(
        asOf === undefined
          ? await readResults(caller.tenantId, collectionId, undefined, deps)
          : await readResultsAsOf(caller.tenantId, collectionId, asOf, deps),
      ),
  }),
  route('POST', '/{collectionId}/filter-members', {
    operationId: 'filterCollectionMembers',
    summary: 'Filter ids by membership',
    description: 'Returns those of the given ids that are members, in the order given.',
    roles: COLLECTION_READERS,
    body: FilterMembersRequest,
    reply: { status: 200, schema: MemberIds },
    refusals: ['CollectionNotFound'],
    run: async ({ path: { collectionId }, body, caller }) =>
      ok(await filterMembers(caller.tenantId, collectionId, undefined, candidateIds(body), deps)),
  }),
]
