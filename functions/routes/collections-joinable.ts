import { Type } from 'typebox'
import { CollectionResults } from '../../shared/domain/collections/collection.ts'
import {
  listCollections,
  readCollection,
  readResults,
  searchCollections,
  searchFilter,
} from '../../shared/domain/collections/read-collections.ts'
import {
  AddedMembers,
  addMembersDirectly,
  MemberAddition,
  MemberChange,
  RemovedMembers,
  removeMembersDirectly,
} from '../../shared/domain/membership-requests/direct-members.ts'
import {
  createJoinableCollection,
  deleteJoinableCollection,
  JoinableCollectionDto,
  JoinableCollectionUpdate,
  NewJoinableCollection,
  toJoinableCollectionDto,
  updateJoinableCollection,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import { memberOf } from '../../shared/domain/membership-requests/own-collections.ts'
import {
  actingIdentity,
  created,
  deleted,
  ok,
  okVersioned,
  type Route,
  type RouteGroup,
  route,
} from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusal-register.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import {
  actorOf,
  COLLECTION_READERS,
  COLLECTION_WRITERS,
  PERSON_ROLES,
  type RequestRouteDependencies,
  SearchQuery,
} from './collection-contract.ts'
import { membershipRequestRoutes } from './membership-requests.ts'
import { PREFIXES } from './prefixes.ts'

const POLICY_REFUSALS: readonly RefusalCode[] = [
  'ObjectTypeNotSupported',
  'DuplicateTag',
  'GateRequired',
  'InvalidGateOrder',
  'DuplicateGateOrder',
  'UnknownGateType',
  'DuplicateManagerGate',
  'ApproversRequired',
  'ApproversNotAllowed',
  'IdentityUnknown',
  'CollectionUnknown',
]

/** Joinable collections and the requests to join them: one HTTP function. */
export const joinableRoutes = (deps: RequestRouteDependencies): RouteGroup => ({
  prefix: PREFIXES.joinable,
  routes: [...definitionRoutes(deps), ...memberRoutes(deps), ...membershipRequestRoutes(PREFIXES.joinable, deps)],
})

/** Manages joinable collections. */
const definitionRoutes = (deps: RequestRouteDependencies): readonly Route[] => [
  route('GET', '/', {
    operationId: 'listJoinableCollections',
    summary: 'List joinable collections',
    description: 'Ordered by name.',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: Type.Array(JoinableCollectionDto) },
    run: async ({ caller }) =>
      ok((await listCollections(caller.tenantId, { kind: 'joinable' }, deps)).map(toJoinableCollectionDto)),
  }),
  route('POST', '/', {
    operationId: 'createJoinableCollection',
    summary: 'Create a joinable collection',
    description:
      'The collection has no members at first. A tenant has at most 5,000 collections of both kinds, whose ' +
      'definitions together have at most 32 MB of JSON.',
    roles: COLLECTION_WRITERS,
    identity: 'optional',
    body: NewJoinableCollection,
    reply: { status: 201, schema: Guid },
    refusals: [...POLICY_REFUSALS, 'QuotaExceeded', 'StaleVersion'],
    run: async ({ body, caller, identityId, creation }) => {
      const { id } = await createJoinableCollection(body, { ...caller, identityId }, deps, creation)
      return created(PREFIXES.joinable, id)
    },
  }),
  route('GET', '/search', {
    operationId: 'searchJoinableCollections',
    summary: 'Search joinable collections',
    description: 'Returns the collections that have all given tags and attributes, ordered by name.',
    roles: COLLECTION_READERS,
    query: SearchQuery,
    reply: { status: 200, schema: Type.Array(JoinableCollectionDto) },
    run: async ({ query: { tags, attributes }, caller }) => {
      const filter = { ...searchFilter(tags, attributes), kind: 'joinable' } as const
      return ok((await searchCollections(caller.tenantId, filter, deps)).map(toJoinableCollectionDto))
    },
  }),
  route('GET', '/{id}', {
    operationId: 'getJoinableCollection',
    summary: 'Get a joinable collection',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: JoinableCollectionDto, versioned: true },
    refusals: ['CollectionNotFound'],
    run: async ({ path: { id }, caller }) =>
      okVersioned(await readCollection(caller.tenantId, id, 'joinable', deps), toJoinableCollectionDto),
  }),
  route('PUT', '/{id}', {
    operationId: 'updateJoinableCollection',
    summary: 'Update a joinable collection',
    description:
      'Omitted members keep their values; `tags` and `attributes` are kept separately. The policy can keep identities ' +
      'and collections that no longer exist if the stored policy already names them, so that a record can always be ' +
      'sent back as it was read. Pending requests follow the new policy: an approval counts for the gate of the same type ' +
      'and approvers, wherever that gate now stands. A request waits at the first gate without an approval; when there ' +
      'is none, it joins. At a gate of another place or type it waits anew, and its approvers are told; also at one of the ' +
      'same place and type that shares no approver with the former gate, or where that gate stands elsewhere. ' +
      'A requester who is no longer eligible when the request comes to a gate or would join is ' +
      'refused: the request is cancelled by `system` with the note `NotEligible`.',
    roles: COLLECTION_WRITERS,
    identity: 'optional',
    body: JoinableCollectionUpdate,
    reply: { status: 200, schema: JoinableCollectionDto, versioned: true },
    refusals: [
      'CollectionNotFound',
      'PreconditionFailed',
      'ObjectTypeFixed',
      ...POLICY_REFUSALS,
      'QuotaExceeded',
      'StaleVersion',
    ],
    run: async ({ path: { id }, body, ifMatch, caller, identityId }) => {
      const updated = await updateJoinableCollection(id, body, ifMatch, { ...caller, identityId }, deps)
      return okVersioned(updated, toJoinableCollectionDto)
    },
  }),
  route('DELETE', '/{id}', {
    operationId: 'deleteJoinableCollection',
    summary: 'Delete a joinable collection',
    description:
      'Cancels its open requests. A collection that other collections or group links refer to cannot be deleted. ' +
      '`CollectionInUse` names them.',
    roles: COLLECTION_WRITERS,
    identity: 'optional',
    reply: { status: 200, schema: Type.Null() },
    refusals: ['CollectionNotFound', 'PreconditionFailed', 'CollectionInUse', 'StaleVersion'],
    run: async ({ path: { id }, ifMatch, caller, identityId }) =>
      deleted(deleteJoinableCollection(id, ifMatch, { ...caller, identityId }, deps)),
  }),
]

const memberRoutes = (deps: RequestRouteDependencies): readonly Route[] => [
  route('GET', '/{id}/results', {
    operationId: 'getJoinableResults',
    summary: 'List the members of a joinable collection',
    description: 'Returns each member with the relationship that the membership is for.',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: CollectionResults },
    refusals: ['CollectionNotFound'],
    run: async ({ path: { id }, caller }) => ok(await readResults(caller.tenantId, id, 'joinable', deps)),
  }),
  route('POST', '/{id}/results/members', {
    operationId: 'addMembers',
    summary: 'Add members',
    description:
      'Adds identities without approval. If one of them does not exist, none is added. A pending request of an identity ' +
      'is approved; otherwise a request is recorded, so that every membership has a history. In an Identity collection, ' +
      'an identity has one membership, whichever relationship is recorded. In a Relationship collection the membership is ' +
      'for the main position: a request for another one goes on waiting, and a member by another one counts in ' +
      '`alreadyMembers`. The memberships end at `endsAt` or, without it, at the end that the pending request asks for, ' +
      'else after the `maxDays` of the policy, if it has any. Identities that are members already keep their end.',
    roles: COLLECTION_WRITERS,
    identity: { exempt: COLLECTION_WRITERS },
    body: MemberAddition,
    reply: { status: 200, schema: AddedMembers },
    refusals: [
      'InvalidEnd',
      'CollectionNotFound',
      'IdentityUnknown',
      'EndTooLate',
      'InvalidRequestState',
      'RequestAlreadyOpen',
      'StaleVersion',
    ],
    run: async ({ path: { id }, body, caller, identityId }) =>
      ok(await addMembersDirectly(caller.tenantId, id, body, actorOf(caller, identityId), deps)),
  }),
  route('DELETE', '/{id}/results/members', {
    operationId: 'removeMembers',
    summary: 'Remove members',
    description:
      'Ends all memberships of the given identities. Those that ended by a deletion do not come back with the person or the position.',
    roles: COLLECTION_WRITERS,
    identity: { exempt: COLLECTION_WRITERS },
    body: MemberChange,
    reply: { status: 200, schema: RemovedMembers },
    refusals: ['CollectionNotFound', 'InvalidRequestState', 'StaleVersion'],
    run: async ({ path: { id }, body, caller, identityId }) =>
      ok(await removeMembersDirectly(caller.tenantId, id, body, actorOf(caller, identityId), deps)),
  }),
  route('GET', '/member-of', {
    operationId: 'listOwnCollections',
    summary: 'List my collections',
    description: 'Returns the joinable collections that the caller is a member of, ordered by name.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: Type.Array(JoinableCollectionDto) },
    run: async (input) => {
      const person = { tenantId: input.caller.tenantId, identityId: actingIdentity(input) }
      return ok((await memberOf(person, deps)).map(toJoinableCollectionDto))
    },
  }),
]
