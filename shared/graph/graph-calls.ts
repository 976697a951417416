import type { Client } from '@microsoft/microsoft-graph-client'
import { type GraphReply, retryAfterMsOf } from './graph-reply.ts'
import type { GraphTokens } from './graph-tokens.ts'

export type GraphCall = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the version: `/groups/...`, with the query. */
  readonly path: string
  readonly body?: unknown
}

/** Sends one call, once. Never rejects for what the directory answers or fails to answer. @throws DirectoryFault without a token. */
export type SendCall = (tenantId: string, call: GraphCall) => Promise<GraphReply>

/** Milliseconds after which a call counts as unanswered: the client itself would wait for ever. */
const TIMEOUT_MS = 20_000

const NO_ANSWER: GraphReply = { status: 0, body: undefined, isJson: false, retryAfterMs: undefined }

type Library = typeof import('@microsoft/microsoft-graph-client')

/**
 * Calls through Microsoft's client: one for each call, since the tenant's token is part of it, and making one takes a
 * microsecond. Its own retries are left out: they repeat writes without telling, and know half of the statuses that
 * matter.
 */
export function graphCalls(graphUrl: string, tokens: GraphTokens, nowMs: () => number): SendCall {
  let library: Promise<Library> | undefined
  return async (tenantId, call) => {
    // Before the client asks for it, which would turn its failure into one of the call.
    await tokens.of(tenantId)
    // Loaded by the first call, as the credential's package is.
    library ??= import('@microsoft/microsoft-graph-client')
    const loaded = await library
    const client = openClient(loaded, graphUrl, () => tokens.of(tenantId))
    const reply = await sendOnce(loaded, client, call, nowMs)
    if (reply.status === 401) tokens.forget(tenantId)
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
    // Without it the client sends its token to Microsoft's own hosts alone.
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
    // Refused, reset or timed out: whether it was carried out, nobody can tell.
    return NO_ANSWER
  }
}

function send(request: ReturnType<Client['api']>, { method, body }: GraphCall): Promise<Response> {
  switch (method) {
    case 'GET':
      return request.get()
    case 'DELETE':
      return request.delete()
    case 'PATCH':
      return request.patch(body)
    case 'POST':
      return request.post(body)
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
