import { DirectoryFault } from '../domain/group-links/directory.ts'
import { type GraphCall, type GraphReply, NO_REPLY, replyKind, retryAfterMsOf, type SendCall } from './graph-calls.ts'

/** Items of a `$batch`. https://learn.microsoft.com/graph/json-batching */
export const CALLS_PER_BATCH_COUNT = 20

const MAX_ATTEMPTS = 4

/** Delay after the first unclear reply. It doubles with each further one. */
const FIRST_WAIT_MS = 300

/** A longer wait is left to the caller, so that it does not block a worker. */
const MAX_WAIT_MS = 10_000

export type CallResult = {
  /** The last reply. */
  readonly reply: GraphReply
  readonly attemptCount: number
  /** An earlier attempt had an unclear reply and may have taken effect. */
  readonly mayHaveSucceededBefore: boolean
  /** Why the call was not sent again, apart from its reply. */
  readonly fault?: DirectoryFault
}

export type RetryingCalls = {
  /**
   * Sends the calls, at most `CALLS_PER_BATCH_COUNT`, until each has a clear reply or no attempts left.
   * @param deadlineMs nothing is sent from then on, and the last replies are returned.
   * @throws DirectoryFault when nothing was sent. One that ends the retries is in the results of the calls left.
   */
  sendAll(tenantId: string, calls: readonly GraphCall[], deadlineMs?: number): Promise<CallResult[]>
}

export type RetryingCallsOptions = {
  readonly send: SendCall
  sleep(delayMs: number): Promise<void>
  nowMs(): number
  /** 0 to 1, evenly distributed. */
  random(): number
}

type Pending = { readonly call: GraphCall; attempts: number; dueMs: number; reply: GraphReply; unclear: boolean }

const NEVER_MS = Number.POSITIVE_INFINITY

/**
 * Sends a single call as it is, and several in one `$batch`. Each call is retried when its own reply allows it; calls
 * that are due at the same time share a batch.
 */
export function retryingCalls(options: RetryingCallsOptions): RetryingCalls {
  const { nowMs, sleep } = options
  return {
    async sendAll(tenantId, calls, deadlineMs = NEVER_MS) {
      const all = calls.map((call): Pending => ({ call, attempts: 0, dueMs: 0, reply: NO_REPLY, unclear: false }))
      let open = all
      let fault: DirectoryFault | undefined
      while (open.length > 0) {
        const earliestMs = Math.min(...open.map(({ dueMs }) => dueMs))
        if (earliestMs > nowMs()) await sleep(earliestMs - nowMs())
        // A suspended process sleeps longer than requested.
        if (nowMs() >= deadlineMs) break
        const due = open.filter(({ dueMs }) => dueMs <= Math.max(nowMs(), earliestMs))
        const replies = await sendTogether(tenantId, due, options).catch((error: unknown) => {
          if (!(error instanceof DirectoryFault) || all.every(({ attempts }) => attempts === 0)) throw error
          fault = error
          return []
        })
        // The earlier attempts may have taken effect.
        if (fault !== undefined) break
        for (const [index, pending] of due.entries()) receive(pending, replies[index] ?? NO_REPLY, deadlineMs, options)
        open = open.filter(({ dueMs }) => dueMs !== NEVER_MS)
      }
      return all.map((pending): CallResult => {
        const { reply, attempts, unclear } = pending
        const result = { reply, attemptCount: attempts, mayHaveSucceededBefore: unclear }
        return fault !== undefined && open.includes(pending) ? { ...result, fault } : result
      })
    },
  }
}

/** Records a reply and decides whether and when the call is sent again. */
function receive(pending: Pending, reply: GraphReply, deadlineMs: number, options: RetryingCallsOptions): void {
  const { nowMs, random } = options
  const kind = replyKind(reply)
  pending.reply = reply
  pending.attempts += 1
  pending.dueMs = NEVER_MS
  if (kind === 'done' || kind === 'denied') return
  pending.unclear = true
  const backoffMs = FIRST_WAIT_MS * 2 ** (pending.attempts - 1) * (1 + random())
  const waitMs = Math.max(backoffMs, reply.retryAfterMs ?? 0)
  const dueMs = nowMs() + waitMs
  if (pending.attempts < MAX_ATTEMPTS && waitMs <= MAX_WAIT_MS && dueMs < deadlineMs) pending.dueMs = dueMs
}

async function sendTogether(
  tenantId: string,
  due: readonly Pending[],
  { send, nowMs }: RetryingCallsOptions,
): Promise<GraphReply[]> {
  const [only] = due
  if (only !== undefined && due.length === 1) return [await send(tenantId, only.call)]
  const reply = await send(tenantId, { method: 'POST', path: '/$batch', body: batchOf(due.map(({ call }) => call)) })
  // When the batch as a whole fails, its reply applies to each item.
  if (replyKind(reply) !== 'done') return due.map(() => reply)
  return itemReplies(reply.body, due.length, nowMs())
}

function batchOf(calls: readonly GraphCall[]): { requests: unknown[] } {
  if (calls.length > CALLS_PER_BATCH_COUNT) throw new Error(`A batch takes at most ${CALLS_PER_BATCH_COUNT} calls.`)
  return {
    requests: calls.map(({ method, path, body }, index) => ({
      id: String(index),
      method,
      url: path,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body }),
    })),
  }
}

/** Graph returns items in any order. A missing item counts as unclear. */
function itemReplies(body: unknown, count: number, nowMs: number): GraphReply[] {
  type Item = { id?: unknown; status?: unknown; headers?: Record<string, unknown>; body?: unknown }
  const { responses } = (body ?? {}) as { responses?: Item[] }
  const byId = new Map((Array.isArray(responses) ? responses : []).map((item) => [String(item.id), item]))
  return Array.from({ length: count }, (_, index): GraphReply => {
    const item = byId.get(String(index))
    if (item === undefined || typeof item.status !== 'number') return NO_REPLY
    const retryAfter = Object.entries(item.headers ?? {}).find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
    return {
      status: item.status,
      body: item.body,
      // In a batch, a body that is not JSON is a string.
      isJson: typeof item.body !== 'string',
      // The header's value can be a JSON number.
      retryAfterMs: retryAfterMsOf(retryAfter === undefined ? undefined : String(retryAfter), nowMs),
    }
  })
}
