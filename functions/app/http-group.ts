import type { HttpHandler, HttpRequest, HttpResponseInit } from '@azure/functions'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { type FileAnswer, fileResponder, type PublicFiles } from '../../shared/http/public-files.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/request.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies } from './foundation.ts'
import { observedRequest } from './observed-invocation.ts'

/** What the host hands over and takes back, in the service's own terms. Observed by nobody: for probes. */
export function httpHandler(answer: (request: ServiceRequest) => FileAnswer | Promise<FileAnswer>): HttpHandler {
  return async (request) => toHost(await answer(fromHost(request)))
}

/** Files that anyone may read: they say nothing that the code of a client would not. Made when first asked for. */
export function httpFiles(files: () => PublicFiles): HttpHandler {
  return observedHandler(fileResponder(files, dispatchDependencies))
}

/** Everything below a group's prefix. */
export function httpGroup(group: RouteGroup): HttpHandler {
  return observedHandler(dispatcher(group, { ...dispatchDependencies, findIdentity }))
}

function observedHandler(answer: (request: ServiceRequest) => FileAnswer | Promise<FileAnswer>): HttpHandler {
  return async (request, context) =>
    toHost(await observedRequest(request, context, async () => answer(fromHost(request))))
}

function fromHost(request: HttpRequest): ServiceRequest {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  }
}

function toHost({ status, headers, body, bytes }: FileAnswer): HttpResponseInit {
  return { status, headers, ...(body === undefined && bytes === undefined ? {} : { body: bytes ?? body }) }
}
