import { PriorityQueue } from './priority-queue.ts'
import { type QueuedMessage, wakesAtMs } from './queued-message.ts'

const bySequenceNumber = (left: QueuedMessage, right: QueuedMessage): number =>
  left.sequenceNumber - right.sequenceNumber

/** Messages scheduled for one instant come in the order in which they were scheduled. */
const byInstant = (left: QueuedMessage, right: QueuedMessage): number =>
  wakesAtMs(left) - wakesAtMs(right) || bySequenceNumber(left, right)

/**
 * A queue's messages, found by number, by lock, by whose turn it is and by what happens next. A message is indexed as
 * it is when placed: take it out with `displace` before changing its state, lock or times.
 */
export class MessageIndex {
  /** In order of sequence number, as numbers only grow. */
  readonly #messages = new Map<number, QueuedMessage>()
  readonly #locked = new Map<string, QueuedMessage>()
  readonly #ready = new PriorityQueue<QueuedMessage>(bySequenceNumber)
  readonly #waking = new PriorityQueue<QueuedMessage>(byInstant)

  place(message: QueuedMessage): void {
    this.#messages.set(message.sequenceNumber, message)
    if (message.lock !== undefined) this.#locked.set(message.lock.token, message)
    else if (message.state === 'active') this.#ready.add(message)
    if (wakesAtMs(message) !== Number.POSITIVE_INFINITY) this.#waking.add(message)
  }

  /** Takes a message out of every order; it keeps its number until `forget`. */
  displace(message: QueuedMessage): void {
    if (message.lock !== undefined) this.#locked.delete(message.lock.token)
    this.#ready.remove(message)
    this.#waking.remove(message)
  }

  forget(message: QueuedMessage): void {
    this.displace(message)
    this.#messages.delete(message.sequenceNumber)
  }

  get(sequenceNumber: number): QueuedMessage | undefined {
    return this.#messages.get(sequenceNumber)
  }

  heldUnder(token: string): QueuedMessage | undefined {
    return this.#locked.get(token)
  }

  /** The message to deliver next. */
  firstReady(): QueuedMessage | undefined {
    return this.#ready.peek()
  }

  /** The message to which something happens next by itself. */
  firstWaking(): QueuedMessage | undefined {
    return this.#waking.peek()
  }

  /** All messages in order of sequence number. */
  all(): Iterable<QueuedMessage> {
    return this.#messages.values()
  }

  /** Moves every instant of every message. The same amount off each leaves their order as it is. */
  shift(durationMs: number): void {
    for (const message of this.#messages.values()) {
      message.enqueuedAtMs -= durationMs
      message.dueAtMs -= durationMs
      if (message.lock !== undefined) message.lock.untilMs -= durationMs
    }
  }
}
