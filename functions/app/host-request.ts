import { ReadableStream } from 'node:stream/web'
import type { HttpRequest, HttpResponseInit } from '@azure/functions'
import type { HttpResponse } from '../../shared/http/envelope.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/request.ts'

/** On every response: browsers come back over HTTPS only, share no window, and give pages no rights of the device. */
const BROWSER_HEADERS = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Responds to a request in the service's own terms. */
export type Respond = (request: ServiceRequest) => HttpResponse | Promise<HttpResponse>

/** A response of the host's library with its status. */
export type HostResponse = HttpResponseInit & { readonly status: number }

/**
 * Converts a request of the host for `respond`, and its response for the host.
 * @param prefix The fixed start of the function's route, where the route goes on with `{*rest}`.
 */
export async function respondTo(request: HttpRequest, respond: Respond, prefix?: string): Promise<HostResponse> {
  const { status, headers, body } = await respond({
    method: request.method,
    url: prefix === undefined ? request.url : urlBelow(prefix, request),
    header: (name) => request.headers.get(name),
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  })
  return {
    status,
    headers: { ...BROWSER_HEADERS, ...headers },
    ...(body === undefined ? {} : { body: handedOver(body) }),
  }
}

const BYTES_PER_PIECE_COUNT = 1_000_000

/** In pieces where it is large: the library copies a whole body several times, and holds the thread meanwhile. */
function handedOver(body: string | Uint8Array): string | Uint8Array | ReadableStream<Uint8Array> {
  const isLarge = typeof body !== 'string' && body.length > BYTES_PER_PIECE_COUNT
  return isLarge ? ReadableStream.from(piecesOf(body)) : body
}

function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < body.length; from += BYTES_PER_PIECE_COUNT) {
    yield body.subarray(from, from + BYTES_PER_PIECE_COUNT)
  }
}

/**
 * The URL of a request, in which each segment after the prefix is encoded exactly once. The host decodes a path once,
 * except `%2F`, and passes the result as `rest`. `request.url` is not usable: the host encodes the decoded path again,
 * but leaves what then looks like an encoded octet. The raw path `p%2541q` arrives there as `p%41q`, a path to the id
 * `pAq`.
 */
export function urlBelow(prefix: string, { url, params }: Pick<HttpRequest, 'url' | 'params'>): string {
  const { rest = '' } = params
  if (!rest.includes('%')) return url
  const { pathname, search } = new URL(url)
  if (!pathname.startsWith(`/${prefix}/`)) return url
  const segments = rest.split('/').map((segment) => encodeURIComponent(segment.replaceAll(/%2f/gi, '/')))
  return `/${prefix}/${segments.join('/')}${search}`
}
