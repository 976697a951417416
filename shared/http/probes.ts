import type { Log } from '../kernel/log.ts'
import { failureEnvelope, type HttpResponse, readOnlyEnvelope, successEnvelope } from './envelope.ts'
import { type HttpRequest, withRequestId } from './request.ts'

/** The dependencies without which the service cannot work. */
export const PARTS = ['database', 'queue', 'directoryKeys'] as const
export type Part = (typeof PARTS)[number]

/** Resolves when the part is available. Should stop when the signal aborts. */
export type PartCheck = (signal: AbortSignal) => Promise<void>

/** The parts that are unavailable. */
export type UnreadyParts = readonly Part[]

export type ReadinessDependencies = {
  readonly checks: Readonly<Record<Part, PartCheck>>
  readonly log: Log
  nowMs(): number
  /** Milliseconds after which a check fails. */
  readonly checkLimitMs?: number
  /** Milliseconds for which an outcome is cached. */
  readonly keptMs?: number
}

const CHECK_LIMIT_MS = 3_000
const KEPT_MS = 5_000

/**
 * Returns the function that checks all parts concurrently. Calls during a check and for some seconds after it share its
 * outcome, so that frequent probes add no load. Logs when a part fails and when it recovers.
 */
export function readinessCheck({
  checks,
  log,
  nowMs,
  checkLimitMs = CHECK_LIMIT_MS,
  keptMs = KEPT_MS,
}: ReadinessDependencies): () => Promise<UnreadyParts> {
  let checking: Promise<UnreadyParts> | undefined
  let checkedMs = Number.NEGATIVE_INFINITY
  const failed = new Set<Part>()

  const checkPart = async (part: Part): Promise<void> => {
    try {
      await limited(checks[part], checkLimitMs)
      if (failed.delete(part)) log.info('readiness.restored', { part })
    } catch (error) {
      if (!failed.has(part)) log.error('readiness.failed', error, { part })
      failed.add(part)
    }
  }
  const checkAll = async (): Promise<UnreadyParts> => {
    const parts = Object.keys(checks) as Part[]
    await Promise.all(parts.map(checkPart))
    checkedMs = nowMs()
    return parts.filter((part) => failed.has(part))
  }

  return () => {
    if (checking !== undefined && nowMs() - checkedMs < keptMs) return checking
    // Until it ends, the check never expires.
    checkedMs = Number.POSITIVE_INFINITY
    checking = checkAll()
    return checking
  }
}

/** Rejects after the limit even when the check ignores its signal. */
async function limited(check: PartCheck, limitMs: number): Promise<void> {
  const limit = Promise.withResolvers<never>()
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort()
    limit.reject(new Error(`No response within ${limitMs} ms`))
  }, limitMs)
  try {
    await Promise.race([check(controller.signal), limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The response of `/health`. */
export const ALIVE = successEnvelope({ data: { status: 'alive' } }, 200)

/** The response of `/ready` when all parts are available. */
export const READY = successEnvelope({ data: Object.fromEntries(PARTS.map((part) => [part, 'ready'])) }, 200)

const UNREADY_MESSAGES: Readonly<Record<Part, string>> = {
  database: 'The database is unavailable',
  queue: 'The queue is unavailable',
  directoryKeys: 'The token signing keys are unavailable',
}

/** The response of `/ready` otherwise, 503: names the unavailable parts without the cause. */
export function unreadyEnvelope(unready: UnreadyParts): HttpResponse {
  const entries = unready.map((part) => ({ code: 'NotReady', message: UNREADY_MESSAGES[part], target: part }))
  return failureEnvelope(503, entries)
}

/** Reports only that the process responds. It checks no dependencies, because a restart would not repair those. */
export function livenessResponder(newId: () => string): (request: HttpRequest) => Promise<HttpResponse> {
  return responder(async () => ALIVE, newId)
}

/**
 * Reports whether all dependencies are available; 503 names those that are not. No details, because no token is
 * required.
 */
export function readinessResponder(
  check: () => Promise<UnreadyParts>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpResponse> {
  return responder(async () => {
    const unready = await check()
    return unready.length > 0 ? unreadyEnvelope(unready) : READY
  }, newId)
}

function responder(
  respond: () => Promise<HttpResponse>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return withRequestId(isRead ? await respond() : readOnlyEnvelope(request.method), request, newId)
  }
}
