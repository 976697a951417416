import type { IncomingMessage } from 'node:http'

/** Limits of Kestrel. https://learn.microsoft.com/aspnet/core/fundamentals/servers/kestrel/options */
const MAX_REQUEST_LINE_BYTES = 8_192
const MAX_HEADERS_COUNT = 100
const MAX_HEADERS_BYTES = 32_768

/** The largest request that Node.js must parse for `refusedStatus` to see it. */
export const MAX_REQUEST_HEAD_BYTES = 2 * MAX_HEADERS_BYTES

/** The status with which the server refuses a request before the host sees it. Undefined for a valid request. */
export function refusedStatus({ method = '', url = '', rawHeaders }: IncomingMessage): 400 | 414 | 431 | undefined {
  if (`${method} ${url} HTTP/1.1\r\n`.length > MAX_REQUEST_LINE_BYTES) return 414
  if (/[^!-~]/.test(url)) return 400
  if (rawHeaders.length / 2 > MAX_HEADERS_COUNT) return 431
  // Each header is a name, a colon, a space, a value and a line end.
  const headerBytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0)
  return headerBytes > MAX_HEADERS_BYTES ? 431 : undefined
}
