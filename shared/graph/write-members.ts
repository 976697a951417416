import { DirectoryFault, type WriteOutcome } from '../domain/group-links/directory.ts'
import { chunk } from '../kernel/chunk.ts'
import type { GraphCall } from './graph-calls.ts'
import { replyFault, replyKind, replyMessage } from './graph-reply.ts'
import { addCall, addOneCall, MEMBERS_PER_PATCH_COUNT, removeCall } from './member-calls.ts'
import { CALLS_PER_BATCH_COUNT, type RetryingCalls, type SettledReply } from './retrying-calls.ts'

/** PATCHes of one group in one batch: they run side by side, and more of them collide. Found in production by others. */
const PATCHES_PER_BATCH_COUNT = 5

/** Unknown accounts that are taken out of a PATCH one by one, as each answer names one; then each gets its own call. */
const DROPPED_PER_CHUNK_COUNT = 2

export type MemberWrites = {
  readonly graphUrl: string
  readonly tenantId: string
  readonly groupId: string
  /** Nothing is sent after it: somebody else may be writing to the group by then. */
  readonly untilMs: number
  readonly calls: RetryingCalls
  nowMs(): number
}

/** Accounts of one PATCH. */
type Chunk = {
  readonly accounts: readonly string[]
  readonly droppedCount: number
  /** An earlier call for these accounts may have been carried out. */
  readonly mayBeDoneBefore: boolean
}

type Tally = {
  written: string[]
  unchanged: string[]
  missing: string[]
  sentCount: number
  fault?: DirectoryFault
}

const nothingYet = (): Tally => ({ written: [], unchanged: [], missing: [], sentCount: 0 })

/** Adds accounts by PATCHes of twenty; where one of those fails, finds out for each of its accounts why. */
export async function addMembers(writes: MemberWrites, accounts: readonly string[]): Promise<WriteOutcome> {
  const tally = nothingYet()
  let chunks = chunk([...new Set(accounts)], MEMBERS_PER_PATCH_COUNT).map(
    (slice): Chunk => ({ accounts: slice, droppedCount: 0, mayBeDoneBefore: false }),
  )
  while (chunks.length > 0 && tally.fault === undefined) {
    const round = chunks.slice(0, PATCHES_PER_BATCH_COUNT)
    const replies = await settled(
      writes,
      round.map((chunk) => addCall(writes.graphUrl, writes.groupId, chunk.accounts)),
      tally,
    )
    const again: Chunk[] = []
    const oneByOne: Chunk[] = []
    for (const [index, chunk] of round.entries()) {
      const answer = replies[index]
      if (answer !== undefined) takePatch(writes, chunk, answer, tally, { again, oneByOne })
    }
    for (const chunk of oneByOne) if (tally.fault === undefined) await addOneByOne(writes, chunk, tally)
    chunks = [...again, ...chunks.slice(PATCHES_PER_BATCH_COUNT)]
  }
  return tally
}

function takePatch(
  { groupId }: MemberWrites,
  chunk: Chunk,
  { reply, mayBeDoneBefore }: SettledReply,
  tally: Tally,
  next: { again: Chunk[]; oneByOne: Chunk[] },
): void {
  const before = chunk.mayBeDoneBefore || mayBeDoneBefore
  const kind = replyKind(reply)
  if (kind === 'done') tally.written.push(...chunk.accounts)
  else if (kind !== 'denied') tally.fault ??= replyFault(reply)
  else if (chunk.accounts.length === 1)
    takeOne(groupId, chunk.accounts[0] ?? '', { reply, mayBeDoneBefore: before }, tally)
  else {
    const message = replyMessage(reply).toLowerCase()
    const unknown = reply.status === 404 ? chunk.accounts.find((account) => message.includes(account)) : undefined
    if (unknown === undefined && reply.status === 404) tally.fault ??= replyFault(reply)
    else if (unknown === undefined || chunk.droppedCount === DROPPED_PER_CHUNK_COUNT) {
      next.oneByOne.push({ ...chunk, mayBeDoneBefore: before })
    } else {
      tally.missing.push(unknown)
      const rest = chunk.accounts.filter((account) => account !== unknown)
      next.again.push({ accounts: rest, droppedCount: chunk.droppedCount + 1, mayBeDoneBefore: before })
    }
  }
}

async function addOneByOne(writes: MemberWrites, chunk: Chunk, tally: Tally): Promise<void> {
  const { graphUrl, groupId } = writes
  const replies = await settled(
    writes,
    chunk.accounts.map((account) => addOneCall(graphUrl, groupId, account)),
    tally,
  )
  for (const [index, account] of chunk.accounts.entries()) {
    const answer = replies[index]
    if (answer === undefined) continue
    const mayBeDoneBefore = chunk.mayBeDoneBefore || answer.mayBeDoneBefore
    takeOne(groupId, account, { ...answer, mayBeDoneBefore }, tally)
  }
}

/** The verdict on adding one account. What is there already was put there by an earlier try, if there was one. */
function takeOne(
  groupId: string,
  account: string,
  { reply, mayBeDoneBefore }: Omit<SettledReply, 'triesCount'>,
  tally: Tally,
): void {
  const message = replyMessage(reply).toLowerCase()
  const isDenied = replyKind(reply) === 'denied'
  if (replyKind(reply) === 'done') tally.written.push(account)
  else if (isDenied && reply.status === 400 && message.includes('already exist')) {
    const list = mayBeDoneBefore ? tally.written : tally.unchanged
    list.push(account)
  } else if (isDenied && reply.status === 404 && message.includes(account) && account !== groupId) {
    tally.missing.push(account)
  } else if (isDenied && reply.status === 400 && message.includes('do not exist')) {
    // A group made a moment ago is not known everywhere yet.
    tally.fault ??= new DirectoryFault('unavailable', `The directory answered 400: ${replyMessage(reply)}`)
  } else tally.fault ??= replyFault(reply)
}

/** Removes accounts, twenty to a call. One that is no member any more, however the directory words it, is done. */
export async function removeMembers(writes: MemberWrites, accounts: readonly string[]): Promise<WriteOutcome> {
  const tally = nothingYet()
  for (const slice of chunk([...new Set(accounts)], CALLS_PER_BATCH_COUNT)) {
    const replies = await settled(
      writes,
      slice.map((account) => removeCall(writes.groupId, account)),
      tally,
    )
    for (const [index, account] of slice.entries()) {
      const answer = replies[index]
      if (answer === undefined) continue
      const { reply, mayBeDoneBefore } = answer
      const message = replyMessage(reply).toLowerCase()
      const isGone = reply.status === 404 || (reply.status === 400 && message.includes('do not exist'))
      if (replyKind(reply) === 'done') tally.written.push(account)
      else if (isGone && reply.isJson) (mayBeDoneBefore ? tally.written : tally.unchanged).push(account)
      else tally.fault ??= replyFault(reply)
    }
    if (tally.fault !== undefined) break
  }
  return tally
}

/** A token that cannot be had stops the whole, and so does the time; what was written before it is still told. */
async function settled(
  { calls, tenantId, untilMs, nowMs }: MemberWrites,
  all: readonly GraphCall[],
  tally: Tally,
): Promise<SettledReply[]> {
  try {
    if (nowMs() >= untilMs) throw new DirectoryFault('unavailable', 'The directory was too slow for the time there was')
    const replies = await calls.settle(tenantId, all, untilMs)
    for (const { triesCount } of replies) tally.sentCount += triesCount
    return replies
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    tally.fault = error
    return []
  }
}
