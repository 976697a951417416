import type { RefusalCode } from '../../kernel/refusal-register.ts'

/** A directory group with the properties that decide whether it can be linked. */
export type DirectoryGroup = {
  readonly id: string
  readonly displayName: string | null
  readonly groupTypes: readonly string[]
  readonly mailEnabled: boolean
  readonly onPremisesSyncEnabled: boolean | null
  readonly isAssignableToRole: boolean | null
  readonly visibility: string | null
  readonly isManagementRestricted: boolean | null
}

/** Outcome of adding or removing accounts. Each account is in one list, or in none when a fault is set. */
export type WriteOutcome = {
  readonly written: readonly string[]
  /** Already a member when adding; not a member when removing. */
  readonly unchanged: readonly string[]
  /** The directory has no such account, or refuses it as a member of this group. */
  readonly missing: readonly string[]
  /** Why the first of those was refused that the directory has. */
  readonly refusal?: string
  /** Removals that certainly had no effect: the directory refused them, or they were not sent. Set with a fault. */
  readonly refused: readonly string[]
  /** Write requests sent, retries included: what the directory counts against its limits. */
  readonly sentCount: number
  /** Why the remaining accounts were not written, after retries. */
  readonly fault?: DirectoryFault
  /** Why single accounts were not written, after retries. It concerns these alone: others can be written. */
  readonly accountFault?: DirectoryFault
}

export type DirectoryFaultKind =
  /** The directory requires a longer wait than a call may take. */
  | 'throttled'
  /** No response, or an invalid one. */
  | 'unavailable'
  /** A permission is missing, or the group does not accept such members. */
  | 'refused'
  /** The group does not exist. */
  | 'groupMissing'

/** A call to the directory that failed after retries. The message can become a sync job's `error`. */
export class DirectoryFault extends Error {
  override readonly name = 'DirectoryFault'
  readonly kind: DirectoryFaultKind
  /** Milliseconds after which the directory accepts calls again, when it has said so. */
  readonly retryAfterMs: number | undefined

  constructor(kind: DirectoryFaultKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Groups of one query for changes. https://learn.microsoft.com/graph/api/group-delta */
export const TRACKED_TOGETHER_COUNT = 50

/** One page of a group's direct members. Only the last page has no `continueAfter`. */
export type MemberPage = {
  readonly users: readonly string[]
  /** Nested groups, devices and service principals. The service never changes them. */
  readonly others: readonly string[]
  readonly continueAfter?: string
}

/** The largest page of members. https://learn.microsoft.com/graph/api/group-list-members */
export const MEMBERS_PER_PAGE_COUNT = 999

/** A group with the first page of its direct members. */
export type GroupWithMembers = { readonly group: DirectoryGroup; readonly members: MemberPage }

/** Where a query for changed members begins: at the groups to track, or behind the page before. */
type MemberChangesStart = { readonly groupIds: readonly string[] } | { readonly continueAfter: string }

/** A member that was added to a group or removed from it. */
export type GroupMemberChange = { readonly id: string; readonly isUser: boolean; readonly isMember: boolean }

/** A changed group. Its members are undefined when the directory does not report them, as for a deleted group. */
export type GroupChange = { readonly groupId: string; readonly members: readonly GroupMemberChange[] | undefined }

/** A page of the groups whose members may have changed. */
export type MemberChangesPage = {
  /** Changes can be repeated, and a group can occur several times. */
  readonly changes: readonly GroupChange[]
  /** Where the next page begins or, after the last page, the next query for changes. */
  readonly continueAfter: string
  readonly isLast: boolean
}

export type GroupOwnership = {
  readonly isOwned: boolean
  /** Object id of the service's own service principal in the tenant. */
  readonly servicePrincipalId: string
}

export type ChangeToCheck = {
  /** Accounts to be added or removed, at most 1,000. */
  readonly accounts: readonly string[]
  /** Whether the service has to own the group. */
  readonly requiresOwnership: boolean
}

type ChangeCheck = {
  /** The accounts that are known to be users. */
  readonly users: ReadonlySet<string>
  /** Why nothing may be written to the group. Undefined also when the check needed no request. */
  readonly refusal: RefusalCode | undefined
}

/** How the directory batches writes of one kind. */
type WriteLimits = {
  /** Accounts that one call of the port handles in a single request to the directory. */
  readonly accountsPerStep: number
  /** Accounts for which the directory counts one write. */
  readonly accountsPerWrite: number
}

/** Groups and accounts of the customer's directory. Ids are in lower case. Every call is retried after short waits. */
export interface DirectoryGroups {
  /** Undefined when the group does not exist. @throws DirectoryFault */
  readGroup(tenantId: string, groupId: string): Promise<DirectoryGroup | undefined>
  /**
   * Up to `limit` groups whose display name starts with a text, in any order. Case does not matter.
   * @throws DirectoryFault
   */
  findGroups(tenantId: string, nameStart: string, limit: number): Promise<DirectoryGroup[]>
  /**
   * Whether the service's own service principal is an owner of the group.
   * @throws DirectoryFault
   */
  readOwnership(tenantId: string, groupId: string): Promise<GroupOwnership>
  /**
   * The groups among these that the service's own service principal owns. A group that does not exist is not owned.
   * @throws DirectoryFault
   */
  ownedGroups(tenantId: string, groupIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * The accounts among these that are known to be users. One request finds up to 1,000; what it finds is remembered.
   * @throws DirectoryFault
   */
  usersAmong(tenantId: string, accounts: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * The groups among these that an account is a direct member of, as the directory reports them now. It can lag behind
   * its writes.
   * @returns Undefined when the directory knows no such user.
   * @throws DirectoryFault
   */
  groupsOf(tenantId: string, account: string, groupIds: readonly string[]): Promise<ReadonlySet<string> | undefined>
  /**
   * What has to hold before changes of a group's members are written, read in one request.
   * @throws DirectoryFault
   */
  checkChange(tenantId: string, groupId: string, change: ChangeToCheck): Promise<ChangeCheck>
}

/** The members of groups of the customer's directory. */
export interface DirectoryMembers {
  readonly limits: { readonly add: WriteLimits; readonly remove: WriteLimits }
  /** A page that is not the last may be empty. @throws DirectoryFault */
  listMembers(tenantId: string, groupId: string, continueAfter: string | undefined): Promise<MemberPage>
  /** Several groups by their ids. Those that do not exist are left out. @throws DirectoryFault */
  readGroupsWithMembers(tenantId: string, groupIds: readonly string[]): Promise<ReadonlyMap<string, GroupWithMembers>>
  /**
   * The changes of the members of groups, in pages. The pages of a query that begins with groups, at most
   * `TRACKED_TOGETHER_COUNT`, report no changes; its last page is where the changes begin. No change is lost: one that a
   * query does not see yet is in a later one.
   * @returns Undefined when the directory does not keep the changes since then any more.
   * @throws DirectoryFault
   */
  readMemberChanges(tenantId: string, from: MemberChangesStart): Promise<MemberChangesPage | undefined>
  /**
   * Adds accounts in the fewest calls. A fault is part of the outcome, beside what was written before it.
   * @param deadlineMs nothing is sent from then on; what is left ends with a fault.
   * @param refusedBefore accounts that an earlier call for the group could not add.
   */
  addMembers(
    tenantId: string,
    groupId: string,
    accounts: readonly string[],
    deadlineMs: number,
    refusedBefore?: readonly string[],
  ): Promise<WriteOutcome>
  /** Removes accounts, as `addMembers` adds them. */
  removeMembers(
    tenantId: string,
    groupId: string,
    accounts: readonly string[],
    deadlineMs: number,
  ): Promise<WriteOutcome>
}

/** The customer's directory. */
export type Directory = DirectoryGroups & DirectoryMembers

/** The first reason why a group cannot be linked; undefined when it can be. */
export function groupRefusal(group: DirectoryGroup | undefined): RefusalCode | undefined {
  if (group === undefined) return 'GroupNotFound'
  if (group.groupTypes.includes('DynamicMembership')) return 'GroupMembershipIsDynamic'
  if (group.mailEnabled && !group.groupTypes.includes('Unified')) return 'GroupIsMailEnabled'
  if (group.onPremisesSyncEnabled === true) return 'GroupIsSyncedFromOnPremises'
  if (group.isAssignableToRole === true) return 'GroupIsRoleAssignable'
  if (group.visibility === 'HiddenMembership') return 'GroupHasHiddenMembership'
  if (group.isManagementRestricted === true) return 'GroupManagementIsRestricted'
  return undefined
}

/** The message of `GroupNotOwned`. */
export function notOwnedMessage(groupId: string, { servicePrincipalId }: GroupOwnership): string {
  return `The service principal ${servicePrincipalId} is not an owner of the directory group ${groupId}.`
}

/** A group's direct members: users, and members of other types. */
export type GroupMembers = { readonly users: ReadonlySet<string>; readonly others: ReadonlySet<string> }

/**
 * All direct members of a group, read to the last page. A partial list is never returned.
 * @param beforePage called before every page; what it throws ends the read.
 * @throws DirectoryFault
 */
export async function readAllMembers(
  tenantId: string,
  groupId: string,
  directory: Pick<Directory, 'readGroup' | 'listMembers'>,
  beforePage: () => Promise<unknown> = async () => undefined,
): Promise<GroupMembers> {
  const users = new Set<string>()
  const others = new Set<string>()
  const seen = new Set<string | undefined>()
  let continueAfter: string | undefined
  do {
    await beforePage()
    if (seen.has(continueAfter)) throw new DirectoryFault('unavailable', 'The directory returned the same page twice.')
    seen.add(continueAfter)
    const page = await directory.listMembers(tenantId, groupId, continueAfter)
    for (const user of page.users) users.add(user)
    for (const other of page.others) others.add(other)
    continueAfter = page.continueAfter
  } while (continueAfter !== undefined)
  return { users, others }
}
