/**
 * Decodes a raw path like Kestrel: once, except `%2F` and invalid UTF-8, and then resolves dot segments. Undefined for
 * a path with `%00`, which Kestrel refuses.
 */
export function decodePath(rawPath: string): string | undefined {
  if (/%00/.test(rawPath)) return undefined
  return withoutDotSegments(rawPath.includes('%') ? rawPath.replace(ENCODED_OCTETS, decodedOctets) : rawPath)
}

const ENCODED_OCTETS = /(?:%(?!2f)[\da-f]{2})+/gi

function decodedOctets(octets: string): string {
  try {
    return decodeURIComponent(octets)
  } catch {
    return octets
  }
}

/** RFC 3986, section 5.2.4. */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path
  const kept: string[] = []
  const segments = path.slice(1).split('/')
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    if (segment !== '..' && segment !== '.') kept.push(segment)
  }
  if (['.', '..'].includes(segments.at(-1) ?? '')) kept.push('')
  return `/${kept.join('/')}`
}

/**
 * Encodes a decoded path like `PathString.ToUriComponent` of ASP.NET, from which the host makes the URL of a request.
 * What looks like an encoded octet stays, so that the raw path `%2541` arrives as `%41`.
 */
export function encodePath(path: string): string {
  return path.replace(NOT_IN_PATHS, encodeURIComponent)
}

const NOT_IN_PATHS = /%(?![\da-f]{2})|[^\w.~!$&'()*+,;=:@/%-]/giu
