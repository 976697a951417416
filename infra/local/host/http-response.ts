import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { InvocationResponse, RpcHttpCookie } from './programming-model.ts'

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
