import { createHash } from 'node:crypto'
import { Refusal } from '../domain/refusal.ts'
import { type HttpAnswer, refusalEnvelope } from './envelope.ts'
import type { HttpRequest } from './read-body.ts'
import { requestIdOf } from './request-id.ts'

const ALLOWED = 'GET, HEAD'

/** Answers one document, to anyone: it says nothing that the code of a client would not. */
export function documentResponder(document: object, newId: () => string): (request: HttpRequest) => HttpAnswer {
  const body = JSON.stringify(document)
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache', etag }
  return (request) => {
    const id = { 'x-request-id': requestIdOf(request, newId) }
    if (request.method === 'HEAD') return { status: 200, headers: { ...headers, ...id } }
    if (request.method !== 'GET') {
      return refusalEnvelope(new Refusal('MethodNotAllowed', `${request.method} is not one of ${ALLOWED}`), {
        allow: ALLOWED,
        ...id,
      })
    }
    if (request.header('if-none-match') === etag) return { status: 304, headers: { etag, ...id } }
    return { status: 200, headers: { ...headers, ...id }, body }
  }
}
