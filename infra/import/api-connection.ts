import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../command.ts'

export type ConnectionSettings = {
  readonly apiUrl: string
  /** An access token. If undefined, one is requested with the client credentials. */
  readonly token: string | undefined
  readonly credentials: ClientCredentials | undefined
  /** Gets an access token in another way than with client credentials. */
  readonly newToken?: (() => Promise<string>) | undefined
}

export type ClientCredentials = {
  readonly clientId: string
  readonly clientSecret: string
  readonly tenantId: string
  readonly authorityUrl: string
  readonly scope: string
}

type Reply = {
  readonly data: unknown
  readonly nextCursor?: string
  /** The entity tag of the record, for `If-Match`. */
  readonly etag: string | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Headers = Readonly<Record<string, string>>

/** Sends a request with retries. @throws ApiRefusal; CommandError without a response */
export type ApiCall = (method: Method, path: string, body?: unknown, headers?: Headers) => Promise<Reply>

export type ApiError = { readonly code: string; readonly message: string; readonly target?: string }

/** The API refused a request. */
export class ApiRefusal extends CommandError {
  readonly status: number
  readonly errors: readonly ApiError[]

  constructor(message: string, status: number, errors: readonly ApiError[]) {
    super(message, { exitCode: 1 })
    this.status = status
    this.errors = errors
  }
}

const TRIES_COUNT = 5
const FIRST_WAIT_MS = 500
const WAIT_LIMIT_MS = 60_000
const CALL_TIMEOUT_MS = 120_000

/** @throws CommandError if no access token is available */
export async function connect(settings: ConnectionSettings): Promise<ApiCall> {
  const { apiUrl, token, credentials, newToken = () => freshToken(credentials) } = settings
  const isRenewable = credentials !== undefined || settings.newToken !== undefined
  let bearer = token ?? (await newToken())
  const send = async (method: Method, path: string, body: unknown, headers: Headers): Promise<Response> => {
    const request = () =>
      fetch(`${apiUrl}${path}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      })
    const response = await withRetries(request, `${method} ${apiUrl}${path}`)
    if (response.status !== 401 || !isRenewable) return response
    // The token can expire during a long run.
    bearer = await newToken()
    return withRetries(request, `${method} ${apiUrl}${path}`)
  }
  return async (method, path, body, headers = {}) => {
    const response = await send(method, path, body, headers)
    const envelope = (await jsonOf(response)) as {
      isSuccess?: boolean
      error?: string
      errors?: readonly ApiError[]
      data?: unknown
      nextCursor?: string
    }
    if (response.ok && envelope.isSuccess === true) {
      return { ...(envelope as Omit<Reply, 'etag'>), etag: response.headers.get('etag') ?? undefined }
    }
    const reason = envelope.error ?? 'the response is not an envelope of this API'
    const message = `${method} ${path} returned ${response.status}: ${reason}`
    throw new ApiRefusal(message, response.status, envelope.errors ?? [])
  }
}

/** Gets an access token with client credentials. @throws CommandError without a token */
export async function freshToken(credentials: ClientCredentials | undefined): Promise<string> {
  if (credentials === undefined) throw new CommandError('A token or client credentials are required')
  const { clientId, clientSecret, tenantId, authorityUrl, scope } = credentials
  const url = `${authorityUrl}/${tenantId}/oauth2/v2.0/token`
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope }
  const response = await withRetries(
    () => fetch(url, { method: 'POST', body: new URLSearchParams(form) }),
    `POST ${url}`,
  )
  const answer = (await jsonOf(response)) as { access_token?: unknown; error_description?: unknown }
  if (response.ok && typeof answer.access_token === 'string') return answer.access_token
  const reason = String(answer.error_description ?? response.status).split('\n')[0]
  throw new CommandError(`Cannot get a token for ${clientId}: ${reason}`, { exitCode: 1 })
}

/** Retries after 429, 5xx and connection errors, after `Retry-After` or with exponential backoff. */
async function withRetries(request: () => Promise<Response>, what: string): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const answer = await request().catch((error: Error) => error)
    const isLast = tries === TRIES_COUNT
    if (answer instanceof Error) {
      if (isLast) throw new CommandError(`${what} failed: ${causeOf(answer)}`, { cause: answer, exitCode: 1 })
    } else if (isLast || (answer.status !== 429 && answer.status < 500)) return answer
    else await answer.body?.cancel()
    await sleep(Math.min(retryAfterMs(answer) ?? FIRST_WAIT_MS * 2 ** (tries - 1), WAIT_LIMIT_MS))
  }
}

function retryAfterMs(answer: Response | Error): number | undefined {
  const seconds = answer instanceof Error ? null : answer.headers.get('retry-after')
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

const causeOf = ({ message, cause }: Error): string => (cause instanceof Error ? cause.message || message : message)

/** A response that is not JSON is reported by its status only. */
const jsonOf = (response: Response): Promise<unknown> => response.json().catch(() => ({}))
