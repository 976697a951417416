import { JournaledMessages } from './journaled-messages.ts'
import { DuplicateWindow } from './message-index.ts'
import {
  type Draft,
  deliveredTooOften,
  type Journal,
  type KeptQueue,
  LIVED_TOO_LONG,
  merged,
  newMessage,
  type Properties,
  type QueueCounts,
  type QueuedMessage,
  type QueueSettings,
  type Settlement,
  wakesAtMs,
} from './queued-message.ts'
import { type SessionLock, SessionLocks } from './session-locks.ts'

/**
 * A queue as a state machine without clock, network and file. Every call passes the time. Events that are due
 * (scheduled messages, locks, lifetimes) are processed first, in order of time.
 */
export class MessageQueue {
  readonly settings: QueueSettings
  readonly #deadLetters: MessageQueue | undefined
  /** Called if a message can be ready or the next event can have changed. */
  onChange: () => void = () => {}
  readonly #messages: JournaledMessages
  readonly #sessions: SessionLocks
  readonly #seenIds: DuplicateWindow
  #lastSequenceNumber = 0

  constructor(settings: QueueSettings, journal: Journal, deadLetters?: MessageQueue) {
    this.settings = settings
    this.#deadLetters = deadLetters
    this.#messages = new JournaledMessages(settings, journal, () => this.onChange())
    this.#sessions = new SessionLocks(settings.lockDurationMs)
    this.#seenIds = new DuplicateWindow(settings.duplicateWindowMs)
  }

  /** Restores the messages of a journal. Messages in `held` were locked: they return as after an expired lock. */
  restore({ messages, held, lastSequenceNumber }: KeptQueue, nowMs: number): void {
    this.#lastSequenceNumber = Math.max(lastSequenceNumber, messages.at(-1)?.sequenceNumber ?? 0)
    for (const message of messages) this.#messages.place(message)
    for (const message of messages) if (held.has(message.sequenceNumber)) this.#giveBack(message, nowMs)
  }

  /** Adds a message and returns its sequence number. A duplicate is dropped and also gets a number. */
  send(draft: Draft, nowMs: number): number {
    this.advanceTo(nowMs)
    const sequenceNumber = this.reserveNumber()
    if (this.#seenIds.hasSeen(draft.messageId, nowMs)) return sequenceNumber
    this.#messages.add(newMessage(draft, sequenceNumber, this.settings.timeToLiveMs, nowMs))
    return sequenceNumber
  }

  reserveNumber(): number {
    this.#lastSequenceNumber += 1
    return this.#lastSequenceNumber
  }

  /** Whether `lock` or `take` returns a message. */
  hasReady(nowMs: number, session?: SessionLock): boolean {
    this.advanceTo(nowMs)
    return this.#messages.index.firstReady(session?.sessionId) !== undefined
  }

  /** @param session A held session, in a queue with sessions. The message is locked as long as the session. */
  lock(nowMs: number, session?: SessionLock): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    const message = this.#messages.index.firstReady(session?.sessionId)
    if (message !== undefined) this.#messages.hold(message, session?.untilMs ?? this.#lockedUntilMs(nowMs))
    return message
  }

  take(nowMs: number, session?: SessionLock): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    const message = this.#messages.index.firstReady(session?.sessionId)
    if (message !== undefined) this.#messages.remove(message)
    return message
  }

  /** Locks this session, or the free one with the first ready message. Undefined if it is held, or if there is none. */
  acceptSession(sessionId: string | undefined, nowMs: number): SessionLock | undefined {
    this.advanceTo(nowMs)
    const isFree = (id: string) => this.#sessions.find(id) === undefined
    const wanted = sessionId ?? this.#messages.index.firstSession(isFree)
    return wanted !== undefined && isFree(wanted) ? this.#sessions.hold(wanted, nowMs) : undefined
  }

  holdsSession(session: SessionLock, nowMs: number): boolean {
    this.advanceTo(nowMs)
    return this.#sessions.find(session.sessionId) === session
  }

  /** Renews the lock of a session and of its messages. Returns its expiry, undefined if the lock is lost. */
  renewSession(sessionId: string, nowMs: number): number | undefined {
    this.advanceTo(nowMs)
    const session = this.#sessions.find(sessionId)
    if (session === undefined) return undefined
    this.#sessions.renew(session, nowMs)
    for (const message of this.#messages.index.heldIn(sessionId)) this.#messages.extendLock(message, session.untilMs)
    return session.untilMs
  }

  /** Ends a held session. Its locked messages are abandoned. */
  releaseSession(session: SessionLock, nowMs: number): void {
    if (!this.holdsSession(session, nowMs)) return
    this.#sessions.release(session)
    for (const message of this.#messages.index.heldIn(session.sessionId)) this.#giveBack(message, nowMs)
    this.onChange()
  }

  /** Locks or removes a deferred message. Undefined if there is none with the number. */
  receiveDeferred(sequenceNumber: number, forGood: boolean, nowMs: number): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    const message = this.#messages.index.get(sequenceNumber)
    if (message?.state !== 'deferred' || message.lock !== undefined) return undefined
    if (forGood) this.#messages.remove(message)
    else this.#messages.hold(message, this.#lockedUntilMs(nowMs))
    return message
  }

  /**
   * Settles a locked message. An abandoned message returns to its position, and its delivery count increases. A
   * deferred message can be received by its number only. A dead-lettered message moves to the dead-letter queue, unless
   * it is there. Returns false if the lock is lost.
   */
  settle(token: string, { outcome, properties }: Settlement, nowMs: number): boolean {
    const message = this.#heldUnder(token, nowMs)
    if (message === undefined) return false
    if (outcome === 'complete') this.#messages.remove(message)
    if (outcome === 'abandon') this.#giveBack(merged(message, properties), nowMs)
    if (outcome === 'defer') {
      this.#messages.release(merged(message, properties), () => {
        message.state = 'deferred'
      })
    }
    if (outcome === 'dead-letter') this.#bury(message, properties, nowMs)
    return true
  }

  /** Renews a lock and returns its expiry. Undefined if the lock is lost. */
  renew(token: string, nowMs: number): number | undefined {
    const message = this.#heldUnder(token, nowMs)
    if (message?.lock === undefined) return undefined
    this.#messages.extendLock(message, this.#lockedUntilMs(nowMs))
    return message.lock.untilMs
  }

  /** Removes scheduled messages. Removes none and returns false if one of them does not exist. */
  cancelScheduled(sequenceNumbers: readonly number[], nowMs: number): boolean {
    this.advanceTo(nowMs)
    const messages = sequenceNumbers.map((number) => this.#messages.index.get(number))
    if (!messages.every((message) => message?.state === 'scheduled')) return false
    for (const message of new Set(messages)) if (message !== undefined) this.#messages.remove(message)
    return true
  }

  /** Peeks messages in any state from a sequence number, lowest first. */
  *peek(fromSequenceNumber: number, nowMs: number): Generator<QueuedMessage> {
    this.advanceTo(nowMs)
    for (const message of this.#messages.index.all()) if (message.sequenceNumber >= fromSequenceNumber) yield message
  }

  counts(nowMs: number): QueueCounts {
    this.advanceTo(nowMs)
    const counts: QueueCounts = { active: 0, scheduled: 0, locked: 0, deferred: 0 }
    for (const message of this.#messages.index.all()) counts[message.lock === undefined ? message.state : 'locked'] += 1
    return counts
  }

  /** The instant of the next timed event. Infinite if there is none. */
  nextInstantMs(): number {
    const next = this.#messages.index.firstWaking()
    return Math.min(next === undefined ? Number.POSITIVE_INFINITY : wakesAtMs(next), this.#sessions.nextInstantMs())
  }

  /** Processes events that are due at `nowMs`. */
  advanceTo(nowMs: number): void {
    this.#sessions.expire(nowMs)
    for (
      let message = this.#messages.index.firstWaking();
      message !== undefined;
      message = this.#messages.index.firstWaking()
    ) {
      if (wakesAtMs(message) > nowMs) return
      if (message.state === 'scheduled') this.#activate(message)
      else if (message.lock !== undefined) this.#giveBack(message, message.lock.untilMs)
      else this.#expire(message, nowMs)
    }
  }

  /** Moves all instants `durationMs` into the past, as if that time had passed. */
  letPass(durationMs: number): void {
    this.#messages.index.shift(durationMs)
    this.#sessions.shift(durationMs)
    this.#seenIds.shift(durationMs)
    this.onChange()
  }

  #lockedUntilMs(nowMs: number): number {
    return nowMs + this.settings.lockDurationMs
  }

  #heldUnder(token: string, nowMs: number): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    return this.#messages.index.heldUnder(token)
  }

  #giveBack(message: QueuedMessage, nowMs: number): void {
    const { maxDeliveryCount } = this.settings
    if (maxDeliveryCount !== Number.POSITIVE_INFINITY) message.deliveryCount += 1
    if (message.deliveryCount >= maxDeliveryCount) this.#bury(message, deliveredTooOften(message), nowMs)
    else this.#messages.release(message)
  }

  #activate(message: QueuedMessage): void {
    this.#messages.remove(message)
    const [sequenceNumber, enqueuedAtMs] = [this.reserveNumber(), message.dueAtMs]
    this.#messages.add({ ...message, sequenceNumber, enqueuedAtMs, state: 'active' })
  }

  #expire(message: QueuedMessage, nowMs: number): void {
    if (this.settings.deadLettersExpired) this.#bury(message, LIVED_TOO_LONG, nowMs)
    else this.#messages.remove(message)
  }

  #bury(message: QueuedMessage, properties: Properties, nowMs: number): void {
    const buried = merged(message, properties)
    if (this.#deadLetters === undefined) {
      this.#messages.release(buried)
    } else {
      this.#messages.remove(buried)
      this.#deadLetters.#admit(buried, nowMs)
    }
  }

  #admit(message: QueuedMessage, nowMs: number): void {
    this.advanceTo(nowMs)
    const sequenceNumber = this.reserveNumber()
    this.#messages.add({ ...message, sequenceNumber, state: 'active', timeToLiveMs: Number.POSITIVE_INFINITY })
  }
}
