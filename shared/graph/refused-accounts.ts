import type { DirectoryFault } from '../domain/group-links/directory.ts'
import { type GraphReply, replyFault, replyKind, replyMessage } from './graph-calls.ts'

/**
 * How Graph refuses a guest in a Microsoft 365 group that takes no guests. The sync of groups that Microsoft publishes
 * recognizes the refusal by this text. https://github.com/MicrosoftDocs/microsoft-365-docs/issues/11991,
 * https://github.com/microsoftgraph/group-membership-management/issues/36
 */
const NO_GUESTS = 'guests users are not allowed to join'

/** How Graph refuses an application without the permission. https://learn.microsoft.com/graph/resolve-auth-errors */
const NO_PERMISSION = 'insufficient privileges'

/** A reply with which Graph refused to write one account alone. */
export type RefusedAccount = { readonly account: string; readonly reply: GraphReply }

/** Whether a reply to the addition of one account can concern this account, and not the group or the application. */
export function mayConcernAccount(reply: GraphReply): boolean {
  const kind = replyKind(reply)
  return kind === 'unclear' || (kind === 'denied' && (reply.status === 400 || reply.status === 403))
}

/**
 * Whether the directory refuses this account as a member, and not each addition to the group. The status is the same for
 * both. It is the account when Graph says so, when the group accepts others in the same call, or when it was the account
 * before and no permission is missing now. Otherwise a missing permission would look like a list of accounts.
 */
function isRefusedAccount(
  { account, reply }: RefusedAccount,
  { acceptsOthers, refusedBefore }: { readonly acceptsOthers: boolean; readonly refusedBefore: ReadonlySet<string> },
): boolean {
  const message = replyMessage(reply).toLowerCase()
  if (acceptsOthers || (reply.status === 403 && message.includes(NO_GUESTS))) return true
  return refusedBefore.has(account) && !message.includes(NO_PERMISSION)
}

type Refusals = {
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  missing: string[]
  refusal?: string
  fault?: DirectoryFault
  accountFault?: DirectoryFault
  /** Replies that are not counted yet. */
  open: RefusedAccount[]
}

/**
 * Counts the open replies of additions: the refused accounts as missing, and any other reply as a fault. One without a
 * clear reply is the fault of single accounts when the group accepts others.
 */
export function settleRefusals(tally: Refusals, refusedBefore: ReadonlySet<string>): void {
  const acceptsOthers = tally.written.length + tally.unchanged.length > 0
  for (const refused of tally.open) {
    const isUnclear = replyKind(refused.reply) === 'unclear'
    if (isUnclear && acceptsOthers) tally.accountFault ??= replyFault(refused.reply)
    else if (!isUnclear && isRefusedAccount(refused, { acceptsOthers, refusedBefore })) {
      tally.missing.push(refused.account)
      tally.refusal ??= replyFault(refused.reply).message
    } else tally.fault ??= replyFault(refused.reply)
  }
  tally.open = []
}

/** Counts the open replies of removals: as the fault of single accounts, or as that of the write. */
export function settleRemovals(tally: Omit<Refusals, 'missing'>): void {
  const acceptsOthers = tally.written.length + tally.unchanged.length > 0
  for (const { reply } of tally.open) {
    const fault = replyFault(reply)
    if (isFaultOfAccount(reply, acceptsOthers)) tally.accountFault ??= fault
    else tally.fault ??= fault
  }
  tally.open = []
}

/** Without this distinction, a group would get a call for each account while a permission is missing. */
function isFaultOfAccount(reply: GraphReply, acceptsOthers: boolean): boolean {
  const kind = replyKind(reply)
  if (kind === 'throttled') return false
  return acceptsOthers || (kind === 'denied' && !replyMessage(reply).toLowerCase().includes(NO_PERMISSION))
}
