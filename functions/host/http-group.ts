import type { HttpHandler, HttpRequest, HttpResponseInit } from '@azure/functions'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { documentResponder } from '../../shared/http/document-responder.ts'
import type { HttpAnswer } from '../../shared/http/envelope.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/read-body.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies, newId } from './foundation.ts'

/** What the host hands over and takes back, in the service's own terms. */
export function httpHandler(answer: (request: ServiceRequest) => HttpAnswer | Promise<HttpAnswer>): HttpHandler {
  return async (request: HttpRequest): Promise<HttpResponseInit> => {
    const { status, headers, body } = await answer({
      method: request.method,
      url: request.url,
      header: (name) => request.headers.get(name),
      bytes: async () => new Uint8Array(await request.arrayBuffer()),
    })
    return { status, headers, ...(body === undefined ? {} : { body }) }
  }
}

/** A document that anyone may read. */
export function httpDocument(document: object): HttpHandler {
  return httpHandler(documentResponder(document, newId))
}

/** Everything below a group's prefix. */
export function httpGroup(group: RouteGroup): HttpHandler {
  return httpHandler(dispatcher(group, { ...dispatchDependencies, findIdentity }))
}
