/** A group with the properties that tell whether it can be linked. */
export type DirectoryGroup = {
  readonly id: string
  readonly displayName: string | null
  readonly groupTypes: readonly string[]
  readonly mailEnabled: boolean
  readonly onPremisesSyncEnabled: boolean | null
  readonly isAssignableToRole: boolean | null
  readonly visibility: string | null
}

/** What became of the accounts that were to be added or removed. Each is in one list, or in none when `fault` is set. */
export type WriteOutcome = {
  readonly written: readonly string[]
  /** Already a member; not a member any more. */
  readonly unchanged: readonly string[]
  /** The directory knows no such account. */
  readonly missing: readonly string[]
  /** Writes that were sent for it, each try of each: what the directory counts. */
  readonly sentCount: number
  /** Why the rest was not written, after a few tries. */
  readonly fault?: DirectoryFault
}

export type DirectoryFaultKind =
  /** Asked to wait longer than a call may take. */
  | 'throttled'
  /** No answer, or one that says nothing. */
  | 'unavailable'
  /** Refused: a permission is missing, or the group does not take such members. */
  | 'refused'
  /** The directory says that the group is not there. */
  | 'groupMissing'

/** The directory did not do as asked, also when asked again. */
export class DirectoryFault extends Error {
  override readonly name = 'DirectoryFault'
  readonly kind: DirectoryFaultKind
  /** Milliseconds that the directory wants to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(kind: DirectoryFaultKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
  }
}

/** One page of a group's direct members. Only the last one has no `continueAfter`. */
export type MemberPage = {
  readonly users: readonly string[]
  /** Nested groups, devices and the like: no link's business, and nobody's account. */
  readonly others: readonly string[]
  readonly continueAfter?: string
}

/** The customer's directory. Ids are in lower case; every call is tried a few times with short waits. */
export interface Directory {
  /** Undefined when there is no such group. @throws DirectoryFault */
  readGroup(tenantId: string, groupId: string): Promise<DirectoryGroup | undefined>
  /** A page may be empty and yet not the last. @throws DirectoryFault */
  listMembers(tenantId: string, groupId: string, continueAfter: string | undefined): Promise<MemberPage>
  /**
   * In the fewest calls. What was written before a fault is told with it.
   * @param untilMs when the right to write ends: nothing is sent after it, which is a fault as well.
   */
  addMembers(tenantId: string, groupId: string, accounts: readonly string[], untilMs: number): Promise<WriteOutcome>
  removeMembers(tenantId: string, groupId: string, accounts: readonly string[], untilMs: number): Promise<WriteOutcome>
}
