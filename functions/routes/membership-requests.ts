import { type Static, type TObject, Type } from 'typebox'
import {
  actOnRequest,
  RequestDecision,
  RequestWithdrawal,
  readRequest,
} from '../../shared/domain/membership-requests/act-on-request.ts'
import { requestsOfCollection } from '../../shared/domain/membership-requests/list-requests.ts'
import {
  type MembershipRequest,
  MembershipRequestDto,
  toMembershipRequestDto,
} from '../../shared/domain/membership-requests/membership-request.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import {
  Submission,
  SubmissionOnBehalf,
  submitOnBehalf,
  submitRequest,
} from '../../shared/domain/membership-requests/submit-request.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { actingIdentity, okVersioned, type Route, route } from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusals.ts'
import type { Versioned } from '../../shared/kernel/versioned.ts'
import {
  collectionOf,
  okRequests,
  PERSON_ROLES,
  personOf,
  REQUEST_READERS,
  requestNameOf,
  SEES_ALL_REQUESTS,
  viewerOf,
} from './collection-contract.ts'
import { ownRequestRoutes } from './own-requests.ts'

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

/** Statement, "Membership requests". */
export const membershipRequestRoutes = (group: string, deps: RequestDependencies): readonly Route[] => [
  ...submitRoutes(group, deps),
  ...readRoutes(deps),
  ...actionRoutes(deps),
  ...ownRequestRoutes(deps),
]

const submitRoutes = (group: string, deps: RequestDependencies): readonly Route[] => [
  route({
    operationId: 'submitRequest',
    summary: 'Ask to join',
    description:
      '`relationshipId` may be left out by whoever has one position that has not ended; a position has ended when ' +
      'its `endDate` is before today. In a Relationship collection it is due from whoever has several. In an ' +
      'Identity collection an identity has one membership, whatever position is recorded.',
    method: 'POST',
    path: '/membership-requests/{collectionId}/submit',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: Submission,
    reply: { status: 201, schema: MembershipRequestDto, versioned: true },
    refusals: SUBMIT_REFUSALS,
    run: async (input) =>
      submitted(group, await submitRequest(collectionOf(input), input.body, personOf(input), deps, input.creation)),
  }),
  route({
    operationId: 'submitRequestOnBehalf',
    summary: 'Ask to join on behalf of somebody who reports to the caller',
    description: '`requesterId` or `relationshipId` names the report; one of them is due.',
    method: 'POST',
    path: '/membership-requests/{collectionId}/submit-on-behalf',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: SubmissionOnBehalf,
    reply: { status: 201, schema: MembershipRequestDto, versioned: true },
    refusals: ['RequesterRequired', 'IdentityUnknown', ...SUBMIT_REFUSALS, 'NotManager'],
    run: async (input) =>
      submitted(group, await submitOnBehalf(collectionOf(input), input.body, personOf(input), deps, input.creation)),
  }),
]

const readRoutes = (deps: RequestDependencies): readonly Route[] => [
  route({
    operationId: 'listRequests',
    summary: 'The requests for a collection that the caller may see, newest first',
    method: 'GET',
    path: '/membership-requests/{collectionId}',
    roles: REQUEST_READERS,
    identity: { exempt: SEES_ALL_REQUESTS },
    reply: { status: 200, schema: Type.Array(MembershipRequestDto) },
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
    identity: { exempt: SEES_ALL_REQUESTS },
    reply: { status: 200, schema: MembershipRequestDto, versioned: true },
    refusals: ['CollectionNotFound', 'RequestNotFound'],
    run: async (input) =>
      okVersioned(await readRequest(requestNameOf(input), viewerOf(input), deps), toMembershipRequestDto),
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
      reply: { status: 200, schema: MembershipRequestDto, versioned: true },
      refusals: [...ACTION_REFUSALS, ...refusals],
      run: async (input) => {
        const actor = { identityId: actingIdentity(input), seesAll: viewerOf(input).seesAll }
        const given = input.body as Static<typeof RequestDecision>
        return okVersioned(await actOnRequest(requestNameOf(input), kind, given, actor, deps), toMembershipRequestDto)
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

function submitted(group: string, request: Versioned<MembershipRequest>): RouteResult {
  const { data, headers } = okVersioned(request, toMembershipRequestDto)
  const location = `/${group}/membership-requests/${data.collectionId}/${data.id}`
  return { data, headers: { ...headers, location } }
}
