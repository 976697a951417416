import type { AcceptedMembers } from '../group-links/collection-accounts.ts'

/** For a link that accepts no members without an account. */
export const NO_ACCEPTED: AcceptedMembers = new Map()

/** How many of these accounts, which the directory does not know or refuses, belong to members that are not accepted. */
export function countUnaccepted(unresolved: Iterable<string>, accepted: AcceptedMembers = NO_ACCEPTED): number {
  const acceptedAccounts = new Set(accepted.values())
  let count = 0
  for (const account of unresolved) if (!acceptedAccounts.has(account)) count += 1
  return count
}

/**
 * The identities that a link goes on to accept without an account after a sync. Those that are left still need it: they
 * are members, and have no account that the directory adds.
 * @param considered The identities that `accepted` was read for. Others were accepted since, and stay.
 */
export function stillAccepted(
  acceptedIds: readonly string[],
  {
    considered,
    accepted,
    unresolved,
  }: {
    readonly considered: readonly string[]
    readonly accepted: AcceptedMembers
    readonly unresolved: readonly string[]
  },
): readonly string[] {
  const unknown = new Set(unresolved)
  const needsIt = (id: string): boolean => {
    const account = accepted.get(id)
    return account === null || (account !== undefined && unknown.has(account))
  }
  return acceptedIds.filter((id) => !considered.includes(id) || needsIt(id))
}
