import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listenOnLocalhost } from '../localhost.ts'
import { MAX_REQUEST_HEAD_BYTES } from './request-limits.ts'

export type LoopbackServer = {
  readonly port: number
  /** Accepts no more connections. Resolves when all requests are answered. */
  close(): Promise<void>
  /** Drops open connections. */
  cut(): void
}

export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void

/** Idle timeout of connections, as of Kestrel. */
const KEEP_ALIVE_MS = 130_000

/** Time limit to receive a request. A slower request gets 408, and its connection is closed. */
const REQUEST_TIMEOUT_MS = 60_000

/** Serves localhost. @param port 0 selects a free port @throws Error that names the port in use */
export async function listenOnLoopback(
  port: number,
  answer: AnswerRequest,
  requestTimeoutMs: number = REQUEST_TIMEOUT_MS,
): Promise<LoopbackServer> {
  const unanswered = new Set<ServerResponse>()
  const track: AnswerRequest = (request, response) => {
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
    answer(request, response)
  }
  const limits = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    // Interval of the check for slow requests.
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
  }
  const make = () => createServer(limits, track)
  const { port: chosen, servers } = await listenOnLocalhost(port, make)
  return loopbackServer(chosen, servers, unanswered)
}

function loopbackServer(port: number, servers: readonly Server[], unanswered: ReadonlySet<ServerResponse>) {
  // Closes each connection after its response. Otherwise it would keep the server open.
  const endConnection = (_: unknown, response: ServerResponse) => response.setHeader('connection', 'close')
  const closed = (server: Server) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.prependListener('request', endConnection)
    server.close(() => resolve())
    return promise
  }
  return {
    port,
    async close() {
      for (const response of unanswered) if (!response.headersSent) endConnection(undefined, response)
      await Promise.all(servers.map(closed))
    },
    cut: () => servers.forEach((server) => void server.closeAllConnections()),
  }
}
