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
    const { accountsChangedAtMs } = link
    const accounts = await desiredAccounts(link, { collections: this.#collections })
    this.#read = { accounts, accountsChangedAtMs }
    return accounts
  }

  /**
   * A step of removals with the accounts that the collection still does not have.
   * @returns Undefined when a member has no account by now: no one may be removed.
   * @throws as `desiredAccounts`.
   */
  async stillDue(step: SyncStep, link: GroupLink): Promise<SyncStep | undefined> {
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
