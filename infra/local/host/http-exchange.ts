import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { InvocationResponse, RpcHttpCookie, RpcHttpData, RpcNullable } from './programming-model.ts'
import type { RouteValues } from './route-table.ts'

/** The platform's limit. https://learn.microsoft.com/azure/azure-functions/functions-bindings-http-webhook-trigger */
const MAX_BODY_BYTES = 104_857_600

/** Host names and ports. Other values would let a header change the URL. */
const HOST_HEADER = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

export type RequestTarget = { readonly origin: string; readonly path: string; readonly query: string }

/** Splits the target of the request line. Undefined if it cannot be the URL of a function. */
export function requestTarget(request: IncomingMessage): RequestTarget | undefined {
  const target = request.url ?? ''
  const authority = request.headers.host ?? `localhost:${request.socket.localPort}`
  if (!HOST_HEADER.test(authority)) return undefined
  const origin = `http://${authority}`
  // Only absolute targets and dot segments, which are rare, need a URL object.
  if (!target.startsWith('/') || target.startsWith('//') || /\/(?:\.|%2e)/i.test(target))
    return parsedTarget(target, origin)
  const queryAt = target.indexOf('?')
  return queryAt < 0
    ? { origin, path: target, query: '' }
    : { origin, path: target.slice(0, queryAt), query: target.slice(queryAt) }
}

function parsedTarget(target: string, origin: string): RequestTarget | undefined {
  const url = URL.parse(target.startsWith('/') ? origin + target : target)
  return url?.protocol === 'http:' ? { origin, path: url.pathname, query: url.search } : undefined
}

/**
 * Reads the body. `too-large` if it exceeds the limit of the platform, `aborted` if the client disconnected before its
 * end.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'aborted'> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return 'too-large'
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) {
    return Buffer.alloc(0)
  }
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      if (sizeBytes > MAX_BODY_BYTES) return 'too-large'
      chunks.push(chunk)
    }
  } catch {
    return 'aborted'
  }
  return Buffer.concat(chunks)
}

/** The request in the format that the host passes to the library. */
export function toRpcHttp(
  request: IncomingMessage,
  { origin, path, query }: RequestTarget,
  params: RouteValues,
  body: Buffer,
): RpcHttpData {
  const data: RpcHttpData = {
    method: request.method ?? '',
    url: origin + path + query,
    nullableHeaders: nullable(Object.entries(request.headers)),
    nullableQuery: query === '' ? {} : queryValues(query),
    nullableParams: nullable(Object.entries(params)),
  }
  if (body.length > 0) data.body = { bytes: body }
  return data
}

function nullable(
  entries: Iterable<readonly [string, string | string[] | undefined]>,
): Record<string, RpcNullable<string>> {
  const values: Record<string, RpcNullable<string>> = Object.create(null)
  for (const [name, value] of entries) values[name] = { value: String(value ?? '') }
  return values
}

/** Query names are case-insensitive in the host, and values of one name are joined: `?q=1&Q=2` is `q=1,2`. */
function queryValues(query: string): Record<string, RpcNullable<string>> {
  const byName = new Map<string, [string, string]>()
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = byName.get(name.toLowerCase())
    byName.set(name.toLowerCase(), earlier === undefined ? [name, value] : [earlier[0], `${earlier[1]},${value}`])
  }
  return nullable(byName.values())
}

/** Transport headers, which only the server sets. */
const FRAMING = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding'])

const SAME_SITE = { none: undefined, explicitNone: 'none', lax: 'lax', strict: 'strict' }

/**
 * Sends the result of a function. No result is 204, like on the platform.
 * @throws Error if a header is invalid; nothing has been sent then
 */
export function sendResponse(response: ServerResponse, { returnValue }: InvocationResponse): void {
  const http = returnValue?.http
  if (http === undefined) {
    sendBare(response, 204)
    return
  }
  const status = Number(http.statusCode)
  const body = http.body?.bytes ?? Buffer.alloc(0)
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(http.headers ?? {})) if (!FRAMING.has(name)) headers[name] = value
  if (http.cookies !== undefined && http.cookies.length > 0) {
    headers['set-cookie'] = [...[headers['set-cookie'] ?? []].flat(), ...http.cookies.map(setCookie)].map(String)
  }
  if (status !== 204 && status !== 304) headers['content-length'] = body.length
  // The handler of a HEAD request can set the length of the GET response.
  const statedLength = http.headers?.['content-length']
  if (response.req.method === 'HEAD' && body.length === 0 && statedLength) headers['content-length'] = statedLength
  response.writeHead(status, headers)
  response.end(body)
}

/** A response of the host: a status without body and content type. */
export function sendBare(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 204 ? {} : { 'content-length': 0 })
  response.end()
}

/** `Set-Cookie` in the format of ASP.NET: escaped value, default path `/`. */
function setCookie(cookie: RpcHttpCookie): string {
  const sameSite = SAME_SITE[cookie.sameSite ?? 'none']
  const attributes = [
    `${cookie.name}=${encodeURIComponent(cookie.value)}`,
    cookie.expires && `expires=${new Date(cookie.expires.value.seconds * 1000).toUTCString()}`,
    cookie.maxAge && `max-age=${Math.trunc(cookie.maxAge.value)}`,
    cookie.domain && `domain=${cookie.domain.value}`,
    `path=${cookie.path?.value ?? '/'}`,
    cookie.secure?.value && 'secure',
    sameSite && `samesite=${sameSite}`,
    cookie.httpOnly?.value && 'httponly',
  ]
  return attributes.filter(Boolean).join('; ')
}
