import type { Log } from '../kernel/log.ts'
import { Refusal } from '../kernel/refusals.ts'
import { type HttpResponse, refusalEnvelope, successEnvelope, unreadyEnvelope } from './envelope.ts'
import { type HttpRequest, requestIdOf } from './request.ts'

/** What the service cannot work without. */
export const PARTS = ['database', 'queue', 'directoryKeys'] as const
export type Part = (typeof PARTS)[number]

/** Resolves when the part can be used. May end early when the signal says so. */
export type PartCheck = (signal: AbortSignal) => Promise<void>

/** The parts that cannot be used now; none when all is well. */
export type UnreadyParts = readonly Part[]

export type ReadinessDependencies = {
  readonly checks: Readonly<Record<Part, PartCheck>>
  readonly log: Log
  nowMs(): number
  /** Milliseconds that one check may take. */
  readonly checkLimitMs?: number
  /** Milliseconds for which an outcome is told again without a look. */
  readonly keptMs?: number
}

const CHECK_LIMIT_MS = 3_000
const KEPT_MS = 5_000

/**
 * Makes the look at all parts, side by side. Whoever asks while one is under way, or within the seconds after it, is told
 * the same: however often it is asked, the parts are not burdened. A part is logged when it fails and when it is back.
 */
export function readinessCheck({
  checks,
  log,
  nowMs,
  checkLimitMs = CHECK_LIMIT_MS,
  keptMs = KEPT_MS,
}: ReadinessDependencies): () => Promise<UnreadyParts> {
  let looking: Promise<UnreadyParts> | undefined
  let lookedMs = Number.NEGATIVE_INFINITY
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
  const look = async (): Promise<UnreadyParts> => {
    const parts = Object.keys(checks) as Part[]
    await Promise.all(parts.map(checkPart))
    lookedMs = nowMs()
    return parts.filter((part) => failed.has(part))
  }

  return () => {
    if (looking !== undefined && nowMs() - lookedMs < keptMs) return looking
    // As long as the look is under way, it is newer than anything.
    lookedMs = Number.POSITIVE_INFINITY
    looking = look()
    return looking
  }
}

/** A client may not heed the signal, so the time is kept here too. */
async function limited(check: PartCheck, limitMs: number): Promise<void> {
  const limit = Promise.withResolvers<never>()
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort()
    limit.reject(new Error(`No answer within ${limitMs} ms`))
  }, limitMs)
  try {
    await Promise.race([check(controller.signal), limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

const PROBE_METHODS = 'GET, HEAD'

/** The answer of a process that answers. */
export const ALIVE = successEnvelope({ data: { status: 'alive' } }, 200)

/** The answer when every part can be used. */
export const READY = successEnvelope({ data: Object.fromEntries(PARTS.map((part) => [part, 'ready'])) }, 200)

/** Says that the process answers, and nothing else: a restart would mend nothing that this does not show. */
export function livenessResponder(newId: () => string): (request: HttpRequest) => Promise<HttpResponse> {
  return responder(async () => ALIVE, newId)
}

/** Says whether work would succeed: 503 names the parts that fail. No more than that, since anyone may ask. */
export function readinessResponder(
  probe: () => Promise<UnreadyParts>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpResponse> {
  return responder(async () => {
    const unready = await probe()
    return unready.length > 0 ? unreadyEnvelope(unready) : READY
  }, newId)
}

function responder(
  answer: () => Promise<HttpResponse>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async (request) => {
    const id = { 'x-request-id': requestIdOf(request, newId) }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const refusal = new Refusal('MethodNotAllowed', `${request.method} is not one of ${PROBE_METHODS}`)
      return refusalEnvelope(refusal, { allow: PROBE_METHODS, ...id })
    }
    const { status, headers, body } = await answer()
    const isBare = request.method === 'HEAD' || body === undefined
    return { status, headers: { ...headers, ...id }, ...(isBare ? {} : { body }) }
  }
}
