import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import rhea, { type Container, type EventContext, type link, type Receiver, type Sender } from 'rhea'
import { requireToken } from './access-tokens.ts'
import type { Entities } from './entities.ts'
import { openManagementLink, openQueueLink, openTokenLink } from './incoming-link.ts'
import { type Intake, MAX_MESSAGE_SIZE_BYTES } from './intake.ts'
import type { MessageStore } from './message-store.ts'
import { openOutgoingLink } from './outgoing-link.ts'
import { asRefusal, BusRefusal } from './refusal.ts'
import { keepMessagesRaw } from './rhea-internals.ts'

const HOST = '127.0.0.1'

/** Parts of the broker that links use. */
export type Nodes = {
  readonly entities: Entities
  readonly intake: Intake
  readonly store: MessageStore
  readonly nowMs: () => number
  /** Receives protocol errors of clients, which close their connection, and errors of the broker. */
  readonly onFault: (fault: unknown) => void
}

export type Listener = {
  readonly port: number
  /** Drops all connections, like a network failure. */
  dropConnections(): void
  close(): Promise<void>
}

/** Serves AMQP 1.0 on the loopback interface. @throws Error that names the port in use */
export async function listen(port: number, nodes: Nodes): Promise<Listener> {
  const container = rhea.create_container({ id: 'local-service-bus', tcp_no_delay: true })
  serveLinks(container, nodes)
  const server = container.listen({
    port,
    host: HOST,
    max_frame_size: 65_536,
    channel_max: 8_191,
    idle_time_out: 120_000,
    session_buffer_size: 16_384,
    receiver_options: { autoaccept: false, credit_window: 1_000, max_message_size: MAX_MESSAGE_SIZE_BYTES },
    sender_options: { treat_modified_as_released: false } as object,
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(`The queues cannot listen on port ${port} of ${HOST}: ${reasonOf(cause)}`, { cause })
  })
  const dropConnections = (): void => {
    // The error makes rhea release the connection.
    for (const socket of sockets) socket.destroy(new Error('The broker dropped the connection.'))
  }
  return {
    port: (server.address() as AddressInfo).port,
    dropConnections,
    async close() {
      dropConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function serveLinks(container: Container, nodes: Nodes): void {
  const { entities, onFault } = nodes
  container.on('session_open', ({ session }: EventContext) => {
    if (session !== undefined) keepMessagesRaw(session)
  })
  container.on('sender_open', ({ sender }: EventContext) => {
    if (sender !== undefined) orRefused(sender, () => attachReceiverOf(sender, nodes))
  })
  container.on('receiver_open', ({ receiver }: EventContext) => {
    if (receiver !== undefined) orRefused(receiver, () => attachSenderTo(receiver, nodes))
  })
  for (const end of ['sender_close', 'session_close', 'connection_close', 'disconnected']) {
    container.on(end, () => entities.prune())
  }
  container.on('receiver_close', () => {})
  container.on('protocol_error', onFault)
  container.on('error', onFault)
}

/** A client opens a link to receive messages or replies. */
function attachReceiverOf(sender: Sender, { entities, store, nowMs }: Nodes): void {
  const address = parseAddress(sender.source?.address)
  if (address.node === 'tokens') return
  requireToken(sender.connection)
  const entity = entities.find(address.queue, address.isDeadLetter)
  if (address.node === 'queue') openOutgoingLink(sender, entity, store, nowMs)
}

/** A client opens a link to send messages or requests. */
function attachSenderTo(receiver: Receiver, { entities, intake, store, nowMs }: Nodes): void {
  const address = parseAddress(receiver.target?.address)
  if (address.node === 'tokens') {
    openTokenLink(receiver, store)
    return
  }
  requireToken(receiver.connection)
  const entity = entities.find(address.queue, address.isDeadLetter)
  if (address.node === 'queue') openQueueLink(receiver, entity, intake, store)
  else openManagementLink(receiver, entity, intake, store, nowMs)
}

/** Rejects a link: the protocol requires to open it without a target, and to close it with the reason. */
function orRefused(attached: link, attach: () => void): void {
  try {
    attach()
    attached.set_source({ address: attached.source?.address })
    attached.set_target({ address: attached.target?.address })
  } catch (failure) {
    attached.close(asRefusal(failure).amqpError)
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && cause.code === 'EADDRINUSE' ? 'the port is in use by another program.' : cause.message
}

/** The node that a link attaches to. Queue names are lower-case because they are case-insensitive in Azure. */
type Address =
  | { readonly node: 'tokens' }
  | { readonly node: 'queue' | 'management'; readonly queue: string; readonly isDeadLetter: boolean }

/**
 * Parses `$cbs`, `queue`, `queue/$DeadLetterQueue` and either with `/$management`, also as `sb://host/queue` or with a
 * leading slash. @throws BusRefusal for anything else: subscriptions, transfer queues, transaction coordinators.
 */
function parseAddress(text: string | undefined): Address {
  if (!text) throw new BusRefusal('amqp:not-implemented', 'Links without an address (transactions) are not supported.')
  const path = text.toLowerCase().replace(/^[a-z]+:\/\/[^/]*/, '')
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.length === 1 && parts[0] === '$cbs') return { node: 'tokens' }
  const isManagement = parts.at(-1) === '$management'
  if (isManagement) parts.pop()
  const isDeadLetter = parts.at(-1) === '$deadletterqueue'
  if (isDeadLetter) parts.pop()
  if (parts.some((part) => part === 'subscriptions' || part.startsWith('$'))) {
    throw new BusRefusal(
      'amqp:not-implemented',
      `Only queues and their dead-letter queues are supported, not '${text}'.`,
    )
  }
  return { node: isManagement ? 'management' : 'queue', queue: parts.join('/'), isDeadLetter }
}
