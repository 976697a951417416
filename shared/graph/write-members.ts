import { type Directory, DirectoryFault, type WriteOutcome } from '../domain/group-links/directory.ts'
import { chunk } from '../kernel/chunk.ts'
import { type GraphCall, type GraphReply, replyFault, replyKind, replyMessage } from './graph-calls.ts'
import { addCall, addOneCall, removeCall } from './member-calls.ts'
import { mayConcernAccount, type RefusedAccount, settleRefusals, settleRemovals } from './refused-accounts.ts'
import { CALLS_PER_BATCH_COUNT, type CallResult, type RetryingCalls } from './retrying-calls.ts'

/** Graph refuses more members in one PATCH. https://learn.microsoft.com/graph/api/group-post-members */
const MEMBERS_PER_PATCH_COUNT = 20

/** PATCHes of one group in one batch. Graph runs them concurrently, and more of them conflict with each other. */
const PATCHES_PER_BATCH_COUNT = 5

/** Graph counts a PATCH of any number of members as one write, and each removal as one. */
export const WRITE_LIMITS: Directory['limits'] = {
  add: {
    accountsPerStep: MEMBERS_PER_PATCH_COUNT * PATCHES_PER_BATCH_COUNT,
    accountsPerWrite: MEMBERS_PER_PATCH_COUNT,
  },
  remove: { accountsPerStep: CALLS_PER_BATCH_COUNT, accountsPerWrite: 1 },
}

/**
 * Unknown accounts that are dropped from one PATCH. Each refusal names one of them. After these, the remaining accounts
 * are added one by one.
 */
const DROPPED_PER_PATCH_COUNT = 2

export type MemberWrites = {
  readonly graphUrl: string
  readonly tenantId: string
  readonly groupId: string
  /** Nothing is sent from then on, because another worker may write to the group. */
  readonly deadlineMs: number
  readonly calls: RetryingCalls
  nowMs(): number
}

/** Accounts of one PATCH. */
type Patch = {
  readonly accounts: readonly string[]
  readonly droppedCount: number
  /** An earlier call for these accounts may have taken effect. */
  readonly mayHaveSucceededBefore: boolean
}

type Tally = {
  written: string[]
  unchanged: string[]
  missing: string[]
  refused: string[]
  sentCount: number
  refusal?: string
  fault?: DirectoryFault
  accountFault?: DirectoryFault
  open: RefusedAccount[]
}

const emptyTally = (): Tally => ({ written: [], unchanged: [], missing: [], refused: [], sentCount: 0, open: [] })

/**
 * Adds accounts in PATCHes of twenty. After a PATCH that is refused or fails, finds the outcome of each of its accounts.
 * @param refusedBefore Accounts that an earlier call could not add.
 */
export async function addMembers(
  writes: MemberWrites,
  accounts: readonly string[],
  refusedBefore: readonly string[] = [],
): Promise<WriteOutcome> {
  const tally = emptyTally()
  const before = new Set(refusedBefore)
  let patches = chunk([...new Set(accounts)], MEMBERS_PER_PATCH_COUNT).map(
    (accounts): Patch => ({ accounts: accounts, droppedCount: 0, mayHaveSucceededBefore: false }),
  )
  while (patches.length > 0 && tally.fault === undefined) {
    const batch = patches.slice(0, PATCHES_PER_BATCH_COUNT)
    const results = await sendAll(
      writes,
      batch.map((patch) => addCall(writes.graphUrl, writes.groupId, patch.accounts)),
      tally,
    )
    const again: Patch[] = []
    const oneByOne: Patch[] = []
    for (const [index, patch] of batch.entries()) {
      const result = results[index]
      if (result !== undefined) tallyPatch(writes, patch, result, tally, { again, oneByOne })
    }
    for (const patch of oneByOne) {
      if (tally.fault !== undefined) break
      await addOneByOne(writes, patch, tally)
      // A missing permission or an outage ends the write here, before each account of the other PATCHes fails as well.
      settleRefusals(tally, before)
    }
    settleRefusals(tally, before)
    patches = [...again, ...patches.slice(PATCHES_PER_BATCH_COUNT)]
  }
  const { open: _settled, ...outcome } = tally
  return outcome
}

function tallyPatch(
  { groupId }: MemberWrites,
  patch: Patch,
  { reply, mayHaveSucceededBefore }: CallResult,
  tally: Tally,
  next: { again: Patch[]; oneByOne: Patch[] },
): void {
  const before = patch.mayHaveSucceededBefore || mayHaveSucceededBefore
  const kind = replyKind(reply)
  if (kind === 'done') tally.written.push(...patch.accounts)
  else if (kind === 'throttled') tally.fault ??= replyFault(reply)
  else if (patch.accounts.length === 1) tallyOne(groupId, patch.accounts[0] ?? '', reply, before, tally)
  // The directory may fail for one of the accounts, at each attempt.
  else if (kind === 'unclear') next.oneByOne.push({ ...patch, mayHaveSucceededBefore: before })
  else {
    const message = replyMessage(reply).toLowerCase()
    const unknown = reply.status === 404 ? patch.accounts.find((account) => message.includes(account)) : undefined
    if (unknown === undefined && reply.status === 404) tally.fault ??= replyFault(reply)
    else if (unknown === undefined || patch.droppedCount === DROPPED_PER_PATCH_COUNT) {
      next.oneByOne.push({ ...patch, mayHaveSucceededBefore: before })
    } else {
      tally.missing.push(unknown)
      const rest = patch.accounts.filter((account) => account !== unknown)
      next.again.push({ accounts: rest, droppedCount: patch.droppedCount + 1, mayHaveSucceededBefore: before })
    }
  }
}

async function addOneByOne(writes: MemberWrites, patch: Patch, tally: Tally): Promise<void> {
  const { graphUrl, groupId } = writes
  const results = await sendAll(
    writes,
    patch.accounts.map((account) => addOneCall(graphUrl, groupId, account)),
    tally,
  )
  for (const [index, account] of patch.accounts.entries()) {
    const result = results[index]
    if (result === undefined) continue
    const before = patch.mayHaveSucceededBefore || result.mayHaveSucceededBefore
    tallyOne(groupId, account, result.reply, before, tally)
  }
}

/** Records the outcome of adding one account. A member counts as written if an earlier attempt may have added it. */
function tallyOne(
  groupId: string,
  account: string,
  reply: GraphReply,
  mayHaveSucceededBefore: boolean,
  tally: Tally,
): void {
  const message = replyMessage(reply).toLowerCase()
  const isDenied = replyKind(reply) === 'denied'
  if (replyKind(reply) === 'done') tally.written.push(account)
  else if (isDenied && reply.status === 400 && message.includes('already exist')) {
    const list = mayHaveSucceededBefore ? tally.written : tally.unchanged
    list.push(account)
  } else if (isDenied && reply.status === 404 && message.includes(account) && account !== groupId) {
    tally.missing.push(account)
  } else if (isDenied && reply.status === 400 && message.includes('do not exist')) {
    // A new group is not replicated to all of the directory's servers at once.
    tally.fault ??= new DirectoryFault('unavailable', `The directory returned HTTP 400: ${replyMessage(reply)}`)
  } else if (mayConcernAccount(reply)) tally.open.push({ account, reply })
  else tally.fault ??= replyFault(reply)
}

/** Removes accounts, twenty to a call. An account that is not a member counts as done, in each wording of Graph. */
export async function removeMembers(writes: MemberWrites, accounts: readonly string[]): Promise<WriteOutcome> {
  const tally = emptyTally()
  for (const ids of chunk([...new Set(accounts)], CALLS_PER_BATCH_COUNT)) {
    if (tally.fault !== undefined) {
      tally.refused.push(...ids)
      continue
    }
    const results = await sendAll(
      writes,
      ids.map((account) => removeCall(writes.groupId, account)),
      tally,
    )
    for (const [index, account] of ids.entries()) tallyRemoval(account, results[index], tally)
    settleRemovals(tally)
  }
  const { open: _settled, ...outcome } = tally
  return outcome
}

/** @param result undefined when nothing was sent. */
function tallyRemoval(account: string, result: CallResult | undefined, tally: Tally): void {
  if (result === undefined || result.attemptCount === 0) {
    tally.refused.push(account)
    if (result !== undefined) tally.fault ??= replyFault(result.reply)
    return
  }
  const { reply, mayHaveSucceededBefore } = result
  const message = replyMessage(reply).toLowerCase()
  const isNoMember = reply.status === 404 || (reply.status === 400 && message.includes('do not exist'))
  const kind = replyKind(reply)
  if (kind === 'done') tally.written.push(account)
  else if (isNoMember && reply.isJson) (mayHaveSucceededBefore ? tally.written : tally.unchanged).push(account)
  else {
    tally.open.push({ account, reply })
    if (kind === 'denied' && !mayHaveSucceededBefore) tally.refused.push(account)
  }
}

/** A missing token and the deadline end the write with a fault. The tally keeps what was written before. */
async function sendAll(
  { calls, tenantId, deadlineMs, nowMs }: MemberWrites,
  all: readonly GraphCall[],
  tally: Tally,
): Promise<CallResult[]> {
  try {
    if (nowMs() >= deadlineMs) throw new DirectoryFault('unavailable', 'The directory did not respond in time.')
    const results = await calls.sendAll(tenantId, all, deadlineMs)
    for (const { attemptCount, fault } of results) {
      tally.sentCount += attemptCount
      if (fault !== undefined) tally.fault ??= fault
    }
    return results
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    tally.fault = error
    return []
  }
}
