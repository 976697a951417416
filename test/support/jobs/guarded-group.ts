import { type Directory, DirectoryFault, type WriteOutcome } from '../../../shared/domain/group-links/directory.ts'
import { WRITE_LIMITS } from '../../../shared/graph/write-members.ts'
import { securityGroup } from '../domain/group-links/security-group.ts'
import { SERVICE_PRINCIPAL } from './link-directory.ts'

/** An account that the service has removed from the group. */
export type Loss = { readonly account: string; readonly atMs: number }

/**
 * What the next removals meet: the directory refuses them, does nothing and gives no response, or removes the accounts
 * and gives no response.
 */
export type RemovalFault = 'refused' | 'ignored' | 'unanswered'

/** A directory with one group in memory. Reads can show an earlier state, as those of the real directory. */
export function guardedGroup(members: readonly string[], nowMs: () => number) {
  const group = new Set(members)
  const losses: Loss[] = []
  const history: { readonly atMs: number; readonly members: readonly string[] }[] = []
  const faults: RemovalFault[] = []
  let staleMs = 0
  let largestSize = group.size

  const changed = (change: () => void): void => {
    history.push({ atMs: nowMs(), members: [...group] })
    change()
    largestSize = Math.max(largestSize, group.size)
  }
  const shown = (): readonly string[] => {
    const sinceMs = nowMs() - staleMs
    staleMs = 0
    return history.find(({ atMs }) => atMs > sinceMs)?.members ?? [...group]
  }
  const remove = (account: string): boolean => {
    if (!group.has(account)) return false
    changed(() => group.delete(account))
    losses.push({ account, atMs: nowMs() })
    return true
  }
  const outcome = (parts: Partial<WriteOutcome>): WriteOutcome => ({
    written: [],
    unchanged: [],
    missing: [],
    refused: [],
    sentCount: 1,
    ...parts,
  })
  const directory: Directory = {
    limits: WRITE_LIMITS,
    readGroup: async (_tenantId, id) => securityGroup(id),
    async readGroupsWithMembers(_tenantId, groupIds) {
      return new Map(groupIds.map((id) => [id, { group: securityGroup(id), members: { users: shown(), others: [] } }]))
    },
    findGroups: async () => [],
    readOwnership: async () => ({ isOwned: true, servicePrincipalId: SERVICE_PRINCIPAL }),
    ownedGroups: async (_tenantId, groupIds) => new Set(groupIds),
    groupsOf: async () => new Set(),
    usersAmong: async (_tenantId, accounts) => new Set(accounts),
    checkChange: async (_tenantId, _groupId, { accounts }) => ({ users: new Set(accounts), refusal: undefined }),
    listMembers: async () => ({ users: shown(), others: [] }),
    async readMemberChanges() {
      throw new DirectoryFault('refused', 'No.')
    },
    async addMembers(_tenantId, _groupId, accounts) {
      const { true: unchanged = [], false: written = [] } = Object.groupBy(accounts, (one) => `${group.has(one)}`)
      changed(() => {
        for (const account of written) group.add(account)
      })
      return outcome({ written, unchanged })
    },
    async removeMembers(_tenantId, _groupId, accounts) {
      const written: string[] = []
      const unchanged: string[] = []
      const half = Math.ceil(accounts.length / 2)
      const fault = faults.shift()
      const reached = fault === undefined ? accounts : accounts.slice(0, half)
      for (const account of reached) (remove(account) ? written : unchanged).push(account)
      if (fault === undefined) return outcome({ written, unchanged })
      const rest = accounts.slice(half)
      if (fault === 'refused') {
        return outcome({ written, unchanged, refused: rest, accountFault: new DirectoryFault('refused', 'No.') })
      }
      if (fault === 'unanswered') for (const account of rest) remove(account)
      return outcome({ written, unchanged, fault: new DirectoryFault('unavailable', 'No response.') })
    },
  }
  return {
    directory,
    group,
    losses,
    /** The size of the largest group so far. */
    largestSize: () => largestSize,
    failNext: (fault: RemovalFault) => void faults.push(fault),
    endFaults: () => void faults.splice(0),
    /** The next read shows the group as it was then. */
    delayNextRead(ageMs: number): void {
      staleMs = ageMs
    },
    addByHand: (accounts: readonly string[]) =>
      changed(() => {
        for (const account of accounts) group.add(account)
      }),
  }
}
