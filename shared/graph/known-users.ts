import type { GraphCall } from './graph-calls.ts'

/** Ids of one call. https://learn.microsoft.com/graph/api/directoryobject-getbyids */
export const USERS_PER_CALL_COUNT = 1_000

/** The call that finds the users among objects: at most `USERS_PER_CALL_COUNT`. */
export function usersCall(ids: readonly string[]): GraphCall {
  return { method: 'POST', path: '/directoryObjects/getByIds?$select=id', body: { ids, types: ['user'] } }
}

/** Users that a process remembers. Beyond it, all are forgotten. */
const REMEMBERED_COUNT = 50_000

/**
 * Accounts that this process has found to be users. Nothing invalidates an entry: an object never changes its type, and
 * its id is never given to another object. The directory refuses to add a user that was deleted since.
 */
export class KnownUsers {
  readonly #byTenant = new Map<string, Set<string>>()
  #count = 0

  /** The accounts that are not known to be users: they may be. */
  unknownAmong(tenantId: string, accounts: readonly string[]): string[] {
    const known = this.#byTenant.get(tenantId)
    return accounts.filter((account) => known?.has(account) !== true)
  }

  remember(tenantId: string, accounts: readonly string[]): void {
    this.#count += accounts.length
    if (this.#count > REMEMBERED_COUNT) {
      this.#byTenant.clear()
      this.#count = accounts.length
    }
    const known = this.#byTenant.get(tenantId) ?? new Set()
    for (const account of accounts) known.add(account)
    this.#byTenant.set(tenantId, known)
  }
}
