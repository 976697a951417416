/**
 * Preloaded into each server and host of a soak run. Shifts the clock of the process and redirects its connections, so
 * that the program itself and its settings stay as they are.
 */
import { Socket } from 'node:net'

/** Message that sets how far the clock of a process is ahead. */
export type ClockMessage = { readonly clockAheadMs: number }

let aheadMs = Number(process.env.SOAK_CLOCK_AHEAD_MS ?? 0)
const RealDate = Date
const realNow = Date.now.bind(Date)
const now = () => realNow() + aheadMs

Date.now = now
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given, target),
  apply: () => new RealDate(now()).toString(),
})

process.on('message', (message: Partial<ClockMessage>) => {
  if (message.clockAheadMs !== undefined) aheadMs = message.clockAheadMs
})

/** `from:to` ports, comma-separated: connections to a server go through the proxy of this process. */
const redirected = new Map(
  (process.env.SOAK_REDIRECTED_PORTS ?? '')
    .split(',')
    .filter(Boolean)
    .map((pair) => pair.split(':').map(Number) as [number, number]),
)

type Connect = (this: Socket, ...args: unknown[]) => Socket
const prototype = Socket.prototype as unknown as { connect: Connect }
const connect = prototype.connect
prototype.connect = function redirectedConnect(...args) {
  // `net.connect` passes its normalized arguments as one array.
  const list = Array.isArray(args[0]) ? args[0] : args
  const options = list[0] as { port?: number | string } | undefined
  const port = redirected.get(Number(options?.port))
  if (port !== undefined) list[0] = { ...options, port, host: '127.0.0.1' }
  return connect.apply(this, args)
}
