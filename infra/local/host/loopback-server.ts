import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listenOnLocalhost } from '../localhost.ts'

export type LoopbackServer = {
  readonly port: number
  /** Takes no more connections; resolves when every request has its answer. */
  close(): Promise<void>
  /** Cuts what is still open. */
  cut(): void
}

export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void

/** Kestrel's limits: idle connections live for 130 s, request headers may have 32 KiB. */
const KEEP_ALIVE_MS = 130_000
const MAX_HEADER_BYTES = 32_768

/** A request that has not come whole by then is answered 408 and its connection ended, however slowly it goes on. */
const REQUEST_TIMEOUT_MS = 60_000

/** Serves localhost. @param port 0 takes a free one @throws Error that names the port, when it is in use */
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
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    // How often it is looked for requests that are late.
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
  }
  const make = () => createServer(limits, track)
  const { port: chosen, servers } = await listenOnLocalhost(port, make)
  return loopbackServer(chosen, servers, unanswered)
}

function loopbackServer(port: number, servers: readonly Server[], unanswered: ReadonlySet<ServerResponse>) {
  // What is answered from now on ends its connection, which would otherwise hold the server open.
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
