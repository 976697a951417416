import type { CollectionAccounts } from '../group-links/collection-accounts.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { SyncStep } from './plan-sync.ts'
import { desiredAccounts } from './run-requirements.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

/** Accounts as read, and what shows that others are due by now. */
type ReadAccounts = {
  readonly accounts: CollectionAccounts
  /** Of the link, before the read. */
  readonly accountsChangedAtMs: number | null
  /** Of the link: who is accepted without an account. */
  readonly acceptedIds: string
}

/**
 * The accounts of a session's collection. A plan can take minutes to write. A person who is a member again meanwhile
 * must not be removed by it, so the accounts are read again when the collection has changed before a removal.
 */
export class SessionAccounts {
  readonly #collections: SyncDependencies['collections']
  #read: ReadAccounts | undefined

  constructor({ collections }: Pick<SyncDependencies, 'collections'>) {
    this.#collections = collections
  }

  /** @throws as `desiredAccounts`. */
  async read(link: GroupLink): Promise<CollectionAccounts> {
    const { accountsChangedAtMs, acceptedWithoutAccount } = link
    const accounts = await desiredAccounts(link, { collections: this.#collections })
    this.#read = { accounts, accountsChangedAtMs, acceptedIds: acceptedWithoutAccount.join() }
    return accounts
  }

  /**
   * A step of removals with the accounts that the collection still does not have.
   * @returns Undefined when no one may be removed: a member has no account by now, or the link accepts others without
   *   one, so that the plan is outdated.
   * @throws as `desiredAccounts`.
   */
  async stillDue(step: SyncStep, link: GroupLink): Promise<SyncStep | undefined> {
    if (this.#read?.acceptedIds !== link.acceptedWithoutAccount.join()) return undefined
    const { accounts, withoutAccountCount } = (await this.#current(link)) ?? (await this.read(link))
    if (withoutAccountCount > 0) return undefined
    return step.accounts.some((account) => accounts.has(account))
      ? { ...step, accounts: step.accounts.filter((account) => !accounts.has(account)) }
      : step
  }

  /**
   * What was read last; undefined when the collection, its condition included, or the accounts of its members have
   * changed since.
   */
  async #current({ tenantId, collectionId, accountsChangedAtMs }: GroupLink): Promise<CollectionAccounts | undefined> {
    const version = await this.#collections.currentVersion(tenantId, collectionId)
    const { accounts, accountsChangedAtMs: readAfterMs } = this.#read ?? {}
    const isCurrent = version === accounts?.membershipVersion && accountsChangedAtMs === readAfterMs
    return isCurrent ? accounts : undefined
  }
}
