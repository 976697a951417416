import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { InvocationResponse, RpcHttpData, RpcNullable } from './programming-model.ts'
import { decodePath, encodePath } from './request-path.ts'
import type { RouteValues } from './route-table.ts'

/** The platform's limit. https://learn.microsoft.com/azure/azure-functions/functions-bindings-http-webhook-trigger */
const MAX_BODY_BYTES = 104_857_600

/** Host names and ports. Other values would let a header change the URL. */
const HOST_HEADER = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/** `path` is decoded. */
export type RequestTarget = { readonly origin: string; readonly path: string; readonly query: string }

/** Splits the target of the request line. Undefined if it cannot be the URL of a function. */
export function requestTarget(request: IncomingMessage): RequestTarget | undefined {
  const target = request.url ?? ''
  const authority = request.headers.host ?? `localhost:${request.socket.localPort}`
  if (!HOST_HEADER.test(authority) || !target.startsWith('/')) return undefined
  const [rawPath = ''] = target.split('?', 1)
  const path = decodePath(rawPath)
  return path === undefined ? undefined : { origin: `http://${authority}`, path, query: target.slice(rawPath.length) }
}

/**
 * Reads the body. `too-large` if it exceeds the limit of the platform, `aborted` if the client disconnected before its
 * end. Like on the platform, a body without a content length, which is a chunked one, is not read and arrives empty.
 * https://github.com/Azure/azure-functions-host/issues/4926
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'aborted'> {
  const lengthBytes = Number(request.headers['content-length'] ?? 0)
  if (lengthBytes > MAX_BODY_BYTES) return 'too-large'
  if (lengthBytes === 0) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
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
    url: origin + encodePath(path) + query,
    nullableHeaders: nullable(headersOf(request)),
    nullableQuery: query === '' ? {} : queryValues(query),
    nullableParams: nullable(Object.entries(params)),
  }
  if (body.length > 0) data.body = { bytes: body }
  return data
}

function nullable(entries: Iterable<readonly [string, string]>): Record<string, RpcNullable<string>> {
  const values: Record<string, RpcNullable<string>> = Object.create(null)
  for (const [name, value] of entries) values[name] = { value }
  return values
}

/** The host joins all values of a header, where Node.js keeps only the first of some, `Authorization` among them. */
function headersOf({ headersDistinct }: IncomingMessage): [string, string][] {
  return Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')])
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
  // The platform does not state the length of a response to HEAD, not even the one that the handler sets.
  if (status !== 204 && status !== 304 && response.req.method !== 'HEAD') headers['content-length'] = body.length
  response.writeHead(status, headers)
  response.end(body)
}

/** A response of the host: a status without body and content type. */
export function sendBare(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 204 ? {} : { 'content-length': 0 })
  response.end()
}
