import { type CircleDependencies, findCircleOfLink } from '../collections/circular-references.ts'
import type { Collection, CollectionKind } from '../collections/collection.ts'
import type { CollectionDependencies, CollectionLinks } from '../collections/collection-dependencies.ts'
import type { MembershipHead } from '../collections/membership-store.ts'
import { joinedMembersOf } from '../collections/membership-store.ts'
import { ACCOUNT_CHANGE_DELAY_MS } from '../core/core-object-store.ts'
import { evaluatedUntilMs, type HandedOverDependencies, handedOver } from '../evaluation/handed-over.ts'
import {
  type AccountDependencies,
  accountsLost,
  accountsOf,
  netChange,
  returnedWithOtherAccounts,
} from '../evaluation/member-accounts.ts'
import { partsOfDefinitionKey } from '../evaluation/members-now.ts'
import type { TenantEvaluator } from '../evaluation/tenant-evaluator.ts'
import { ALL_TIME, newestEvent } from '../history/member-history.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import {
  type AccountChanges,
  type CollectionAccounts,
  collectionNotEvaluated,
  collectionUnknown,
  type LinkedCollections,
} from './collection-accounts.ts'
import { type DefinitionDependencies, hasDefinedSince } from './defined-since.ts'
import type { GroupLink } from './group-link.ts'
import { changeLink, ignoreDeletedLink } from './link-lease.ts'
import type { LinkLists, LinkStore } from './link-store.ts'
import { removalCausesOf } from './removal-causes.ts'

type LinkedDependencies = AccountDependencies &
  HandedOverDependencies &
  CircleDependencies &
  Pick<CollectionDependencies, 'memberships' | 'joined' | 'history' | 'snapshots'> &
  DefinitionDependencies

/** The directory accounts of collections' members. */
export function linkedAccounts(deps: LinkedDependencies, evaluator: TenantEvaluator): LinkedCollections {
  const { collections, snapshots } = deps
  /** The accounts, and the rows that have them. */
  const readAccounts = async (
    collection: Collection,
    accepted: readonly string[] = [],
  ): Promise<{ now: CollectionAccounts; rows: RowSnapshot }> => {
    const coveredAtMs = await evaluatedUntilMs(collection, deps)
    const { ids: stored, membershipVersion, isCurrent } = await memberIds(collection, deps, evaluator)
    const rows = await snapshots.fresh(collection.tenantId)
    return snapshots.whileUnchanged(rows, async () => {
      const leftOut = await handedOver(collection, { ids: stored, coveredAtMs }, rows, deps)
      const ids = leftOut.size === 0 ? stored : stored.filter((id) => !leftOut.has(id))
      const found = await accountsOf({ collection, ids, rows }, deps, new Set(accepted))
      return { now: { ...found, membershipVersion, isCurrent, ...(leftOut.size > 0 && { leavesOut: true }) }, rows }
    })
  }
  return {
    async accountsOf(tenantId, collectionId, accepted) {
      return (await readAccounts(await existing(tenantId, collectionId, deps), accepted)).now
    },
    async findAccounts(tenantId, collectionId, accepted) {
      const found = await collections.find(tenantId, collectionId)
      return found && (await readAccounts(found.value, accepted)).now
    },
    async versions(tenantId, collectionIds) {
      const ofCriteria = await deps.memberships.versions(tenantId, collectionIds)
      const others = collectionIds.filter((id) => !ofCriteria.has(id))
      const ofJoinables = others.length === 0 ? [] : await deps.joined.versions(tenantId, others)
      return new Map([...ofCriteria, ...ofJoinables])
    },
    async currentVersion(tenantId, collectionId) {
      const collection = (await collections.find(tenantId, collectionId))?.value
      if (collection === undefined) return undefined
      const ids = [collectionId]
      if (collection.kind === 'joinable') return (await deps.joined.versions(tenantId, ids)).get(collectionId)
      const head = (await deps.memberships.head(tenantId, collectionId))?.value
      return satisfiesDefinition(head, collection) ? head.membershipVersion : undefined
    },
    async versionsWrittenSince(tenantId, kinds, sinceS) {
      const idsOf = (kind: CollectionKind) => [...kinds].flatMap(([id, kindOfId]) => (kindOfId === kind ? [id] : []))
      const [criteriaIds, joinableIds] = [idsOf('criteria'), idsOf('joinable')]
      const [ofCriteria, ofJoinables] = await Promise.all([
        criteriaIds.length === 0 ? [] : deps.memberships.versionsWrittenSince(tenantId, sinceS),
        joinableIds.length === 0 ? [] : deps.joined.versions(tenantId, joinableIds),
      ])
      return new Map([...ofCriteria, ...ofJoinables])
    },
    async find(tenantId, collectionId) {
      return (await collections.find(tenantId, collectionId))?.value
    },
    async confirmReference(tenantId, collectionId) {
      await collections.invalidateReferenceVersions(tenantId)
      return (await collections.find(tenantId, collectionId)) !== undefined
    },
    findCircle: (link) => findCircleOfLink(link, deps),
    async newestChange({ tenantId, collectionId, appliedMembershipVersion }) {
      const kind = (await collections.find(tenantId, collectionId))?.value.kind
      if (kind === undefined) return null
      const newest = await newestEvent(deps.history[kind].newestFirst(tenantId, collectionId, ALL_TIME))
      if (newest === undefined || newest.membershipVersion <= (appliedMembershipVersion ?? 0)) return null
      const { cause, actorId, atMs } = newest
      return { kind: cause, actorId, atMs }
    },
    removalCauses: (link, accounts) => removalCausesOf(link, accounts, deps),
    hasDefinedSince: (search) => hasDefinedSince(search, deps),
    async changesSince({ tenantId, collectionId, comparedAtMs, acceptedWithoutAccount }, membershipVersion) {
      const collection = await existing(tenantId, collectionId, deps)
      // Which accepted members have an account is not stored with the changes.
      const isStored = acceptedWithoutAccount.length === 0
      const stored = isStored && (await storedChangesSince(collection, membershipVersion, comparedAtMs, deps))
      if (stored) return stored
      const history = collection.kind === 'joinable' ? deps.joined : deps.memberships
      const changes = await history.changesAfter(tenantId, collectionId, membershipVersion)
      if (changes === undefined) return undefined
      const { now, rows } = await readAccounts(collection, acceptedWithoutAccount)
      // They are changes of a former condition. The present one may include those who have left.
      if (!now.isCurrent) return undefined
      const { removed } = netChange(changes)
      // Also those whose last change is a removal: a person can have several memberships, one for each position.
      const added = [...new Set(changes.flatMap((change) => change.added))]
      const former = { collection, rows, followedUntilMs: comparedAtMs ?? 0 }
      const lost = await accountsLost(removed, former, deps)
      if (lost === undefined || (await returnedWithOtherAccounts(changes, former, deps))) return undefined
      const gained = await accountsOf({ collection, ids: added, rows }, deps)
      return {
        // The present members do not include a position that was handed over since.
        added: [...gained.accounts.intersection(now.accounts)],
        removed: [...lost].filter((account) => !now.accounts.has(account)),
        withoutAccountCount: now.withoutAccountCount,
        withoutAccountIds: now.withoutAccountIds,
        accepted: now.accepted,
        accountCount: now.accounts.size,
        // Each change makes a version. The members read above may already be newer than the history.
        membershipVersion: membershipVersion + changes.length,
      }
    },
  }
}

/**
 * The changes with the accounts that the evaluator has stored: of a criteria collection that had the link when it was
 * evaluated. Neither rows nor members are read.
 *
 * An account that changed after the evaluation is as it was: as always when the members stay, the next evaluation then
 * records the change on the link, which makes it compare in full. It does not if the link was compared in the meantime.
 */
async function storedChangesSince(
  { tenantId, id, kind, definitionVersion }: Collection,
  membershipVersion: number,
  comparedAtMs: number | null,
  { memberships }: Pick<LinkedDependencies, 'memberships'>,
): Promise<AccountChanges | undefined> {
  if (kind !== 'criteria') return undefined
  const stored = await memberships.accountsAfter(tenantId, id, membershipVersion)
  if (stored === undefined) return undefined
  const { changes, last, definitionKey } = stored
  const readSinceMs = (comparedAtMs ?? 0) + ACCOUNT_CHANGE_DELAY_MS
  if ([...changes, last].some(({ readAtMs }) => readAtMs < readSinceMs)) return undefined
  if (!satisfiesDefinition({ definitionKey }, { definitionVersion })) return undefined
  const { withoutAccountCount, withoutAccountIds, accountCount } = last
  return {
    ...netChange(changes),
    withoutAccountCount,
    withoutAccountIds,
    accountCount,
    membershipVersion: membershipVersion + changes.length,
  }
}

/** Whether members with this head, undefined before the first evaluation, are those of the definition. */
function satisfiesDefinition<T extends Pick<MembershipHead, 'definitionKey'>>(
  head: T | undefined,
  { definitionVersion }: Pick<Collection, 'definitionVersion'>,
): head is T {
  return head !== undefined && partsOfDefinitionKey(head.definitionKey).definitionVersion >= definitionVersion
}

/**
 * Member ids as in the history. For a joinable collection these are identities, one for each membership.
 * @throws Refusal `CollectionNotVerified` when a collection could not be evaluated that never was.
 */
async function memberIds(
  collection: Collection,
  { memberships, joined }: Pick<CollectionDependencies, 'memberships' | 'joined'>,
  evaluator: TenantEvaluator,
): Promise<{ ids: readonly string[]; membershipVersion: number; isCurrent: boolean }> {
  const { tenantId, id, kind } = collection
  if (kind === 'joinable') {
    const { memberships: joinedNow, membershipVersion } = await joinedMembersOf(tenantId, id, joined)
    return { ids: joinedNow.map(({ identityId }) => identityId), membershipVersion, isCurrent: true }
  }
  // A collection that was never evaluated must not appear empty, nor a changed one as it was before.
  const stored = await memberships.head(tenantId, id)
  if (!satisfiesDefinition(stored?.value, collection)) await evaluator.evaluate(tenantId)
  const membership = await memberships.members(tenantId, id)
  if (membership === undefined) throw collectionNotEvaluated(id)
  const { ids, head } = membership
  return { ids, membershipVersion: head.membershipVersion, isCurrent: satisfiesDefinition(head, collection) }
}

async function existing(
  tenantId: string,
  collectionId: string,
  deps: Pick<CollectionDependencies, 'collections'>,
): Promise<Collection> {
  const collection = await deps.collections.find(tenantId, collectionId)
  if (collection === undefined) throw collectionUnknown(collectionId)
  return collection.value
}

/** What collections read of group links, and record on them. */
export function collectionLinks(links: LinkStore & LinkLists, nowMs: () => number): CollectionLinks {
  const enabled = async (tenantId: string): Promise<GroupLink[]> =>
    (await links.ofTenant(tenantId)).map(({ value }) => value).filter(({ state }) => state === 'Enabled')
  return {
    async linksOf(tenantId, collectionId) {
      return (await links.ofCollection(tenantId, collectionId)).map(({ value }) => value.id)
    },
    async collectionsFilling(tenantId, directoryGroupIds) {
      const filling = await links.ofGroups(tenantId, directoryGroupIds)
      return new Map(filling.map(({ directoryGroupId, collectionId }) => [directoryGroupId, collectionId]))
    },
    async linkedCollections(tenantId) {
      const applied = new Map<string, number>()
      for (const { collectionId, appliedMembershipVersion: version } of await enabled(tenantId)) {
        applied.set(collectionId, Math.min(applied.get(collectionId) ?? Infinity, version ?? Infinity))
      }
      return applied
    },
    async accountsChanged(tenantId, changed) {
      const affected = (await enabled(tenantId)).filter((link) => mayContainFormerAccounts(link, changed))
      for (const { id } of affected) {
        const accountsChangedAtMs = nowMs()
        await changeLink(tenantId, id, (link) => ({ ...link, accountsChangedAtMs: accountsChangedAtMs }), {
          links,
        }).catch(ignoreDeletedLink)
      }
      return new Set(affected.map(({ collectionId }) => collectionId))
    },
  }
}

function mayContainFormerAccounts(
  { collectionId, comparedAtMs }: GroupLink,
  changed: ReadonlyMap<string, number>,
): boolean {
  const changedAtMs = changed.get(collectionId)
  return changedAtMs !== undefined && (comparedAtMs ?? 0) < changedAtMs + ACCOUNT_CHANGE_DELAY_MS
}
