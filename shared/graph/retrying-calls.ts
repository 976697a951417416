import type { GraphCall, SendCall } from './graph-calls.ts'
import { type GraphReply, replyKind, retryAfterMsOf } from './graph-reply.ts'

/** Items of a `$batch`. https://learn.microsoft.com/graph/json-batching */
export const CALLS_PER_BATCH_COUNT = 20

/** How often a call is sent before its last reply stands. */
const TRIES_COUNT = 4

/** The wait after the first unclear reply; it doubles with each further one. */
const FIRST_WAIT_MS = 300

/** Being asked to wait longer is for those above: a worker is not held up by it. */
const WAIT_AT_MOST_MS = 10_000

/** The last reply to a call, how often it was sent, and whether an earlier try may have been carried out all the same. */
export type SettledReply = {
  readonly reply: GraphReply
  readonly triesCount: number
  readonly mayBeDoneBefore: boolean
}

export type RetryingCalls = {
  /**
   * Sends the calls, at most `CALLS_PER_BATCH_COUNT`, until each has a clear reply or its tries are used up.
   * @param untilMs when the last reply stands in any case: nothing is sent from then on.
   */
  settle(tenantId: string, calls: readonly GraphCall[], untilMs?: number): Promise<SettledReply[]>
}

export type RetryingCallsOptions = {
  readonly send: SendCall
  sleep(delayMs: number): Promise<void>
  nowMs(): number
  /** 0 to 1, evenly spread. */
  random(): number
}

type Pending = { readonly call: GraphCall; tries: number; dueMs: number; reply: GraphReply; unclear: boolean }

const NOT_SENT: GraphReply = { status: 0, body: undefined, isJson: false, retryAfterMs: undefined }

/**
 * Sends calls as often as it takes: one alone as it is, several in one `$batch`. Each waits for itself, as its own reply
 * asks, and those whose time has come go together.
 */
export function retryingCalls(options: RetryingCallsOptions): RetryingCalls {
  const { nowMs, sleep } = options
  return {
    async settle(tenantId, calls, untilMs = Number.POSITIVE_INFINITY) {
      const all = calls.map((call): Pending => ({ call, tries: 0, dueMs: 0, reply: NOT_SENT, unclear: false }))
      let open = all
      while (open.length > 0) {
        const earliestMs = Math.min(...open.map(({ dueMs }) => dueMs))
        if (earliestMs > nowMs()) await sleep(earliestMs - nowMs())
        // A process that is held up sleeps longer than it meant to.
        if (nowMs() >= untilMs) break
        const due = open.filter(({ dueMs }) => dueMs <= Math.max(nowMs(), earliestMs))
        const replies = await sendTogether(tenantId, due, options)
        for (const [index, pending] of due.entries()) take(pending, replies[index] ?? NOT_SENT, untilMs, options)
        open = open.filter(({ dueMs }) => dueMs !== Number.POSITIVE_INFINITY)
      }
      return all.map(({ reply, tries, unclear }) => ({ reply, triesCount: tries, mayBeDoneBefore: unclear }))
    },
  }
}

/** Takes in a reply: the call is through (due never), or due again after a while. */
function take(pending: Pending, reply: GraphReply, untilMs: number, { nowMs, random }: RetryingCallsOptions): void {
  const kind = replyKind(reply)
  pending.reply = reply
  pending.tries += 1
  pending.dueMs = Number.POSITIVE_INFINITY
  if (kind === 'done' || kind === 'denied') return
  pending.unclear = true
  const backoffMs = FIRST_WAIT_MS * 2 ** (pending.tries - 1) * (1 + random())
  const waitMs = Math.max(backoffMs, reply.retryAfterMs ?? 0)
  const dueMs = nowMs() + waitMs
  if (pending.tries < TRIES_COUNT && waitMs <= WAIT_AT_MOST_MS && dueMs < untilMs) pending.dueMs = dueMs
}

async function sendTogether(
  tenantId: string,
  due: readonly Pending[],
  { send, nowMs }: RetryingCallsOptions,
): Promise<GraphReply[]> {
  const [only] = due
  if (only !== undefined && due.length === 1) return [await send(tenantId, only.call)]
  const reply = await send(tenantId, { method: 'POST', path: '/$batch', body: batchOf(due.map(({ call }) => call)) })
  // A batch that fails as a whole is that reply for each of its items.
  if (replyKind(reply) !== 'done') return due.map(() => reply)
  return itemReplies(reply.body, due.length, nowMs())
}

function batchOf(calls: readonly GraphCall[]): { requests: unknown[] } {
  if (calls.length > CALLS_PER_BATCH_COUNT) throw new Error(`A batch takes ${CALLS_PER_BATCH_COUNT} calls at most`)
  return {
    requests: calls.map(({ method, path, body }, index) => ({
      id: String(index),
      method,
      url: path,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body }),
    })),
  }
}

/** Items come back in any order; one without an answer counts as unclear. */
function itemReplies(body: unknown, count: number, nowMs: number): GraphReply[] {
  type Item = { id?: unknown; status?: unknown; headers?: Record<string, unknown>; body?: unknown }
  const { responses } = (body ?? {}) as { responses?: Item[] }
  const byId = new Map((Array.isArray(responses) ? responses : []).map((item) => [String(item.id), item]))
  return Array.from({ length: count }, (_, index): GraphReply => {
    const item = byId.get(String(index))
    if (item === undefined || typeof item.status !== 'number') return NOT_SENT
    const retryAfter = Object.entries(item.headers ?? {}).find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
    return {
      status: item.status,
      body: item.body,
      // In a batch, a body that is not JSON arrives as a string.
      isJson: typeof item.body !== 'string',
      // Whatever JSON makes of a number.
      retryAfterMs: retryAfterMsOf(retryAfter === undefined ? undefined : String(retryAfter), nowMs),
    }
  })
}
