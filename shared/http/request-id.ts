import type { HttpRequest } from './read-body.ts'

/** Decisions, section 10. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's own id for the request, if it is a sane one; else a new one. */
export function requestIdOf(request: Pick<HttpRequest, 'header'>, newId: () => string): string {
  const given = request.header('x-request-id') ?? ''
  return SANE_REQUEST_ID.test(given) ? given : newId()
}
