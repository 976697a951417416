import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import type { Host } from './hosts.ts'

export type SoakReply<Data = unknown> = {
  readonly status: number
  readonly data: Data
  readonly errors: readonly { readonly code: string; readonly message: string }[]
  readonly nextCursor?: string
  readonly etag?: string | undefined
  /** Whether an earlier attempt of the same request got no answer or a failure, and may have been applied. */
  readonly isRetry: boolean
}

export type CallOptions = {
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly ifPlan?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
}

type Envelope = Pick<SoakReply, 'data' | 'errors' | 'nextCursor' | 'etag'>

/**
 * Statuses of failures and of conflicts with concurrent work, after which clients try again. 408: the instance was
 * stopped for so long that it has not read the request in time.
 */
const TRIED_AGAIN_STATUSES = [408, 429, 500, 502, 503, 504]
const TRIED_AGAIN_CODES = ['StaleVersion', 'IdempotencyKeyInUse']
const MAX_TRIES = 200

/** Calls the API through any instance, as a client behind a load balancer does: until it is answered. */
export class ApiCalls {
  readonly #hosts: readonly Host[]
  readonly #random: Random
  requestCount = 0
  /** Requests without an answer, because their instance was killed. */
  unansweredCount = 0
  readonly statusCounts = new Map<number, number>()
  /** Requests that lost their answer although their instance lived. */
  readonly lostAnswers: string[] = []

  constructor(hosts: readonly Host[], random: Random) {
    this.#hosts = hosts
    this.#random = random
  }

  /** @throws Error when the request fails again and again */
  async call<Data>(options: CallOptions): Promise<SoakReply<Data>> {
    let last = 'no instance runs'
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const host = this.#runningHost()
      const reply = host && (await this.#attempt<Data>(host, options))
      if (reply !== undefined && !isTriedAgain(reply)) return { ...reply, isRetry: tries > 0 }
      if (reply !== undefined) last = `${reply.status} ${JSON.stringify(reply.errors)}`
      await sleep(Math.min(50 * (tries + 1), 1000))
    }
    throw new Error(`${options.method} ${options.path} fails again and again: ${last}`)
  }

  /** All pages of a list. */
  async list<Item>(token: string, path: string): Promise<Item[]> {
    const items: Item[] = []
    const separator = path.includes('?') ? '&' : '?'
    let query = `${separator}pageSize=500`
    for (;;) {
      const { status, data, errors, nextCursor } = await this.call<Item[]>({ token, method: 'GET', path: path + query })
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(errors)}`)
      items.push(...data)
      if (nextCursor === undefined) return items
      query = `${separator}nextCursor=${encodeURIComponent(nextCursor)}`
    }
  }

  #runningHost(): Host | undefined {
    const running = this.#hosts.filter(({ isRunning }) => isRunning)
    return running[this.#random.below(running.length)]
  }

  async #attempt<Data>(
    host: Host,
    { token, method, path, body, idempotencyKey, ifPlan, headers = {} }: CallOptions,
  ): Promise<(Envelope & { data: Data; status: number }) | undefined> {
    const startMs = performance.now()
    this.requestCount += 1
    try {
      const response = await fetch(`${host.url}${path}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...(ifPlan === undefined ? {} : { 'if-plan': ifPlan }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const envelope = parsed<Data>(response.status, await response.text())
      this.statusCounts.set(response.status, (this.statusCounts.get(response.status) ?? 0) + 1)
      return { ...envelope, status: response.status, etag: response.headers.get('etag') ?? undefined }
    } catch (error) {
      this.unansweredCount += 1
      // The kill is noted before the signal is sent, the start of the next process before its first request.
      if (!host.canHaveLostAnswersSince(startMs)) {
        const { message, cause } = error as Error
        this.lostAnswers.push(`${method} ${path} through host ${host.index}: ${message} (${cause})`)
      }
      return undefined
    }
  }
}

/**
 * The body of an answer; the HTTP server itself answers 408 without one.
 * @throws Error that describes an answer that is not JSON
 */
function parsed<Data>(status: number, text: string): Envelope & { data: Data } {
  if (status === 408 && text === '') return { data: undefined as Data, errors: [] }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`status ${status} with a body of ${text.length} characters`, { cause })
  }
}

function isTriedAgain({ status, errors }: Pick<SoakReply, 'status' | 'errors'>): boolean {
  return TRIED_AGAIN_STATUSES.includes(status) || (errors ?? []).some(({ code }) => TRIED_AGAIN_CODES.includes(code))
}
