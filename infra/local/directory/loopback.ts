import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'

/** Tries for a port that is free on both addresses. */
const FREE_PORT_TRIES = 5

/** A connection that ends while a client is about to use it again looks like a lost request: clients end them, not we. */
const NEVER = 0

export type LoopbackServer = { readonly port: number; close(): Promise<void> }

/**
 * Listens on 127.0.0.1 and, where the machine has it, on ::1, so that the name localhost works either way.
 * Port 0 is any free one. @throws Error that names the port, when it is taken.
 */
export async function listenOnLoopback(
  port: number,
  tls: { readonly cert: string; readonly key: string },
  serve: RequestListener,
): Promise<LoopbackServer> {
  for (let tries = 1; ; tries += 1) {
    const first = await listening(createServer({ ...tls, keepAliveTimeout: NEVER }, serve), port, '127.0.0.1')
    const chosen = (first.address() as AddressInfo).port
    try {
      const servers = [first, await listening(createServer({ ...tls, keepAliveTimeout: NEVER }, serve), chosen, '::1')]
      return { port: chosen, close: () => closed(servers) }
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {}
      if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return { port: chosen, close: () => closed([first]) }
      await closed([first])
      if (port !== 0 || tries === FREE_PORT_TRIES) throw error
    }
  }
}

function listening(server: Server, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? `Port ${port} is in use` : `Cannot listen on ${host} port ${port}`
      reject(new Error(`${reason}: the directory cannot start`, { cause }))
    })
    server.listen({ port, host, ipv6Only: host === '::1' }, () => resolve(server))
  })
}

async function closed(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await ended
    }),
  )
}
