import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'

export type OwnMembership = MembershipDto & {
  /** The request that led to the membership; undefined where a condition did. */
  readonly request: MembershipRequestDto | undefined
}

/**
 * Memberships with the requests that led to them, those that end soonest first. A collection of people has one request
 * of a person; its position can become null between the two reads.
 */
export function withRequests(
  memberships: readonly MembershipDto[],
  joined: readonly MembershipRequestDto[],
): readonly OwnMembership[] {
  return endingSoonestFirst(
    memberships.map((membership) => ({
      ...membership,
      request: joined.find(
        ({ collectionId, relationshipId }) =>
          collectionId === membership.collectionId &&
          (membership.objectType === 'Identity' || relationshipId === membership.relationshipId),
      ),
    })),
  )
}

/**
 * The memberships in collections, for those whose roles do not include the details of memberships: their own requests
 * have the ends. Since when and in which groups is unknown.
 */
export function membershipsIn(
  collections: readonly CollectionDto[],
  joined: readonly MembershipRequestDto[],
): readonly OwnMembership[] {
  return endingSoonestFirst(
    collections.flatMap(({ id, name, objectType }) => {
      const requests = joined.filter(({ collectionId }) => collectionId === id)
      return (requests.length === 0 ? [undefined] : requests).map((request) => ({
        collectionId: id,
        collectionName: name,
        objectType,
        relationshipId: request?.relationshipId ?? null,
        since: null,
        cause: null,
        actorId: null,
        endsAt: request?.endsAt ?? null,
        links: [],
        request,
      }))
    }),
  )
}

const endMs = ({ endsAt }: OwnMembership): number => (endsAt === null ? Number.MAX_SAFE_INTEGER : Date.parse(endsAt))

const endingSoonestFirst = (memberships: readonly OwnMembership[]): readonly OwnMembership[] =>
  memberships.toSorted((left, right) => endMs(left) - endMs(right))
