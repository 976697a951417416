import type {
  HttpFunctionOptions,
  HttpMethod,
  HttpRequest,
  HttpResponseInit,
  InvocationContext,
} from '@azure/functions'
import type { Activity } from '../../shared/domain/activity.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { documentResponder } from '../../shared/http/document-responder.ts'
import type { HttpAnswer } from '../../shared/http/envelope.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/read-body.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies, newId } from './foundation.ts'
import { observedRequest } from './observed-invocation.ts'

/** All of them: the host answers a method that it does not know with an empty 404, and ours is to be an envelope. */
const METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** An HTTP function that answers at one path or below it, whatever the method. */
function httpFunction(
  route: string,
  answer: (request: ServiceRequest, activity: Activity) => HttpAnswer | Promise<HttpAnswer>,
): HttpFunctionOptions {
  return {
    route,
    methods: METHODS,
    authLevel: 'anonymous',
    handler: async (request: HttpRequest, context: InvocationContext): Promise<HttpResponseInit> => {
      const asked: ServiceRequest = {
        method: request.method,
        url: request.url,
        header: (name) => request.headers.get(name),
        bytes: async () => new Uint8Array(await request.arrayBuffer()),
      }
      const { status, headers, body } = await observedRequest({ method: request.method, route }, context, (activity) =>
        answer(asked, activity),
      )
      return { status, headers, ...(body === undefined ? {} : { body }) }
    },
  }
}

/** A document that anyone may read. */
export function httpDocument(path: string, document: object): HttpFunctionOptions {
  return httpFunction(path, documentResponder(document, newId))
}

/** One HTTP function for everything below a group's prefix. Roles are checked by the routes, not by host keys. */
export function httpGroup(group: RouteGroup): HttpFunctionOptions {
  const path = group.prefix === '' ? '{*rest}' : `${group.prefix}/{*rest}`
  return httpFunction(path, dispatcher(group, { ...dispatchDependencies, findIdentity }))
}
