import type {
  HttpFunctionOptions,
  HttpMethod,
  HttpRequest,
  HttpResponseInit,
  InvocationContext,
} from '@azure/functions'
import type { Activity } from '../../shared/domain/activity.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { type FileAnswer, fileResponder, type PublicFiles } from '../../shared/http/public-files.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/read-body.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies } from './foundation.ts'
import { observedRequest } from './observed-invocation.ts'

/** All of them: the host answers a method that it does not know with an empty 404, and ours is to be an envelope. */
const METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** An HTTP function that answers at one path or below it, whatever the method. */
function httpFunction(
  route: string,
  answer: (request: ServiceRequest, activity: Activity) => FileAnswer | Promise<FileAnswer>,
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

/** Files that anyone may read: they say nothing that the code of a client would not. Made when first asked for. */
export function httpFiles(route: string, files: () => PublicFiles): HttpFunctionOptions {
  return httpFunction(route, fileResponder(files, dispatchDependencies))
}

/** One HTTP function for everything below a group's prefix. Roles are checked by the routes, not by host keys. */
export function httpGroup(group: RouteGroup): HttpFunctionOptions {
  const path = group.prefix === '' ? '{*rest}' : `${group.prefix}/{*rest}`
  return httpFunction(path, dispatcher(group, { ...dispatchDependencies, findIdentity }))
}
