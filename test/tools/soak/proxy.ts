import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A TCP proxy between one host and one server. */
export type FaultyProxy = {
  readonly port: number
  /** Delays each chunk, in both directions. */
  delayBy(delayMs: number): void
  /** Destroys all connections. */
  cut(): void
  /** Destroys new connections, too. */
  refuse(): void
  /** Accepts data and forwards nothing. Healing destroys the affected connections. */
  stall(): void
  /** Destroys the next connection on which the server answers, without the answer. */
  loseNextAnswer(): void
  heal(): void
  close(): void
}

type Connection = { readonly client: Socket; readonly server: Socket; isStalled: boolean }

export async function startProxy(targetPort: number): Promise<FaultyProxy> {
  const connections = new Set<Connection>()
  let delayMs = 0
  let isRefusing = false
  let isStalling = false
  let isAnswerLost = false
  const destroy = ({ client, server }: Connection): void => {
    client.destroy()
    server.destroy()
  }
  const forward = (connection: Connection, from: Socket, to: Socket, isAnswer: boolean): void => {
    let earlier: Promise<unknown> = Promise.resolve()
    from.on('data', (chunk) => {
      if (isAnswer && isAnswerLost) {
        isAnswerLost = false
        destroy(connection)
        return
      }
      if (isStalling) connection.isStalled = true
      if (connection.isStalled) return
      const dueMs = delayMs
      earlier = earlier.then(() => (dueMs > 0 ? sleep(dueMs) : undefined)).then(() => to.writable && to.write(chunk))
    })
    from.on('end', () => void earlier.then(() => to.end()))
    from.on('error', () => destroy(connection))
    from.on('close', () => void earlier.then(() => to.destroySoon()))
  }
  const listener = createServer((client) => {
    if (isRefusing) {
      client.destroy()
      return
    }
    const server = connect(targetPort, '127.0.0.1')
    const connection = { client, server, isStalled: false }
    connections.add(connection)
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.once('close', () => connections.delete(connection))
    forward(connection, client, server, false)
    forward(connection, server, client, true)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = () => connections.forEach(destroy)
  return {
    port: (listener.address() as AddressInfo).port,
    delayBy(ms) {
      delayMs = ms
    },
    cut,
    refuse() {
      isRefusing = true
      cut()
    },
    stall() {
      isStalling = true
    },
    loseNextAnswer() {
      isAnswerLost = true
    },
    heal() {
      delayMs = 0
      isRefusing = false
      isStalling = false
      isAnswerLost = false
      for (const connection of connections) if (connection.isStalled) destroy(connection)
    },
    close() {
      listener.close()
      cut()
    },
  }
}
