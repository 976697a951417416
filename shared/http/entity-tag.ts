import type { HttpRequest } from './read-body.ts'

/** Whether the caller of a reading request has this version already: RFC 9110, section 13.1.2, compared weakly. */
export function isKnownVersion(request: Pick<HttpRequest, 'method' | 'header'>, etag: string | undefined): boolean {
  const known = request.header('if-none-match')?.trim()
  if (known === undefined || etag === undefined || !['GET', 'HEAD'].includes(request.method)) return false
  const strong = (tag: string) => tag.trim().replace(/^W\//, '')
  return known === '*' || known.split(',').map(strong).includes(strong(etag))
}
