import { type Static, type TObject, Type } from 'typebox'
import {
  actOnRequest,
  RequestDecision,
  RequestWithdrawal,
  readRequest,
} from '../../shared/domain/membership-requests/act-on-request.ts'
import { extendMembership, MembershipExtension } from '../../shared/domain/membership-requests/extend-membership.ts'
import { requestsOfCollection } from '../../shared/domain/membership-requests/list-requests.ts'
import { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import {
  Submission,
  SubmissionOnBehalf,
  submitOnBehalf,
  submitRequest,
} from '../../shared/domain/membership-requests/submit-request.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { pagedResult } from '../../shared/http/paging.ts'
import { actingIdentity, type Route, route } from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusal-register.ts'
import type { Versioned } from '../../shared/kernel/versioned.ts'
import {
  actorOf,
  COLLECTION_WRITERS,
  PERSON_ROLES,
  personOf,
  REQUEST_READERS,
  type RequestRouteDependencies,
  requestNameOf,
  SEES_ALL_REQUESTS,
  StatusQuery,
  viewerOf,
} from './collection-contract.ts'
import { deputyRoutes } from './deputies.ts'
import { ownRequestRoutes } from './own-requests.ts'

const SUBMIT_REFUSALS: readonly RefusalCode[] = [
  'InvalidEnd',
  'CollectionNotFound',
  'EndTooLate',
  'RelationshipRequired',
  'RequestAlreadyOpen',
  'AlreadyMember',
  'NotEligible',
  'NoApprover',
  'StaleVersion',
]
const ACTION_REFUSALS: readonly RefusalCode[] = [
  'CollectionNotFound',
  'RequestNotFound',
  'RelationshipUnknown',
  'RelationshipNotOfRequest',
  'PreconditionFailed',
  'InvalidRequestState',
  'StaleVersion',
]

/** Submitting, deciding, cancelling and reading requests. */
export const membershipRequestRoutes = (group: string, deps: RequestRouteDependencies): readonly Route[] => [
  ...submitRoutes(group, deps),
  ...readRoutes(deps),
  ...actionRoutes(deps),
  ...ownRequestRoutes(deps),
  ...deputyRoutes(deps),
]

const submitRoutes = (group: string, deps: RequestRouteDependencies): readonly Route[] => [
  route('POST', '/membership-requests/{collectionId}/submit', {
    operationId: 'submitRequest',
    summary: 'Submit a request',
    description:
      'Requests a membership for the caller. `relationshipId` is optional for an identity with one active relationship, ' +
      'and required in a Relationship collection for an identity with several. A relationship is active unless its ' +
      '`endDate` is before today. In an Identity collection, an identity has one membership, whichever relationship is ' +
      'recorded. A `relationshipId` that is not one of the caller is refused with `RelationshipNotYours`, whether it ' +
      'exists or not. `NoApprover` means that the first approval gate has no approver other than the requester; a ' +
      'request that comes to such a gate later waits there. The membership ends at `endsAt` or, without it, after the ' +
      '`maxDays` of the policy, if it has any; a later `endsAt` is refused with `EndTooLate`.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: Submission,
    reply: { status: 201, schema: MembershipRequestDto, versioned: 'for-writes' },
    refusals: ['RelationshipNotYours', 'RelationshipEnded', ...SUBMIT_REFUSALS],
    run: async (input) =>
      submitted(group, await submitRequest(input.path.collectionId, input.body, personOf(input), deps, input.creation)),
  }),
  route('POST', '/membership-requests/{collectionId}/submit-on-behalf', {
    operationId: 'submitRequestOnBehalf',
    summary: 'Submit a request on behalf of a report',
    description:
      'Requests a membership for a report of the caller, named by `requesterId` or `relationshipId`. An identity that ' +
      'does not report to the caller, an unknown id, an ended relationship and a relationship of another identity are ' +
      'all refused with `NotManager`.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: SubmissionOnBehalf,
    reply: { status: 201, schema: MembershipRequestDto, versioned: 'for-writes' },
    refusals: ['RequesterRequired', ...SUBMIT_REFUSALS, 'NotManager'],
    run: async (input) =>
      submitted(
        group,
        await submitOnBehalf(input.path.collectionId, input.body, personOf(input), deps, input.creation),
      ),
  }),
]

const readRoutes = (deps: RequestRouteDependencies): readonly Route[] => [
  route('GET', '/membership-requests/{collectionId}', {
    operationId: 'listRequests',
    summary: 'List the requests for a collection',
    description:
      'Returns a page, newest first. A caller with the role `User` gets their own requests, those that they can decide or ' +
      'have decided, and those that ended at a gate where they are an approver; their pages can have fewer items than ' +
      '`pageSize`.',
    roles: REQUEST_READERS,
    identity: { exempt: SEES_ALL_REQUESTS },
    query: StatusQuery,
    reply: { status: 200, schema: Type.Array(MembershipRequestDto), paged: true },
    refusals: ['CollectionNotFound', 'InvalidCursor'],
    run: (input) => {
      const { status, ...page } = input.query
      const [viewer, { collectionId }, { tenantId }] = [viewerOf(input), input.path, input.caller]
      const scope = viewer.seesAll ? 'all' : viewer.identityId
      return pagedResult(page, [tenantId, 'requests', collectionId, scope, status], deps.cursors, (after, size) =>
        requestsOfCollection(tenantId, collectionId, viewer, { status, after, size }, deps),
      )
    },
  }),
  route('GET', '/membership-requests/{collectionId}/{requestId}', {
    operationId: 'getRequest',
    summary: 'Get a request',
    description: 'Returns the request with its lifecycle.',
    roles: REQUEST_READERS,
    identity: { exempt: SEES_ALL_REQUESTS },
    reply: { status: 200, schema: MembershipRequestDto, versioned: 'for-writes' },
    refusals: ['CollectionNotFound', 'RequestNotFound'],
    run: async (input) => okRequest(await readRequest(requestNameOf(input), viewerOf(input), deps)),
  }),
]

const actionRoutes = (deps: RequestRouteDependencies): readonly Route[] => {
  const action = (
    kind: 'approve' | 'reject' | 'cancel' | 'leave',
    summary: string,
    description: string,
    body: TObject,
    refusals: readonly RefusalCode[],
  ): Route =>
    route('POST', `/membership-requests/{collectionId}/{requestId}/${kind}`, {
      operationId: `${kind}Request`,
      summary,
      description,
      roles: PERSON_ROLES,
      identity: { exempt: [] },
      body,
      reply: { status: 200, schema: MembershipRequestDto, versioned: 'for-writes' },
      refusals: [...ACTION_REFUSALS, ...refusals],
      run: async (input) => {
        const actor = { identityId: actingIdentity(input), seesAll: viewerOf(input).seesAll }
        const decision = input.body as Static<typeof RequestDecision>
        const { ifMatch } = input
        const request = await actOnRequest(requestNameOf(input), kind, decision, actor, { ifMatch }, deps)
        return okRequest(request)
      },
    })
  const decision = RequestDecision
  const approvers =
    'Approvers cannot decide their own requests. Deputies decide for those whom they represent, but neither their own ' +
    'requests nor those of the person represented.'
  const deciding: readonly RefusalCode[] = ['SelfApproval', 'NotCurrentApprover']
  const rejecting: readonly RefusalCode[] = ['NotesRequired', ...deciding]
  return [
    extendRoute(deps),
    action(
      'approve',
      'Approve a request',
      `Approves the request at its current gate. ${approvers}`,
      decision,
      deciding,
    ),
    action(
      'reject',
      'Reject a request',
      `Rejects the request at its current gate. ${approvers} With \`rejectionNeedsReason\` of the policy, \`notes\` are required.`,
      decision,
      rejecting,
    ),
    action(
      'cancel',
      'Cancel a request',
      'Cancels a pending request, by the requester or who submitted it. An extension cannot be cancelled.',
      RequestWithdrawal,
      ['NotRequester'],
    ),
    action('leave', 'Leave a collection', 'Ends the membership.', RequestWithdrawal, ['NotRequester']),
  ]
}

const extendRoute = (deps: RequestRouteDependencies): Route =>
  route('POST', '/membership-requests/{collectionId}/{requestId}/extend', {
    operationId: 'extendMembership',
    summary: 'Extend a membership',
    description:
      'Asks for a later end of a membership that has one. The requester, their manager and writers of collections can do ' +
      'this; for others it is refused with `NotRequester`, or not found. With `maxDays`, the end is at most that number ' +
      'of days from now. Without approval gates, the end is changed at once. With gates, the extension waits at them as a request ' +
      'does, for managers and writers too: `status` stays `Joined`, and `extension` has the end and the gate until it is decided by ' +
      'approve and reject. A membership whose extension waits at its end stays for up to 14 days longer, but not longer ' +
      'than the extension would last; a further one is refused with `InvalidRequestState` meanwhile. When the requester is no longer eligible, the extension is dropped at the next gate, with ' +
      'an entry `Cancelled` by `system` with the note `NotEligible`. When the requester becomes one with another member, and ' +
      'the membership lasts at least as long as the extension asks for, it is dropped with the note `Merged`. A membership ' +
      'whose `lifecycle` has more than 256 KB of JSON is refused with `LifecycleTooLarge`.',
    roles: [...new Set([...PERSON_ROLES, ...COLLECTION_WRITERS])],
    identity: { exempt: COLLECTION_WRITERS },
    body: MembershipExtension,
    reply: { status: 200, schema: MembershipRequestDto, versioned: 'for-writes' },
    refusals: [
      'InvalidEnd',
      'CollectionNotFound',
      'RequestNotFound',
      'PreconditionFailed',
      'EndTooLate',
      'InvalidRequestState',
      'NotRequester',
      'EndNotLater',
      'LifecycleTooLarge',
      'NotEligible',
      'NoApprover',
      'StaleVersion',
    ],
    run: async (input) => {
      const { body, caller, identityId, ifMatch } = input
      const isWriter = COLLECTION_WRITERS.some((role) => caller.roles.has(role))
      const extender = { actor: actorOf(caller, identityId), isWriter }
      return okRequest(await extendMembership(requestNameOf(input), body, extender, ifMatch, deps))
    },
  })

function okRequest({ value, version }: Versioned<MembershipRequestDto>): RouteResult<MembershipRequestDto> {
  return { data: value, headers: { etag: version } }
}

function submitted(group: string, request: Versioned<MembershipRequestDto>): RouteResult {
  const { data, headers } = okRequest(request)
  const location = `/${group}/membership-requests/${data.collectionId}/${data.id}`
  return { data, headers: { ...headers, location } }
}
