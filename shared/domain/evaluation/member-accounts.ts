import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import type { AccountsOfChange, MembershipChange } from '../collections/membership-store.ts'
import type { Reference } from '../core/core-object.ts'
import { ACCOUNT_CHANGE_DELAY_MS, type AccountChangeStore, type DeletedCoreObjects } from '../core/core-object-store.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'

/** What determines the accounts of members. */
export type AccountDependencies = {
  readonly accountChanges: AccountChangeStore
  readonly deletedObjects: DeletedCoreObjects
  readonly snapshots: Pick<TenantSnapshots, 'reading'>
}

/** The members of a collection, and the rows that have their accounts. */
type MembersInRows = {
  readonly collection: Pick<Collection, 'tenantId' | 'kind' | 'objectType'>
  readonly ids: readonly string[]
  readonly rows: RowSnapshot
}

/** A collection that members have left, and the rows by now. */
type LeftInRows = Omit<MembersInRows, 'ids'> & {
  /** Groups have followed the account changes that could be read before. */
  readonly followedUntilMs: number
}

/** The accounts of members, each once, and the members without one. Vacant positions count as no person. */
type MemberAccounts = {
  readonly accounts: ReadonlySet<string>
  /** Without those that are accepted. */
  readonly withoutAccountCount: number
  /** The identities of the first of them; null for a position that no identity holds. */
  readonly withoutAccountIds: readonly (string | null)[]
  /** The accounts of the accepted members; null without one. */
  readonly accepted: ReadonlyMap<string, string | null>
}

/** Identities without an account that are named. */
const NAMED_COUNT = 20

/**
 * The accounts of these members.
 * @param acceptedIds Identities that are accepted without an account.
 * @throws Error when objects of the collection's type have no accounts.
 */
export function accountsOf(
  members: MembersInRows,
  { snapshots }: Pick<AccountDependencies, 'snapshots'>,
  acceptedIds: ReadonlySet<string> = new Set(),
): Promise<MemberAccounts> {
  return snapshots.reading(members.rows, accountsTask(members, acceptedIds))
}

function* accountsTask(
  { collection, ids, rows }: MembersInRows,
  acceptedIds: ReadonlySet<string>,
): Task<MemberAccounts> {
  const holder = holderIn(collection)
  const accounts = new Set<string>()
  const accepted = new Map<string, string | null>()
  const withoutAccountIds: (string | null)[] = []
  let withoutAccountCount = 0
  const identityOf = (id: string): string | null => (holder === 'identity' ? id : (rows.holderOf(id) ?? null))
  const isVacant = (id: string): boolean => holder === 'relationship' && rows.isVacant(id)
  for (const [index, id] of ids.entries()) {
    if (index % IDS_PER_STEP_COUNT === 0) yield
    const account = rows.accountOf(holder, id)
    if (account !== undefined) accounts.add(account)
    if (account !== undefined && acceptedIds.size === 0) continue
    const identityId = identityOf(id)
    if (identityId !== null && acceptedIds.has(identityId)) accepted.set(identityId, account ?? null)
    else if (account === undefined && !isVacant(id)) {
      withoutAccountCount += 1
      if (withoutAccountIds.length < NAMED_COUNT) withoutAccountIds.push(identityId)
    }
  }
  return { accounts, withoutAccountCount, withoutAccountIds, accepted }
}

/** Takes a millisecond. */
const IDS_PER_STEP_COUNT = 2_000

/** Of a larger change, no accounts are stored: those who follow it determine them from the rows. */
const MAX_CHANGED_IDS_COUNT = 100

/**
 * The accounts that a change gives to a collection and takes from it.
 * @param members after the change.
 * @param readAtMs when the rows included everything that had been written.
 * @returns Undefined for a large change, and when a former member's account cannot be determined.
 */
export async function accountsOfChange(
  { added, removed }: MembershipChange,
  members: MembersInRows & LeftInRows,
  readAtMs: number,
  deps: AccountDependencies,
): Promise<AccountsOfChange | undefined> {
  if (added.length + removed.length > MAX_CHANGED_IDS_COUNT) return undefined
  const lost = await accountsLost(removed, members, deps)
  if (lost === undefined) return undefined
  const { accounts, withoutAccountCount, withoutAccountIds } = await accountsOf(members, deps)
  const gained = await accountsOf({ ...members, ids: added }, deps)
  return {
    added: [...gained.accounts],
    removed: [...lost.difference(accounts)],
    withoutAccountCount,
    withoutAccountIds,
    accountCount: accounts.size,
    readAtMs,
  }
}

/** Object types that can have directory accounts. */
type AccountHolder = 'identity' | 'relationship'

function holderIn({ kind, objectType }: MembersInRows['collection']): AccountHolder {
  if (objectType !== 'Identity' && objectType !== 'Relationship') {
    throw new Error(`Collections of ${objectType} objects have no directory accounts.`)
  }
  return kind === 'joinable' || objectType === 'Identity' ? 'identity' : 'relationship'
}

/**
 * The accounts of former members, deleted objects included. Undefined when a former member's account cannot be
 * determined; a full comparison is needed then. A member whose account changed since groups have followed such changes
 * may have left another account in the group.
 */
export async function accountsLost(
  removed: readonly string[],
  { collection, rows, followedUntilMs }: LeftInRows,
  deps: AccountDependencies,
): Promise<ReadonlySet<string> | undefined> {
  const { deletedObjects } = deps
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
  if (await haveOtherAccounts([...removed, ...identityIds], { tenantId, followedUntilMs }, deps)) return undefined
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

/** Whether members who left and came back may have left another account in the group. */
export function returnedWithOtherAccounts(
  changes: readonly MembershipChange[],
  { collection, rows, followedUntilMs }: LeftInRows,
  deps: Pick<AccountDependencies, 'accountChanges'>,
): Promise<boolean> {
  const left = new Set(changes.flatMap(({ removed }) => removed))
  const returned = netChange(changes).added.filter((id) => left.has(id))
  const holders = holderIn(collection) === 'identity' ? [] : returned.flatMap((id) => rows.holderOf(id) ?? [])
  const { tenantId } = collection
  return haveOtherAccounts([...returned, ...holders], { tenantId, followedUntilMs }, deps)
}

/** Whether the account of one of these objects may have changed since groups have followed such changes. */
async function haveOtherAccounts(
  ids: readonly string[],
  { tenantId, followedUntilMs }: Pick<Collection, 'tenantId'> & Pick<LeftInRows, 'followedUntilMs'>,
  { accountChanges }: Pick<AccountDependencies, 'accountChanges'>,
): Promise<boolean> {
  const sinceMs = followedUntilMs - ACCOUNT_CHANGE_DELAY_MS
  return (await accountChanges.amongSince(tenantId, [...new Set(ids)], sinceMs)).length > 0
}

/** The net effect of several changes of members, or of their accounts. For each only the last change counts. */
export function netChange(changes: readonly MembershipChange[]): MembershipChange {
  const last = new Map<string, 'added' | 'removed'>()
  for (const { added, removed } of changes) {
    for (const id of removed) last.set(id, 'removed')
    for (const id of added) last.set(id, 'added')
  }
  const ending = (how: 'added' | 'removed') => [...last].filter(([, end]) => end === how).map(([id]) => id)
  return { added: ending('added'), removed: ending('removed') }
}
