import type { DemoAnswer } from '../directory/seed.ts'

/** Base URLs and scope for calls as an application of the demo. */
export type ApiAccess = {
  readonly apiUrl: string
  readonly directoryUrl: string
  readonly demo: Pick<DemoAnswer, 'scope'>
  readonly fetch?: typeof globalThis.fetch
}

export type Credentials = { readonly name: string; readonly clientId: string; readonly clientSecret: string }

type Envelope = {
  readonly data: unknown
  readonly isSuccess: boolean
  readonly errors?: readonly { readonly code?: string; readonly message?: string }[]
  readonly nextCursor?: string
}

/** Sends a request and returns its envelope. @throws Error with the status and the reason of a failure */
export type Call = (method: string, path: string, body?: unknown) => Promise<Envelope>

const CALL_TIMEOUT_MS = 120_000

/** Signs in once. The token is valid for an hour. @throws Error with the reason if no token is issued */
export async function apiCaller(tenantId: string, app: Credentials, access: ApiAccess): Promise<Call> {
  const { fetch = globalThis.fetch, apiUrl } = access
  const token = await accessToken(tenantId, app, access.demo.scope, access)
  return async (method, path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    })
    const text = await response.text()
    const envelope = parsed(text) as Partial<Envelope> | undefined
    if (response.ok && envelope?.isSuccess === true) return envelope as Envelope
    const reason = envelope?.errors?.map(({ code, message }) => `${code}: ${message}`).join('; ') || text.slice(0, 200)
    throw new Error(`${method} ${path} as ${app.name} returned ${response.status}: ${reason}`)
  }
}

/** Requests a token of the demo directory with client credentials. @throws Error with the reason of a failure */
export async function accessToken(
  tenantId: string,
  app: Credentials,
  scope: string,
  { fetch = globalThis.fetch, directoryUrl }: Pick<ApiAccess, 'fetch' | 'directoryUrl'>,
): Promise<string> {
  const response = await fetch(`${directoryUrl}/${tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: app.clientId,
      client_secret: app.clientSecret,
      scope,
    }),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  })
  const answer = parsed(await response.text()) as { access_token?: unknown; error_description?: unknown } | undefined
  if (response.ok && typeof answer?.access_token === 'string') return answer.access_token
  throw new Error(
    `Cannot get a token for ${app.name} in tenant ${tenantId}: ${response.status} ${answer?.error_description}`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not a response of the API: the caller reports the status and the text.
    return undefined
  }
}
