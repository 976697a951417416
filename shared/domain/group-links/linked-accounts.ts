import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { MembershipChange } from '../collections/membership-store.ts'
import { joinedMembersOf } from '../collections/membership-store.ts'
import type { TenantEvaluator } from '../collections/tenant-evaluator.ts'
import { ACCOUNT_CHANGE_WINDOW_MS } from '../core/account-changes.ts'
import type { Reference } from '../core/core-object.ts'
import type { DeletedCoreObjects } from '../core/deleted-core-objects.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { AccountChanges, CollectionAccounts, LinkedCollections } from './linked-collections.ts'

type AccountDependencies = CollectionDependencies & { readonly deletedObjects: DeletedCoreObjects }

/** Collections whose members stand for directory accounts. */
type AccountHolder = 'identity' | 'relationship'

/** The directory accounts behind the members of collections: decisions, section 8. */
export function linkedAccounts(deps: AccountDependencies, evaluator: TenantEvaluator): LinkedCollections {
  const { collections, snapshots } = deps
  const accountsOf = async (tenantId: string, collectionId: string): Promise<CollectionAccounts> => {
    const collection = await existing(tenantId, collectionId, deps)
    const { ids, membershipVersion } = await memberIds(collection, deps, evaluator)
    const { accounts, withoutAccountCount } = accountsBehind(ids, collection, await snapshots.fresh(tenantId))
    return { accounts, withoutAccountCount, membershipVersion }
  }
  return {
    accountsOf,
    async find(tenantId, collectionId) {
      const collection = (await collections.find(tenantId, collectionId))?.value
      return collection && { objectType: collection.objectType, name: collection.name }
    },
    async keepForLink(tenantId, collectionId) {
      await collections.invalidateReferenceVersions(tenantId)
      return (await collections.find(tenantId, collectionId)) !== undefined
    },
    async changesSince(tenantId, collectionId, membershipVersion): Promise<AccountChanges | undefined> {
      const collection = await existing(tenantId, collectionId, deps)
      const history = collection.kind === 'joinable' ? deps.joined : deps.memberships
      const changes = await history.changesAfter(tenantId, collectionId, membershipVersion)
      if (changes === undefined) return undefined
      const now = await accountsOf(tenantId, collectionId)
      const { added, removed } = netChange(changes)
      const rows = await snapshots.fresh(tenantId)
      const lost = await accountsLost(removed, collection, rows, deps)
      if (lost === undefined) return undefined
      return {
        added: [...accountsBehind(added, collection, rows).accounts],
        removed: [...lost].filter((account) => !now.accounts.has(account)),
        withoutAccountCount: now.withoutAccountCount,
        // Each change makes a version: as far as the history was read, which the members may have left behind by now.
        membershipVersion: membershipVersion + changes.length,
      }
    },
  }
}

/** The members in the history's own terms: those of a joinable collection are identities, once for each membership. */
async function memberIds(
  { tenantId, id, kind }: Collection,
  { memberships, joined }: CollectionDependencies,
  evaluator: TenantEvaluator,
): Promise<{ ids: readonly string[]; membershipVersion: number }> {
  if (kind === 'joinable') {
    const { memberships: joinedNow, membershipVersion } = await joinedMembersOf(tenantId, id, joined)
    return { ids: joinedNow.map(({ identityId }) => identityId), membershipVersion }
  }
  // An evaluation that is due must not look like an empty collection.
  if ((await memberships.head(tenantId, id)) === undefined) await evaluator.evaluateNow(tenantId)
  const membership = await memberships.members(tenantId, id)
  if (membership === undefined) throw new Error(`Collection ${id} could not be evaluated`)
  return { ids: membership.ids, membershipVersion: membership.head.membershipVersion }
}

async function existing(tenantId: string, collectionId: string, deps: CollectionDependencies): Promise<Collection> {
  const collection = await deps.collections.find(tenantId, collectionId)
  if (collection === undefined) throw new Error(`Collection ${collectionId} is gone`)
  return collection.value
}

function holderIn({ kind, objectType }: Collection): AccountHolder {
  if (objectType !== 'Identity' && objectType !== 'Relationship') {
    throw new Error(`Collections of ${objectType} objects have no directory accounts`)
  }
  return kind === 'joinable' || objectType === 'Identity' ? 'identity' : 'relationship'
}

/**
 * The accounts of those who are members no more, many of whom are no more themselves. Undefined when nobody knows any
 * longer whose account it was: then only comparing the whole group tells. Who changed accounts lately may have left
 * another one in the group than they have now.
 */
async function accountsLost(
  removed: readonly string[],
  collection: Collection,
  rows: RowSnapshot,
  { deletedObjects, accountChanges, nowMs }: AccountDependencies,
): Promise<ReadonlySet<string> | undefined> {
  const { tenantId } = collection
  let identityIds = removed
  if (holderIn(collection) === 'relationship') {
    const former = await deletedObjects.ofIds(
      tenantId,
      removed.filter((id) => rows.holderOf(id) === undefined),
    )
    const formerHolders = new Map(
      former.map(({ id, attributes }) => [id, (attributes.identity as Reference)?.objectId]),
    )
    const holders = removed.map((id) => rows.holderOf(id) ?? formerHolders.get(id))
    if (holders.includes(undefined)) return undefined
    identityIds = holders as string[]
  }
  const left = [...new Set([...removed, ...identityIds])]
  if ((await accountChanges.amongSince(tenantId, left, nowMs() - ACCOUNT_CHANGE_WINDOW_MS)).length > 0) return undefined
  const gone = identityIds.filter((id) => !rows.has('identity', id))
  const former = await deletedObjects.ofIds(tenantId, gone)
  const formerIds = new Set(former.map(({ id }) => id))
  if (gone.some((id) => !formerIds.has(id))) return undefined
  const accounts = [
    ...identityIds.map((id) => rows.accountOf('identity', id)),
    ...former.map(({ attributes }) => attributes.directoryObjectId as string | undefined),
  ]
  return new Set(accounts.filter((account) => account !== undefined))
}

function accountsBehind(ids: readonly string[], collection: Collection, rows: RowSnapshot) {
  const holder = holderIn(collection)
  const accounts = new Set<string>()
  let withoutAccountCount = 0
  for (const id of ids) {
    const account = rows.accountOf(holder, id)
    if (account === undefined) withoutAccountCount += 1
    else accounts.add(account)
  }
  return { accounts, withoutAccountCount }
}

/** Someone who left and came back, or the other way round, ends where the last change put them. */
export function netChange(changes: readonly MembershipChange[]): MembershipChange {
  const last = new Map<string, 'added' | 'removed'>()
  for (const { added, removed } of changes) {
    for (const id of removed) last.set(id, 'removed')
    for (const id of added) last.set(id, 'added')
  }
  const ending = (how: 'added' | 'removed') => [...last].filter(([, end]) => end === how).map(([id]) => id)
  return { added: ending('added'), removed: ending('removed') }
}
