import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Attempts to find a port that is free on both addresses. */
const FREE_PORT_TRIES = 5

/** Error codes of a machine without IPv6. */
const NO_SUCH_ADDRESS: readonly (string | undefined)[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/** Servers that listen on one port of one or two addresses. */
export type OnLocalhost<Kind extends Server> = { readonly port: number; readonly servers: readonly Kind[] }

/**
 * Listens on 127.0.0.1 and, if the machine supports IPv6, on ::1, so that `localhost` works with both.
 * @param port 0 selects a free port
 * @param make creates a server for each address
 * @throws Error `Port N is in use`
 */
export async function listenOnLocalhost<Kind extends Server>(
  port: number,
  make: () => Kind,
): Promise<OnLocalhost<Kind>> {
  for (let tries = 1; ; tries += 1) {
    const first = await listening(make(), port, '127.0.0.1')
    const chosen = (first.address() as AddressInfo).port
    try {
      return { port: chosen, servers: [first, await listening(make(), chosen, '::1')] }
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {}
      if (NO_SUCH_ADDRESS.includes(code)) return { port: chosen, servers: [first] }
      await new Promise((resolve) => first.close(resolve))
      if (port !== 0 || tries === FREE_PORT_TRIES) throw error
    }
  }
}

export type CuttableServer = Pick<HttpServer, 'close' | 'closeAllConnections'>

/**
 * Closes all connections immediately. Only clients close idle ones: one that the server closes at the moment of reuse
 * looks like a lost request.
 */
export async function cutAndClose(servers: readonly CuttableServer[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }),
  )
}

/** The `keepAliveTimeout` of a server whose idle connections only clients close. */
export const NEVER = 0

function listening<Kind extends Server>(server: Kind, port: number, host: string): Promise<Kind> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? `Port ${port} is in use` : `Cannot listen on ${host} port ${port}`
      reject(new Error(reason, { cause }))
    }
    server.once('error', refuse)
    server.listen({ port, host, ipv6Only: host === '::1' }, () => {
      server.off('error', refuse)
      resolve(server)
    })
  })
}
