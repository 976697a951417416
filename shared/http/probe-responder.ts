import { Refusal } from '../kernel/refusals.ts'
import { type HttpAnswer, refusalEnvelope, successEnvelope, unreadyEnvelope } from './envelope.ts'
import type { HttpRequest } from './read-body.ts'
import { PARTS, type Unready } from './readiness.ts'
import { requestIdOf } from './request-id.ts'

const ALLOWED = 'GET, HEAD'

/** The answer of a process that answers. */
export const ALIVE = successEnvelope({ data: { status: 'alive' } }, 200)

/** The answer when every part can be used. */
export const READY = successEnvelope({ data: Object.fromEntries(PARTS.map((part) => [part, 'ready'])) }, 200)

/** Says that the process answers, and nothing else: a restart would mend nothing that this does not show. */
export function livenessResponder(newId: () => string): (request: HttpRequest) => Promise<HttpAnswer> {
  return responder(async () => ALIVE, newId)
}

/** Says whether work would succeed: 503 names the parts that fail. No more than that, since anyone may ask. */
export function readinessResponder(
  probe: () => Promise<Unready>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpAnswer> {
  return responder(async () => {
    const unready = await probe()
    return unready.length > 0 ? unreadyEnvelope(unready) : READY
  }, newId)
}

function responder(
  answer: () => Promise<HttpAnswer>,
  newId: () => string,
): (request: HttpRequest) => Promise<HttpAnswer> {
  return async (request) => {
    const id = { 'x-request-id': requestIdOf(request, newId) }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const refusal = new Refusal('MethodNotAllowed', `${request.method} is not one of ${ALLOWED}`)
      return refusalEnvelope(refusal, { allow: ALLOWED, ...id })
    }
    const { status, headers, body } = await answer()
    const isBare = request.method === 'HEAD' || body === undefined
    return { status, headers: { ...headers, ...id }, ...(isBare ? {} : { body }) }
  }
}
