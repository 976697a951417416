import { Type } from 'typebox'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import {
  JoinableCollectionDto,
  toJoinableCollectionDto,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import {
  collectionsToReview,
  ELIGIBILITY_READERS,
  eligibleCollections,
  eligibleCollectionsOf,
  pendingRequests,
  requestsToReview,
  submittedOnBehalf,
} from '../../shared/domain/membership-requests/list-requests.ts'
import { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { ok, pathValue, type Route, route } from '../../shared/http/route.ts'
import { collectionOf, okRequests, PERSON_ROLES, personOf, REQUEST_READERS } from './collection-contract.ts'

const Requests = Type.Array(MembershipRequestDto)
const Collections = Type.Array(JoinableCollectionDto)

/** What concerns the caller as a person: what to ask for, what was asked, what to decide. */
export const ownRequestRoutes = (deps: RequestDependencies): readonly Route[] => [
  route({
    operationId: 'listEligibleCollections',
    summary: 'The collections that the caller may ask to join, by name',
    method: 'GET',
    path: '/membership-requests/eligible',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Collections },
    refusals: [],
    run: async (input) => okCollections(await eligibleCollections(personOf(input), deps)),
  }),
  route({
    operationId: 'listEligibleCollectionsOf',
    summary: 'The same for somebody else: a core identity id or a directory object id',
    method: 'GET',
    path: '/membership-requests/eligible/{userId}',
    roles: REQUEST_READERS,
    identity: { exempt: ELIGIBILITY_READERS },
    reply: { status: 200, schema: Collections },
    refusals: ['NotManager', 'IdentityNotFound'],
    run: async ({ path, caller, identityId }) =>
      okCollections(await eligibleCollectionsOf(pathValue(path, 'userId'), caller, identityId, deps)),
  }),
  route({
    operationId: 'listSubmittedOnBehalf',
    summary: 'The requests that the caller filed for others, newest first',
    method: 'GET',
    path: '/membership-requests/submitted-on-behalf',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    refusals: [],
    run: async (input) => okRequests(await submittedOnBehalf(personOf(input), deps)),
  }),
  route({
    operationId: 'listPendingRequests',
    summary: "The caller's own requests that wait for a decision, newest first",
    method: 'GET',
    path: '/membership-requests/pending-approval',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    refusals: [],
    run: async (input) => okRequests(await pendingRequests(personOf(input), deps)),
  }),
  route({
    operationId: 'listCollectionsToReview',
    summary: 'The collections with requests that wait for the caller, by name',
    method: 'GET',
    path: '/membership-requests/pending-approval-review',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Collections },
    refusals: [],
    run: async (input) => okCollections(await collectionsToReview(personOf(input), deps)),
  }),
  route({
    operationId: 'listRequestsToReview',
    summary: 'The requests of one of these collections that wait for the caller, newest first',
    method: 'GET',
    path: '/membership-requests/pending-approval-review/{collectionId}',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Requests },
    refusals: ['CollectionNotFound'],
    run: async (input) => okRequests(await requestsToReview(collectionOf(input), personOf(input), deps)),
  }),
]

function okCollections(collections: readonly Collection[]): RouteResult {
  return ok(collections.map(toJoinableCollectionDto))
}
