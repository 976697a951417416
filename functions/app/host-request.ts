import type { HttpRequest, HttpResponseInit } from '@azure/functions'
import type { HttpResponse } from '../../shared/http/envelope.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/request.ts'

/** Responds to a request in the service's own terms. */
export type Respond = (request: ServiceRequest) => HttpResponse | Promise<HttpResponse>

/** Converts a request of the host for `respond`, and its response for the host. */
export async function respondTo(
  request: HttpRequest,
  respond: Respond,
): Promise<HttpResponseInit & { readonly status: number }> {
  const { status, headers, body } = await respond({
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  })
  return { status, headers, ...(body === undefined ? {} : { body }) }
}
