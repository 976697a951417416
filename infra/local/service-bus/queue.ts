import { randomUUID } from 'node:crypto'
import { MessageIndex } from './message-index.ts'
import {
  type Draft,
  deliveredTooOften,
  EXPIRED,
  type Journal,
  type KeptQueue,
  merged,
  newMessage,
  type Properties,
  type QueueCounts,
  type QueuedMessage,
  type QueueSettings,
  type Settlement,
  wakesAtMs,
} from './queued-message.ts'

/**
 * A queue as a state machine without clock, network and file. Every call passes the time. Events that are due
 * (scheduled messages, locks, lifetimes) are processed first, in order of time.
 */
export class MessageQueue {
  readonly settings: QueueSettings
  readonly #journal: Journal
  readonly #deadLetters: MessageQueue | undefined
  /** Called if a message can be ready or the next event can have changed. */
  onChange: () => void = () => {}
  readonly #messages = new MessageIndex()
  #lastSequenceNumber = 0

  constructor(settings: QueueSettings, journal: Journal, deadLetters?: MessageQueue) {
    this.settings = settings
    this.#journal = journal
    this.#deadLetters = deadLetters
  }

  /** Restores the messages of a journal. Messages in `held` were locked: they return as after an expired lock. */
  restore({ messages, held, lastSequenceNumber }: KeptQueue, nowMs: number): void {
    this.#lastSequenceNumber = Math.max(lastSequenceNumber, messages.at(-1)?.sequenceNumber ?? 0)
    for (const message of messages) this.#place(message)
    for (const message of messages) if (held.has(message.sequenceNumber)) this.#abandon(message, nowMs)
  }

  /** Adds a message and returns its sequence number. */
  send(draft: Draft, nowMs: number): number {
    this.advanceTo(nowMs)
    const sequenceNumber = this.reserveNumber()
    this.#add(newMessage(draft, sequenceNumber, this.settings.timeToLiveMs, nowMs))
    return sequenceNumber
  }

  reserveNumber(): number {
    this.#lastSequenceNumber += 1
    return this.#lastSequenceNumber
  }

  /** Whether `lock` or `take` returns a message. */
  hasReady(nowMs: number): boolean {
    this.advanceTo(nowMs)
    return this.#messages.firstReady() !== undefined
  }

  lock(nowMs: number): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    const message = this.#messages.firstReady()
    if (message !== undefined) this.#hold(message, nowMs)
    return message
  }

  take(nowMs: number): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    const message = this.#messages.firstReady()
    if (message !== undefined) this.#remove(message)
    return message
  }

  /**
   * Settles a locked message. An abandoned message returns to its position, and its delivery count increases. A
   * dead-lettered message moves to the dead-letter queue, unless it is there. Returns false if the lock is lost.
   */
  settle(token: string, { outcome, properties }: Settlement, nowMs: number): boolean {
    const message = this.#heldUnder(token, nowMs)
    if (message === undefined) return false
    if (outcome === 'complete') this.#remove(message)
    if (outcome === 'abandon') this.#abandon(merged(message, properties), nowMs)
    if (outcome === 'dead-letter') this.#deadLetter(message, properties, nowMs)
    return true
  }

  /** Renews a lock and returns its expiry. Undefined if the lock is lost. */
  renew(token: string, nowMs: number): number | undefined {
    const message = this.#heldUnder(token, nowMs)
    if (message?.lock === undefined) return undefined
    this.#messages.displace(message)
    message.lock.untilMs = nowMs + this.settings.lockDurationMs
    this.#place(message)
    return message.lock.untilMs
  }

  /** Removes scheduled messages. Removes none and returns false if one of them does not exist. */
  cancelScheduled(sequenceNumbers: readonly number[], nowMs: number): boolean {
    this.advanceTo(nowMs)
    const messages = sequenceNumbers.map((number) => this.#messages.get(number))
    if (!messages.every((message) => message?.state === 'scheduled')) return false
    for (const message of new Set(messages)) if (message !== undefined) this.#remove(message)
    return true
  }

  /** Peeks messages in any state from a sequence number, lowest first. */
  *peek(fromSequenceNumber: number, nowMs: number): Generator<QueuedMessage> {
    this.advanceTo(nowMs)
    for (const message of this.#messages.all()) if (message.sequenceNumber >= fromSequenceNumber) yield message
  }

  counts(nowMs: number): QueueCounts {
    this.advanceTo(nowMs)
    const counts: QueueCounts = { active: 0, scheduled: 0, locked: 0 }
    for (const message of this.#messages.all()) counts[message.lock === undefined ? message.state : 'locked'] += 1
    return counts
  }

  /** The instant of the next timed event. Undefined if there is none. */
  nextInstantMs(): number | undefined {
    const next = this.#messages.firstWaking()
    return next === undefined ? undefined : wakesAtMs(next)
  }

  /** Processes events that are due at `nowMs`. */
  advanceTo(nowMs: number): void {
    for (let message = this.#messages.firstWaking(); message !== undefined; message = this.#messages.firstWaking()) {
      if (wakesAtMs(message) > nowMs) return
      if (message.state === 'scheduled') this.#activate(message)
      else if (message.lock !== undefined) this.#abandon(message, message.lock.untilMs)
      else this.#expire(message, nowMs)
    }
  }

  /** Moves all instants `durationMs` into the past, as if that time had passed. */
  letPass(durationMs: number): void {
    this.#messages.shift(durationMs)
    this.onChange()
  }

  #heldUnder(token: string, nowMs: number): QueuedMessage | undefined {
    this.advanceTo(nowMs)
    return this.#messages.heldUnder(token)
  }

  #hold(message: QueuedMessage, nowMs: number): void {
    this.#messages.displace(message)
    message.lock = { token: randomUUID(), untilMs: nowMs + this.settings.lockDurationMs }
    this.#place(message)
    this.#journal.held(this.settings.name, message.sequenceNumber)
  }

  #release(message: QueuedMessage): void {
    this.#messages.displace(message)
    message.lock = undefined
  }

  #abandon(message: QueuedMessage, nowMs: number): void {
    this.#release(message)
    const { maxDeliveryCount } = this.settings
    if (maxDeliveryCount !== Number.POSITIVE_INFINITY) message.deliveryCount += 1
    if (message.deliveryCount >= maxDeliveryCount) this.#deadLetter(message, deliveredTooOften(message), nowMs)
    else this.#keep(message)
  }

  #activate(message: QueuedMessage): void {
    this.#remove(message)
    const [sequenceNumber, enqueuedAtMs] = [this.reserveNumber(), message.dueAtMs]
    this.#add({ ...message, sequenceNumber, enqueuedAtMs, state: 'active' })
  }

  #expire(message: QueuedMessage, nowMs: number): void {
    if (this.settings.deadLettersExpired) this.#deadLetter(message, EXPIRED, nowMs)
    else this.#remove(message)
  }

  #deadLetter(message: QueuedMessage, properties: Properties, nowMs: number): void {
    const deadLetter = merged(message, properties)
    if (this.#deadLetters === undefined) {
      this.#release(deadLetter)
      this.#keep(deadLetter)
    } else {
      this.#remove(deadLetter)
      this.#deadLetters.#admit(deadLetter, nowMs)
    }
  }

  #admit(message: QueuedMessage, nowMs: number): void {
    this.advanceTo(nowMs)
    const sequenceNumber = this.reserveNumber()
    this.#add({ ...message, sequenceNumber, state: 'active', timeToLiveMs: Number.POSITIVE_INFINITY })
  }

  #add(message: QueuedMessage): void {
    this.#place(message)
    this.#journal.added(this.settings.name, message)
  }

  #keep(message: QueuedMessage): void {
    this.#place(message)
    this.#journal.changed(this.settings.name, message)
  }

  #remove(message: QueuedMessage): void {
    this.#messages.forget(message)
    message.lock = undefined
    this.#journal.removed(this.settings.name, message.sequenceNumber)
  }

  #place(message: QueuedMessage): void {
    this.#messages.place(message)
    this.onChange()
  }
}
