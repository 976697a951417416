import type { Client } from '@microsoft/microsoft-graph-client'
import { DirectoryFault } from '../domain/group-links/directory.ts'
import type { GraphTokens } from './graph-tokens.ts'

export type GraphCall = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the version segment: `/groups/...`, with the query. */
  readonly path: string
  readonly body?: unknown
  /** Of a text as the body. Absent: JSON. */
  readonly contentType?: 'text/plain'
}

/** Graph's response to one call, or to one item of a batch. */
export type GraphReply = {
  /** 0 without a response. */
  readonly status: number
  /** Parsed JSON; undefined when there is none. */
  readonly body: unknown
  /** False for a body that is not JSON. It comes from a proxy or gateway, not from Graph. */
  readonly isJson: boolean
  readonly retryAfterMs: number | undefined
}

/**
 * Sends one call, once. Resolves for every response and also without one.
 * @throws DirectoryFault when no token can be obtained.
 */
export type SendCall = (tenantId: string, call: GraphCall) => Promise<GraphReply>

/** Milliseconds after which a call ends without a response. The client has no timeout of its own. */
const TIMEOUT_MS = 20_000

export const NO_REPLY: GraphReply = { status: 0, body: undefined, isJson: false, retryAfterMs: undefined }

type Library = typeof import('@microsoft/microsoft-graph-client')

/**
 * Calls through Microsoft's client. Each call has a client of its own, because the client holds the tenant's token;
 * creating one takes a microsecond. The client's retry middleware is left out: it does not report that a write was
 * repeated, and does not retry all statuses that `replyKind` covers.
 */
export function graphCalls(graphUrl: string, tokens: GraphTokens, nowMs: () => number): SendCall {
  let library: Promise<Library> | undefined
  return async (tenantId, call) => {
    // The client would report a token failure as a failed call.
    await tokens.get(tenantId)
    // Loaded with the first call, so that functions that do not call the directory start without it.
    library ??= import('@microsoft/microsoft-graph-client')
    const loaded = await library
    const client = openClient(loaded, graphUrl, () => tokens.get(tenantId))
    const reply = await sendOnce(loaded, client, call, nowMs)
    if (reply.status === 401) tokens.invalidate(tenantId)
    return reply
  }
}

function openClient(graph: Library, graphUrl: string, getAccessToken: () => Promise<string>): Client {
  const authentication = new graph.AuthenticationHandler({ getAccessToken })
  const telemetry = new graph.TelemetryHandler()
  authentication.setNext(telemetry)
  telemetry.setNext(new graph.HTTPMessageHandler())
  return graph.Client.initWithMiddleware({
    middleware: authentication,
    baseUrl: `${graphUrl}/`,
    defaultVersion: 'v1.0',
    // Without this, the client sends the token to Microsoft's hosts only.
    customHosts: new Set([new URL(graphUrl).hostname]),
  })
}

async function sendOnce(
  { ResponseType }: Library,
  client: Client,
  call: GraphCall,
  nowMs: () => number,
): Promise<GraphReply> {
  try {
    const request = client
      .api(call.path)
      .responseType(ResponseType.RAW)
      .option('signal', AbortSignal.timeout(TIMEOUT_MS))
    const response: Response = await send(request, call)
    const text = await response.text()
    return {
      status: response.status,
      ...parsed(text),
      retryAfterMs: retryAfterMsOf(response.headers.get('retry-after'), nowMs()),
    }
  } catch {
    // Refused, reset or timed out: the call may have taken effect.
    return NO_REPLY
  }
}

function send(request: ReturnType<Client['api']>, { method, body, contentType }: GraphCall): Promise<Response> {
  switch (method) {
    case 'GET':
      return request.get()
    case 'DELETE':
      return request.delete()
    case 'PATCH':
      return request.patch(body)
    case 'POST':
      return (contentType === undefined ? request : request.header('content-type', contentType)).post(body)
  }
}

function parsed(text: string): { body: unknown; isJson: boolean } {
  if (text === '') return { body: undefined, isJson: true }
  try {
    return { body: JSON.parse(text), isJson: true }
  } catch {
    return { body: undefined, isJson: false }
  }
}

/** What a reply means for its call. */
export type ReplyKind =
  /** The call has taken effect. */
  | 'done'
  /** Graph has refused the call. A retry gets the same reply. */
  | 'denied'
  /** The call can be retried after the time in the reply. */
  | 'throttled'
  /** No valid response. The call may have taken effect. */
  | 'unclear'

/** Statuses after which a retry may succeed. After a 401, the retry has a new token. */
const UNCLEAR_STATUSES: readonly number[] = [0, 401, 408, 409, 500, 502, 503, 504]

/** Decided by the status, and by whether the body comes from Graph. */
export function replyKind(reply: GraphReply): ReplyKind {
  if (reply.status === 429) return 'throttled'
  if (UNCLEAR_STATUSES.includes(reply.status) || !reply.isJson || reply.status >= 500) return 'unclear'
  return reply.status < 300 ? 'done' : 'denied'
}

/** The message of Graph's error body; empty without one. */
export function replyMessage({ body }: GraphReply): string {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof message === 'string' ? message : ''
}

/** The fault of a call whose reply is not `done`. */
export function replyFault(reply: GraphReply): DirectoryFault {
  const kind = replyKind(reply)
  if (kind === 'throttled') {
    const { retryAfterMs } = reply
    return new DirectoryFault('throttled', 'The directory is throttling requests.', {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
  if (kind === 'unclear') {
    const what = reply.status === 0 ? 'did not respond' : `returned HTTP ${reply.status}`
    return new DirectoryFault('unavailable', `The directory ${what}. Retries have failed.`)
  }
  const reason = replyMessage(reply)
  const message = `The directory returned HTTP ${reply.status}${reason === '' ? '.' : `: ${reason}`}`
  return new DirectoryFault(reply.status === 404 ? 'groupMissing' : 'refused', message)
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
export function retryAfterMsOf(header: string | null | undefined, nowMs: number): number | undefined {
  if (header === null || header === undefined || header.trim() === '') return undefined
  const waitMs = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined
}
