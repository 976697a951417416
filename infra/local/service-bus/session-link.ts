import rhea, { type Sender, type Typed } from 'rhea'
import type { SessionWaiter } from './dispatcher.ts'
import type { Entity } from './entities.ts'
import type { MessageStore } from './message-store.ts'
import { consumerOn } from './outgoing-link.ts'
import { BusRefusal } from './refusal.ts'
import { answerWithProperties, withholdOpening } from './rhea-internals.ts'
import type { SessionLock } from './session-locks.ts'

const SESSION_FILTER = 'com.microsoft:session-filter'
const LOCKED_UNTIL = 'com.microsoft:locked-until-utc'
const TIMEOUT = 'com.microsoft:timeout'

/** The longest wait for a session, as of the service. */
const LONGEST_WAIT_MS = 65_000

/** .NET counts instants in units of 100 ns since year 1. */
const TICKS_PER_MS = 10_000n
const EPOCH_TICKS = 621_355_968_000_000_000n

/** The source in the answer to a client that opens a link: which session it is. */
export type LinkSource = { readonly address: string; readonly filter: object }

/** Whether the client wants to receive a session. */
export const isForSessions = (sender: Sender): boolean => Object.hasOwn(sender.source?.filter ?? {}, SESSION_FILTER)

/**
 * A link on which a client receives one session: the named one, or the next one with a ready message. Without one, the
 * answer to the client is withheld until there is one, or the time of the client is over. The session ends with the
 * link. When the connection is lost, it stays locked until its lock expires.
 * @returns The source that names the session. Undefined while the answer is withheld.
 * @throws BusRefusal `com.microsoft:session-cannot-be-locked` for a named session that is held
 */
export function openSessionLink(
  sender: Sender,
  entity: Entity,
  store: MessageStore,
  nowMs: () => number,
): LinkSource | undefined {
  const { queue, dispatcher } = entity
  const { name, requiresSession } = queue.settings
  if (!requiresSession) throw new BusRefusal('amqp:not-allowed', `The queue '${name}' has no sessions.`)
  const wanted: unknown = sender.source.filter?.[SESSION_FILTER]
  const sessionId = typeof wanted === 'string' ? wanted : undefined
  const accept = (session: SessionLock) => {
    sender.on('sender_close', () => {
      queue.releaseSession(session, nowMs())
      dispatcher.prune()
    })
    answerWithProperties(sender, { [LOCKED_UNTIL]: ticksAt(session.untilMs) })
    return consumerOn(sender, entity, store, nowMs, session)
  }
  const session = queue.acceptSession(sessionId, nowMs())
  if (session !== undefined) {
    dispatcher.add(accept(session))
    return sourceOf(sender, session)
  }
  if (sessionId !== undefined) {
    throw new BusRefusal('com.microsoft:session-cannot-be-locked', `The session '${sessionId}' is held.`)
  }
  awaitSession(sender, entity, accept)
  return undefined
}

function awaitSession(sender: Sender, { dispatcher }: Entity, accept: SessionWaiter['accept']): void {
  withholdOpening(sender)
  const waiter: SessionWaiter = {
    accept(session) {
      const consumer = accept(session)
      sender.set_source(sourceOf(sender, session))
      sender.open()
      return consumer
    },
    isOpen: () => sender.is_remote_open(),
    stop() {
      clearTimeout(timer)
      sender.removeListener('sender_close', onClose)
    },
  }
  // A client that gives up first is answered like the holder of an open link.
  const onClose = () => {
    sender.open()
    dispatcher.prune()
  }
  const timer = setTimeout(() => {
    dispatcher.removeWaiter(waiter)
    sender.open()
    sender.close(new BusRefusal('com.microsoft:timeout', 'No session has a message.').amqpError)
  }, waitMs(sender))
  sender.on('sender_close', onClose)
  dispatcher.addWaiter(waiter)
}

function waitMs(sender: Sender): number {
  const requested = Number(sender.properties?.[TIMEOUT] ?? LONGEST_WAIT_MS)
  return Math.min(Number.isFinite(requested) ? requested : LONGEST_WAIT_MS, LONGEST_WAIT_MS)
}

const sourceOf = (sender: Sender, { sessionId }: SessionLock): LinkSource => ({
  address: sender.source.address,
  filter: { [SESSION_FILTER]: sessionId },
})

function ticksAt(instantMs: number): Typed {
  const ticks = Buffer.alloc(8)
  ticks.writeBigInt64BE(EPOCH_TICKS + BigInt(Math.round(instantMs)) * TICKS_PER_MS)
  return rhea.types.wrap_long(ticks)
}
