import { Type } from 'typebox'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import {
  ELIGIBILITY_READERS,
  eligibleCollections,
  eligibleCollectionsOf,
} from '../../shared/domain/membership-requests/eligible-collections.ts'
import {
  JoinableCollectionDto,
  toJoinableCollectionDto,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import {
  collectionsToReview,
  ownRequests,
  pendingRequests,
  requestsAwaiting,
  requestsToReview,
  submittedOnBehalf,
} from '../../shared/domain/membership-requests/list-requests.ts'
import { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { ok, type Route, route } from '../../shared/http/route.ts'
import type { RequestRouteDependencies } from './collection-contract.ts'
import { PERSON_ROLES, personOf, REQUEST_READERS, StatusQuery } from './collection-contract.ts'

const Requests = Type.Array(MembershipRequestDto)
const Collections = Type.Array(JoinableCollectionDto)

export const ownRequestRoutes = (deps: RequestRouteDependencies): readonly Route[] => [
  route('GET', '/membership-requests/eligible', {
    operationId: 'listEligibleCollections',
    summary: 'List collections I can request',
    description: 'Returns the collections that the caller is eligible to join, ordered by name.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Collections },
    run: async (input) => okCollections(await eligibleCollections(personOf(input), deps)),
  }),
  route('GET', '/membership-requests/eligible/{userId}', {
    operationId: 'listEligibleCollectionsOf',
    summary: 'List collections a user can request',
    description:
      'Returns the collections that the user is eligible to join, ordered by name. `userId` is a core identity id or a ' +
      'directory object id. A caller with the role `User` can specify themselves and their direct reports.',
    roles: REQUEST_READERS,
    identity: { exempt: ELIGIBILITY_READERS },
    reply: { status: 200, schema: Collections },
    refusals: ['NotManager', 'IdentityNotFound'],
    run: async ({ path: { userId }, caller, identityId }) =>
      okCollections(await eligibleCollectionsOf(userId, caller, identityId, deps)),
  }),
  route('GET', '/membership-requests/submitted-on-behalf', {
    operationId: 'listSubmittedOnBehalf',
    summary: 'List requests I submitted on behalf of others',
    description: 'Newest first, without people whom the caller added directly.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    run: async (input) => ok(await submittedOnBehalf(personOf(input), deps)),
  }),
  route('GET', '/membership-requests/mine', {
    operationId: 'listMyRequests',
    summary: 'List my requests',
    description: 'Returns a page of all requests that are for the caller, decided ones included, newest first.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    query: StatusQuery,
    reply: { status: 200, schema: Requests, paged: true },
    refusals: ['InvalidCursor'],
    run: (input) => {
      const { status, ...page } = input.query
      const person = personOf(input)
      const binding = [person.tenantId, 'my-requests', person.identityId, status]
      return pagedResult(page, binding, deps.cursors, (after, size) =>
        ownRequests(person, { status, after, size }, deps),
      )
    },
  }),
  route('GET', '/membership-requests/inbox', {
    operationId: 'listInbox',
    summary: 'List requests that await my decision',
    description:
      'Returns a page of the requests of all collections that the caller can decide now, oldest first. A page can have ' +
      'fewer items than `pageSize`; the last page is the one without `nextCursor`.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    query: PageQuery,
    reply: { status: 200, schema: Requests, paged: true },
    refusals: ['InvalidCursor'],
    run: (input) => {
      const person = personOf(input)
      const binding = [person.tenantId, 'inbox', person.identityId]
      return pagedResult(input.query, binding, deps.cursors, (after, size) =>
        requestsAwaiting(person, { after, size }, deps),
      )
    },
  }),
  route('GET', '/membership-requests/pending-approval', {
    operationId: 'listPendingRequests',
    summary: 'List my pending requests',
    description: 'Newest first.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    run: async (input) => ok(await pendingRequests(personOf(input), deps)),
  }),
  route('GET', '/membership-requests/pending-approval-review', {
    operationId: 'listCollectionsToReview',
    summary: 'List collections with requests to review',
    description: 'Returns the collections with requests that the caller can decide, ordered by name.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Collections },
    run: async (input) => okCollections(await collectionsToReview(personOf(input), deps)),
  }),
  route('GET', '/membership-requests/pending-approval-review/{collectionId}', {
    operationId: 'listRequestsToReview',
    summary: 'List requests to review',
    description: 'Returns the requests of a collection that the caller can decide, newest first.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    refusals: ['CollectionNotFound'],
    run: async (input) => ok(await requestsToReview(input.path.collectionId, personOf(input), deps)),
  }),
]

function okCollections(collections: readonly Collection[]): RouteResult {
  return ok(collections.map(toJoinableCollectionDto))
}
