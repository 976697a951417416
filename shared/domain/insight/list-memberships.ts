import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { CollectionObjectType } from '../collections/collection.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkLists } from '../group-links/link-store.ts'
import { MEMBER_CHANGE_CAUSES } from '../history/member-history.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { StoredMembership, StoredMembershipDependencies, StoredMemberships } from './stored-memberships.ts'

const MembershipLink = Closed({
  linkId: Guid,
  directoryGroupId: Guid,
  displayName: Described(Nullable(Type.String()), "The group's name as last read."),
  state: Described(
    OneOf(['NoAccount', 'LinkDisabled', 'Pending', 'Written']),
    'As the last syncs have left it; the directory is not asked. `NoAccount`: without an account, or with one that the ' +
      'directory did not know or refused. `LinkDisabled`: nothing is written. `Pending`: not written yet. ' +
      '`Written`: added to the group.',
  ),
})
type MembershipLink = Static<typeof MembershipLink>

/** A membership of a person. */
export const MembershipDto = Closed({
  collectionId: Guid,
  collectionName: Type.String(),
  objectType: CollectionObjectType,
  relationshipId: Described(
    Nullable(Guid),
    'The position that is a member, or in a joinable collection the one that the membership is for; otherwise null.',
  ),
  since: Described(Nullable(Timestamp), 'When the member was added; null when the history is not kept that long.'),
  cause: Described(Nullable(OneOf(MEMBER_CHANGE_CAUSES)), 'Why, as in the history of members; null as `since`.'),
  actorId: Described(Nullable(Type.String()), 'By whom, as in the history of members; null as `since`.'),
  endsAt: Described(Nullable(Timestamp), 'When the membership ends; null without an end.'),
  links: Type.Array(MembershipLink),
})
export type MembershipDto = Static<typeof MembershipDto>

export type ListMembershipsDependencies = StoredMembershipDependencies & {
  readonly storedMemberships: StoredMemberships
  readonly linkStore: Pick<LinkLists, 'ofCollections'>
}

/** Who asks: with the own identity, if any, and whether any person may be asked about, or only reports. */
type Asker = { readonly caller: Caller; readonly identityId: string | undefined; readonly seesAll: boolean }

/**
 * All memberships of a person in the collections of the tenant, by name of the collection.
 * @throws Refusal `NotManager` for an identity that is neither the caller's own nor of a report, also for an unknown
 * one; `IdentityNotFound` for a caller who may ask about any person.
 */
export async function listMemberships(
  identityId: string,
  asker: Asker,
  deps: ListMembershipsDependencies,
): Promise<MembershipDto[]> {
  const { tenantId } = asker.caller
  const rows = await deps.snapshots.fresh(tenantId)
  const isKnown = rows.has('identity', identityId)
  if (!asker.seesAll) {
    const own = asker.identityId
    const isReport = () => own !== undefined && new OrgChart(rows, deps.nowMs()).isManagerOf(own, identityId)
    const mayAsk = isKnown && own !== undefined && (own === identityId || isReport())
    if (!mayAsk) throw new Refusal('NotManager', `Identity ${identityId} does not report to the caller`)
  }
  if (!isKnown) throw new Refusal('IdentityNotFound', `There is no identity ${identityId}`)
  const found = await deps.storedMemberships.of(tenantId, identityId, rows)
  const collectionIds = [...new Set(found.map(({ collection }) => collection.id))]
  const links = Map.groupBy(await deps.linkStore.ofCollections(tenantId, collectionIds), (link) => link.collectionId)
  const account = rows.accountOf('identity', identityId)
  return found
    .map((membership) => membershipDto(membership, links.get(membership.collection.id) ?? [], account))
    .sort(byName)
}

function membershipDto(
  { collection, relationshipId, added, endsAt }: StoredMembership,
  links: readonly GroupLink[],
  account: string | undefined,
): MembershipDto {
  return {
    collectionId: collection.id,
    collectionName: collection.name,
    objectType: collection.objectType,
    relationshipId,
    since: added === undefined ? null : toTimestamp(added.atMs),
    cause: added?.cause ?? null,
    actorId: added?.actorId ?? null,
    endsAt,
    links: links.map((link) => ({
      linkId: link.id,
      directoryGroupId: link.directoryGroupId,
      displayName: link.directoryGroupDisplayName,
      state: stateIn(link, account, added?.membershipVersion ?? 0),
    })),
  }
}

/** @param version The version of the members that has the member. */
function stateIn(link: GroupLink, account: string | undefined, version: number): MembershipLink['state'] {
  if (account === undefined) return 'NoAccount'
  if (link.state === 'Disabled') return 'LinkDisabled'
  if (link.unresolved.includes(account)) return 'NoAccount'
  const { appliedMembershipVersion: applied, accountsChangedAtMs } = link
  return applied !== null && applied >= version && accountsChangedAtMs === null ? 'Written' : 'Pending'
}

function byName(left: MembershipDto, right: MembershipDto): number {
  const key = ({ collectionName, collectionId, relationshipId }: MembershipDto) =>
    [collectionName, collectionId, relationshipId ?? ''].join('\u0000')
  return key(left) < key(right) ? -1 : 1
}
