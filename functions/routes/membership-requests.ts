import { type Static, type TObject, Type } from 'typebox'
import type { Role } from '../../shared/domain/caller.ts'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import type { RefusalCode } from '../../shared/domain/refusal.ts'
import {
  actOnRequest,
  RequestDecision,
  type RequestName,
  RequestWithdrawal,
  readRequest,
  type Viewer,
} from '../../shared/domain/requests/act-on-request.ts'
import {
  ELIGIBILITY_READERS,
  eligibleCollections,
  eligibleCollectionsOf,
} from '../../shared/domain/requests/eligible-collections.ts'
import { JoinableCollectionRecord, joinableCollectionRecord } from '../../shared/domain/requests/joinable-collection.ts'
import {
  type MembershipRequest,
  MembershipRequestRecord,
  requestRecord,
} from '../../shared/domain/requests/membership-request.ts'
import { pendingRequests, requestsOfCollection, submittedOnBehalf } from '../../shared/domain/requests/read-requests.ts'
import type { Person, RequestDependencies } from '../../shared/domain/requests/request-dependencies.ts'
import { collectionsToReview, requestsToReview } from '../../shared/domain/requests/review-requests.ts'
import {
  Submission,
  SubmissionOnBehalf,
  submitOnBehalf,
  submitRequest,
} from '../../shared/domain/requests/submit-request.ts'
import type { Versioned } from '../../shared/domain/versioned.ts'
import { ok, okVersioned } from '../../shared/http/answers.ts'
import type { Answer } from '../../shared/http/envelope.ts'
import { actingIdentity, pathValue, type Route, type RouteInput, route } from '../../shared/http/route.ts'
import { PERSON_ROLES } from './collection-roles.ts'

/** Who sees every request: decisions, section 2. */
const SEES_ALL: readonly Role[] = ELIGIBILITY_READERS
const REQUEST_READERS: readonly Role[] = ['User', ...SEES_ALL]

const POSITION_REFUSALS: readonly RefusalCode[] = [
  'RelationshipUnknown',
  'RelationshipNotYours',
  'RelationshipEnded',
  'RelationshipRequired',
]
const SUBMIT_REFUSALS: readonly RefusalCode[] = [
  'CollectionNotFound',
  ...POSITION_REFUSALS,
  'RequestAlreadyOpen',
  'AlreadyMember',
  'NotEligible',
  'StaleVersion',
]
const ACTION_REFUSALS: readonly RefusalCode[] = [
  'CollectionNotFound',
  'RequestNotFound',
  'RelationshipNotOfRequest',
  'InvalidRequestState',
  'StaleVersion',
]

const Requests = Type.Array(MembershipRequestRecord)
const Collections = Type.Array(JoinableCollectionRecord)

/** Statement, "Membership requests". */
export const membershipRequestRoutes = (group: string, deps: RequestDependencies): readonly Route[] => [
  ...submitRoutes(group, deps),
  ...readRoutes(deps),
  ...actionRoutes(deps),
  ...ownRoutes(deps),
]

const submitRoutes = (group: string, deps: RequestDependencies): readonly Route[] => [
  route({
    operationId: 'submitRequest',
    summary: 'Ask to join',
    method: 'POST',
    path: '/membership-requests/{collectionId}/submit',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: Submission,
    reply: { status: 201, schema: MembershipRequestRecord, versioned: true },
    refusals: SUBMIT_REFUSALS,
    run: async (input) => submitted(group, await submitRequest(collectionOf(input), input.body, personOf(input), deps)),
  }),
  route({
    operationId: 'submitRequestOnBehalf',
    summary: 'Ask to join on behalf of somebody who reports to the caller',
    method: 'POST',
    path: '/membership-requests/{collectionId}/submit-on-behalf',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: SubmissionOnBehalf,
    reply: { status: 201, schema: MembershipRequestRecord, versioned: true },
    refusals: ['RequesterRequired', 'IdentityUnknown', ...SUBMIT_REFUSALS, 'NotManager'],
    run: async (input) =>
      submitted(group, await submitOnBehalf(collectionOf(input), input.body, personOf(input), deps)),
  }),
]

const readRoutes = (deps: RequestDependencies): readonly Route[] => [
  route({
    operationId: 'listRequests',
    summary: 'The requests for a collection that the caller may see, newest first',
    method: 'GET',
    path: '/membership-requests/{collectionId}',
    roles: REQUEST_READERS,
    identity: { exempt: SEES_ALL },
    reply: { status: 200, schema: Requests },
    refusals: ['CollectionNotFound'],
    run: async (input) =>
      okRequests(await requestsOfCollection(input.caller.tenantId, collectionOf(input), viewerOf(input), deps)),
  }),
  route({
    operationId: 'getRequest',
    summary: 'One request, with its lifecycle',
    method: 'GET',
    path: '/membership-requests/{collectionId}/{requestId}',
    roles: REQUEST_READERS,
    identity: { exempt: SEES_ALL },
    reply: { status: 200, schema: MembershipRequestRecord, versioned: true },
    refusals: ['CollectionNotFound', 'RequestNotFound'],
    run: async (input) => okVersioned(await readRequest(nameOf(input), viewerOf(input), deps), requestRecord),
  }),
]

const actionRoutes = (deps: RequestDependencies): readonly Route[] => {
  const action = (
    kind: 'approve' | 'reject' | 'cancel' | 'leave',
    summary: string,
    body: TObject,
    refusals: readonly RefusalCode[],
  ): Route =>
    route({
      operationId: `${kind}Request`,
      summary,
      method: 'POST',
      path: `/membership-requests/{collectionId}/{requestId}/${kind}`,
      roles: PERSON_ROLES,
      identity: { exempt: [] },
      body,
      reply: { status: 200, schema: MembershipRequestRecord, versioned: true },
      refusals: [...ACTION_REFUSALS, ...refusals],
      run: async (input) => {
        const actor = { identityId: actingIdentity(input), seesAll: viewerOf(input).seesAll }
        const given = input.body as Static<typeof RequestDecision>
        return okVersioned(await actOnRequest(nameOf(input), kind, given, actor, deps), requestRecord)
      },
    })
  const deciding: readonly RefusalCode[] = ['SelfApproval', 'NotCurrentApprover']
  return [
    action('approve', 'Approve at the gate where the request waits', RequestDecision, deciding),
    action('reject', 'Reject at the gate where the request waits', RequestDecision, deciding),
    action('cancel', 'Withdraw a request that is not decided yet', RequestWithdrawal, ['NotRequester']),
    action('leave', 'Leave a collection', RequestWithdrawal, ['NotRequester']),
  ]
}

const ownRoutes = (deps: RequestDependencies): readonly Route[] => [
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

function collectionOf({ path }: RouteInput): string {
  return pathValue(path, 'collectionId')
}

function nameOf(input: RouteInput): RequestName {
  const { tenantId } = input.caller
  return { tenantId, collectionId: collectionOf(input), requestId: pathValue(input.path, 'requestId') }
}

function personOf(input: RouteInput): Person {
  return { tenantId: input.caller.tenantId, identityId: actingIdentity(input) }
}

function viewerOf({ caller, identityId }: RouteInput): Viewer {
  return { identityId, seesAll: SEES_ALL.some((role) => caller.roles.has(role)) }
}

function submitted(group: string, request: Versioned<MembershipRequest>): Answer {
  const { data, headers } = okVersioned(request, requestRecord)
  const location = `/${group}/membership-requests/${data.collectionId}/${data.id}`
  return { data, headers: { ...headers, location } }
}

function okRequests(requests: readonly MembershipRequest[]): Answer {
  return ok(requests.map(requestRecord))
}

function okCollections(collections: readonly Collection[]): Answer {
  return ok(collections.map(joinableCollectionRecord))
}
