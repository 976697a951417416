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
import type { AccountClaimReader } from '../../shared/domain/connectors/account-claims.ts'
import type { CoreObjectReader } from '../../shared/domain/core/core-object-store.ts'
import { type AttentionDependencies, AttentionDto, readAttention } from '../../shared/domain/insight/attention.ts'
import {
  type CollectionCountDependencies,
  CollectionCounts,
  countMembersAndLinks,
} from '../../shared/domain/insight/collection-counts.ts'
import {
  type ExplainDependencies,
  Explanation,
  explainMembership,
  MAX_ROWS_COUNT,
} from '../../shared/domain/insight/explain-membership.ts'
import { FoundPerson, findPeople } from '../../shared/domain/insight/find-people.ts'
import {
  type ListMembershipsDependencies,
  listMemberships,
  MembershipDto,
} from '../../shared/domain/insight/list-memberships.ts'
import { readResultsAsOf } from '../../shared/domain/insight/members-as-of.ts'
import { ownCollections } from '../../shared/domain/membership-requests/own-collections.ts'
import { FULL_ACCESS_ROLES, hasFullAccess } from '../../shared/domain/object-access/object-access.ts'
import { CallerDto, readCaller } from '../../shared/domain/object-access/read-caller.ts'
import type { RowSettingsSource } from '../../shared/domain/tenant-index/row-settings.ts'
import { PageQuery, pagedRecord, pagedResult } from '../../shared/http/paging.ts'
import { ok, okVersioned, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import type { Role } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import {
  COLLECTION_READERS,
  FilterMembersRequest,
  MemberIds,
  PERSON_ROLES,
  personOf,
  type RequestRouteDependencies,
  SearchQuery,
} from './collection-contract.ts'
import { type HistoryRouteDependencies, historyRoutes } from './collection-history.ts'
import { CONNECTOR_READERS } from './connectors.ts'
import { PREFIXES } from './prefixes.ts'

export type CollectionRouteDependencies = RequestRouteDependencies &
  ExplainDependencies &
  ListMembershipsDependencies &
  CollectionCountDependencies &
  Pick<AttentionDependencies, 'connectorFigures' | 'countDuplicates' | 'linkStore'> & {
    readonly coreObjects: CoreObjectReader & AccountClaimReader
    readonly rowSettings: RowSettingsSource
  } & Pick<HistoryRouteDependencies, 'auditTrail'>

/** A `User` can ask about themselves. */
const EXPLANATION_READERS: readonly Role[] = ['User', ...COLLECTION_READERS]

/** A `User` can find those whose name or address they know. */
const PEOPLE_FINDERS: readonly Role[] = [...new Set([...EXPLANATION_READERS, ...FULL_ACCESS_ROLES])]

/** Reads collections of both kinds. */
export const collectionRoutes = (deps: CollectionRouteDependencies): RouteGroup => ({
  prefix: PREFIXES.collections,
  routes: [...definitionRoutes(deps), ...memberRoutes(deps), ...historyRoutes(deps), ...callerRoutes(deps)],
})

const MembershipQuery = Type.Object({ identityId: Guid })

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
        'A date and time in the past, from the creation of the collection, for as long as changes are kept: ' +
        '`HISTORY_DAYS`, 400 days by default.',
    }),
  ),
})

/** What concerns the caller, of any kind or role. */
const callerRoutes = (deps: CollectionRouteDependencies): readonly Route[] => [
  route('GET', '/me', {
    operationId: 'getCaller',
    summary: 'Get the caller',
    description:
      'Returns who the caller is for this service, with the roles that count, and the time zone of the tenant.',
    roles: 'any',
    identity: 'optional',
    reply: { status: 200, schema: CallerDto },
    run: async ({ caller, identityId }) => ok(await readCaller(caller, identityId, deps)),
  }),
  route('GET', '/attention', {
    operationId: 'getAttention',
    summary: 'Get what needs attention',
    description:
      'Returns how many things need the attention of the caller, as far as the roles of the caller go. The lists behind ' +
      'the numbers: the group links with `needsAttention=true`, the account conflicts, the inbox of membership requests, ' +
      'and the memberships of the caller.',
    roles: 'any',
    identity: 'optional',
    reply: { status: 200, schema: AttentionDto },
    run: async ({ caller, identityId }) =>
      ok(
        await readAttention(
          { caller, identityId, linkReaders: COLLECTION_READERS, connectorReaders: CONNECTOR_READERS },
          deps,
        ),
      ),
  }),
  route('GET', '/member-of', {
    operationId: 'listOwnCollectionsOfBothKinds',
    summary: 'List my collections of both kinds',
    description:
      'Returns the collections that the caller is a member of, as an identity or by a position, ordered by name. ' +
      'Conditions are evaluated on the current data, so a collection can appear here some seconds before its results ' +
      'contain the caller.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Type.Array(CollectionDto) },
    run: async (input) => ok((await ownCollections(personOf(input), deps)).map(toCollectionDto)),
  }),
  route('GET', '/people', {
    operationId: 'findPeople',
    summary: 'Find people by name or address',
    description:
      'Returns at most 100 people whose name, email or user name contains the text, ordered by name, with what ' +
      'distinguishes people of one name. Case does not matter. A caller with the role `User` finds the people whose whole ' +
      'name, email or user name is given, for example to name a deputy.',
    roles: PEOPLE_FINDERS,
    identity: 'optional',
    query: Type.Object({ text: Type.String({ description: '1 to 200 characters.' }) }),
    reply: { status: 200, schema: Type.Array(FoundPerson) },
    refusals: ['InvalidLength'],
    run: async ({ query, caller }) => {
      const seesAll = hasFullAccess(caller) || COLLECTION_READERS.some((role) => caller.roles.has(role))
      return ok(await findPeople(query.text, { caller, seesAll }, deps))
    },
  }),
  route('GET', '/memberships', {
    operationId: 'listMemberships',
    summary: 'List the memberships of a person',
    description:
      'Returns all memberships of an identity and its positions in the collections of both kinds, by name of the ' +
      'collection, with when and why each began and where it stands in linked groups. Of criteria collections, the ' +
      'members of the last evaluation. A member whose condition has just stopped to hold may be left out for the ' +
      'seconds until the next one. A caller with the role `User` can ask for themselves and for the people whom they ' +
      'manage; for all others the answer is 403 `NotManager`.',
    roles: EXPLANATION_READERS,
    identity: { exempt: COLLECTION_READERS },
    query: MembershipQuery,
    reply: { status: 200, schema: Type.Array(MembershipDto) },
    refusals: ['NotManager', 'IdentityNotFound'],
    run: async ({ query, caller, identityId }) => {
      const seesAll = COLLECTION_READERS.some((role) => caller.roles.has(role))
      return ok(await listMemberships(query.identityId, { caller, identityId, seesAll }, deps))
    },
  }),
]

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
      'member.\n\n' +
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
