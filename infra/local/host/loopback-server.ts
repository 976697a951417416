import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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

/** Attempts to find a free port that is free under both addresses. */
const FREE_PORT_ATTEMPTS = 5

/**
 * Serves `localhost`, that is 127.0.0.1 and, where the machine has it, ::1; no other address.
 * @param port 0 takes a free one
 * @throws when the port is in use
 */
export async function listenOnLoopback(port: number, answer: AnswerRequest): Promise<LoopbackServer> {
  const unanswered = new Set<ServerResponse>()
  const track: AnswerRequest = (request, response) => {
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
    answer(request, response)
  }
  for (let attempt = 1; ; attempt++) {
    const servers: Server[] = []
    try {
      const first = await listen('127.0.0.1', port, track)
      servers.push(first)
      const chosen = (first.address() as AddressInfo).port
      const second = await listen('::1', chosen, track).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') throw error
        return undefined // no IPv6 on this machine
      })
      if (second !== undefined) servers.push(second)
      return loopbackServer(chosen, servers, unanswered)
    } catch (cause) {
      for (const server of servers) server.close()
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
      if (port !== 0 || attempt === FREE_PORT_ATTEMPTS) throw new Error(`Port ${port} is in use`, { cause })
    }
  }
}

function listen(address: string, port: number, answer: AnswerRequest): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES }, answer)
  server.once('error', reject)
  server.listen(port, address, () => resolve(server.off('error', reject)))
  return promise
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
