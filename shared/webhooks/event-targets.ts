import { isIP } from 'node:net'
import { isPublicAddress } from './public-addresses.ts'

/** How an address may be connected to. */
export type TargetKind =
  /** Only to public addresses. */
  | 'public'
  /** To any: the settings allow it. */
  | 'allowed'
  | { readonly fault: string }

/**
 * Whether events may be sent to an address. The parser of URLs turns other notations of an IPv4 address (octal,
 * hexadecimal, a single number) into the usual one.
 * @param allowed Prefixes that are allowed besides public addresses: scheme and whole host, the port if given, then path.
 */
export function targetKind(text: string, allowed: readonly string[]): TargetKind {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return { fault: 'is not a URL' }
  if (url.username !== '' || url.password !== '') return { fault: 'must not contain credentials' }
  if (allowed.some((prefix) => hasPrefix(url, prefix))) return 'allowed'
  if (url.protocol !== 'https:') return { fault: 'must begin with https:' }
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isPublicAddress(host)) return { fault: 'must be a public address' }
  return 'public'
}

/** The host, an IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function hasPrefix(url: URL, text: string): boolean {
  const prefix = new URL(text)
  const isHost = url.protocol === prefix.protocol && url.hostname === prefix.hostname
  return isHost && (!namesPort(text) || prefix.port === url.port) && isBelow(url.pathname, prefix.pathname)
}

/** The parser of URLs drops the port that is usual for the scheme. */
const namesPort = (text: string): boolean => /^[a-z]+:\/\/[^/?#]*:\d+(?:[/?#]|$)/i.test(text)

function isBelow(path: string, prefix: string): boolean {
  const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
  return path === prefix || path.startsWith(folder)
}
