import { Type } from 'typebox'
import { CollectionDto, toCollectionDto } from '../../shared/domain/collections/collection.ts'
import type { AccountClaimReader } from '../../shared/domain/connectors/account-claims.ts'
import type { CoreObjectReader } from '../../shared/domain/core/core-object-store.ts'
import { type AttentionDependencies, AttentionDto, readAttention } from '../../shared/domain/insight/attention.ts'
import { FoundPerson, findPeople } from '../../shared/domain/insight/find-people.ts'
import {
  type ListMembershipsDependencies,
  listMemberships,
  MembershipDto,
} from '../../shared/domain/insight/list-memberships.ts'
import { ownCollections } from '../../shared/domain/membership-requests/own-collections.ts'
import { FULL_ACCESS_ROLES, hasFullAccess } from '../../shared/domain/object-access/object-access.ts'
import { CallerDto, readCaller } from '../../shared/domain/object-access/read-caller.ts'
import type { TimeZoneSource } from '../../shared/domain/tenant-index/row-settings.ts'
import { ok, type Route, route } from '../../shared/http/route.ts'
import type { Role } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import {
  COLLECTION_READERS,
  EXPLANATION_READERS,
  PERSON_ROLES,
  personOf,
  type RequestRouteDependencies,
} from './collection-contract.ts'
import { CONNECTOR_READERS } from './connectors.ts'

export type PeopleRouteDependencies = RequestRouteDependencies &
  ListMembershipsDependencies &
  Pick<AttentionDependencies, 'connectorFigures' | 'countDuplicates' | 'linkStore'> & {
    readonly coreObjects: CoreObjectReader & AccountClaimReader
    readonly timeZones: TimeZoneSource
  }

/** A `User` can find those whose name or address they know. */
const PEOPLE_FINDERS: readonly Role[] = [...new Set([...EXPLANATION_READERS, ...FULL_ACCESS_ROLES])]

const MembershipQuery = Type.Object({ identityId: Guid })

/** What concerns the caller, of any kind or role, and single people. */
export const peopleRoutes = (deps: PeopleRouteDependencies): readonly Route[] => [
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
      'the memberships of the caller, the connectors with their unresolved references, and the duplicates.',
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
