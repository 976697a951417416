import type { HttpHandler, HttpRequest, HttpResponseInit } from '@azure/functions'
import { dispatcher } from '../../shared/http/dispatch.ts'
import type { HttpResponse } from '../../shared/http/envelope.ts'
import { fileResponder, type PublicFiles } from '../../shared/http/public-files.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/request.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies } from './foundation.ts'
import { observedRequest } from './observed-invocation.ts'

/** Adapts a responder to the host, without a span or metrics: for probes. */
export function httpHandler(respond: (request: ServiceRequest) => HttpResponse | Promise<HttpResponse>): HttpHandler {
  return async (request) => toHost(await respond(fromHost(request)))
}

/** Serves files without a token. They contain no more than the code of a client would. */
export function httpFiles(files: () => PublicFiles): HttpHandler {
  return observedHandler(fileResponder(files, dispatchDependencies))
}

/** Serves the routes of a group. */
export function httpGroup(group: RouteGroup): HttpHandler {
  return observedHandler(dispatcher(group, { ...dispatchDependencies, findIdentity }))
}

function observedHandler(respond: (request: ServiceRequest) => HttpResponse | Promise<HttpResponse>): HttpHandler {
  return async (request, context) =>
    toHost(await observedRequest(request, context, async () => respond(fromHost(request))))
}

function fromHost(request: HttpRequest): ServiceRequest {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  }
}

function toHost({ status, headers, body }: HttpResponse): HttpResponseInit {
  return { status, headers, ...(body === undefined ? {} : { body }) }
}
