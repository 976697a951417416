import type { HttpFunctionOptions, HttpMethod, HttpRequest, HttpResponseInit } from '@azure/functions'
import { dispatcher } from '../../shared/http/dispatch.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { findIdentity } from './collections.ts'
import { dispatchDependencies } from './foundation.ts'

/** All of them: the host answers a method that it does not know with an empty 404, and ours is to be an envelope. */
const METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** One HTTP function for everything below a group's prefix. Roles are checked by the routes, not by host keys. */
export function httpGroup(group: RouteGroup): HttpFunctionOptions {
  const dispatch = dispatcher(group, { ...dispatchDependencies, findIdentity })
  return {
    route: group.prefix === '' ? '{*rest}' : `${group.prefix}/{*rest}`,
    methods: METHODS,
    authLevel: 'anonymous',
    handler: async (request: HttpRequest): Promise<HttpResponseInit> => {
      const { status, headers, body } = await dispatch({
        method: request.method,
        url: request.url,
        header: (name) => request.headers.get(name),
        bytes: async () => new Uint8Array(await request.arrayBuffer()),
      })
      return { status, headers, ...(body === undefined ? {} : { body }) }
    },
  }
}
