import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { listenOnLocalhost } from '../localhost.ts'

/** A connection that ends while a client is about to use it again looks like a lost request: clients end them, not we. */
const NEVER = 0

export type LoopbackServer = { readonly port: number; close(): Promise<void> }

/** Serves localhost by TLS. @param port 0 is any free one. @throws Error that names the port, when it is taken. */
export async function listenOnLoopback(
  port: number,
  tls: { readonly cert: string; readonly key: string },
  serve: RequestListener,
): Promise<LoopbackServer> {
  const make = () => createServer({ ...tls, keepAliveTimeout: NEVER }, serve)
  const { port: chosen, servers } = await listenOnLocalhost(port, make)
  return { port: chosen, close: () => closed(servers) }
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
