import { randomBytes } from 'node:crypto'
import type { GraphAnswer } from './graph/exchange.ts'
import { formPostPage } from './sign-in-page.ts'

/**
 * The platform of a redirect URI: a page of a browser, or a program on the person's machine. It decides who redeems the
 * code, and how long refresh tokens last. https://learn.microsoft.com/entra/identity-platform/reply-url
 */
export type Platform = 'spa' | 'native'

/** The redirect URIs of the public client. */
export type RedirectUris = {
  /** Undefined for a URI that is not registered. */
  platformOf(uri: string): Platform | undefined
  /** Whether a page of this origin is registered. */
  isOriginOfPage(origin: string): boolean
}

/** `http://localhost` with any port and path. RFC 8252, section 7.3. Addresses such as 127.0.0.1 are not registered. */
const LOOPBACK = /^http:\/\/localhost(:\d{1,5})?(\/[^?#\s\\]*)?$/

/** Pages at paths of the service, and programs at `http://localhost`. A page has precedence. */
export function redirectUrisOf(pagePaths: readonly string[], apiUrl: () => string): RedirectUris {
  const pages = () => pagePaths.map((path) => new URL(path, apiUrl()))
  return {
    platformOf(uri) {
      if (pages().some(({ href }) => href === uri)) return 'spa'
      return LOOPBACK.test(uri) && URL.canParse(uri) ? 'native' : undefined
    },
    isOriginOfPage: (origin) => pages().some((page) => page.origin === origin),
  }
}

/** `form_post` is OAuth 2.0 Form Post Response Mode; the others are OAuth 2.0 Multiple Response Type Encoding. */
export const RESPONSE_MODES = ['query', 'fragment', 'form_post'] as const

/** Where the result of an authorization request is returned. Client and redirect URI are known to be valid. */
export type ReturnAddress = {
  readonly redirectUri: string
  readonly platform: Platform
  readonly responseMode: (typeof RESPONSE_MODES)[number]
  readonly state: string | undefined
}

/** Returns the result of an authorization request to the client. */
export function returned(
  { redirectUri, responseMode, state }: ReturnAddress,
  result: Record<string, string>,
): GraphAnswer {
  const values = new URLSearchParams({
    ...result,
    ...(state === undefined ? {} : { state }),
    session_state: randomBytes(16).toString('hex'),
  })
  const url = new URL(redirectUri)
  if (responseMode === 'form_post') return formPostPage(url.href, values)
  if (responseMode === 'fragment') url.hash = values.toString()
  else url.search = values.toString()
  return redirectTo(url, {})
}

/** A redirect that no cache keeps. */
export function redirectTo(url: URL, headers: Readonly<Record<string, string>>): GraphAnswer {
  return { status: 302, headers: { location: url.href, 'cache-control': 'no-store', ...headers }, body: undefined }
}
