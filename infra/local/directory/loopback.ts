import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { listenOnLocalhost } from '../localhost.ts'

/** Only clients close idle connections: one closed by the server at the moment of reuse looks like a lost request. */
const NEVER = 0

export type LoopbackServer = { readonly port: number; close(): Promise<void> }

/** Serves localhost with TLS. @param port 0 selects a free port @throws Error that names the port in use */
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
