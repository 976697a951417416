import { type QueuedMessage, wakesAtMs } from './queued-message.ts'

const bySequenceNumber = (left: QueuedMessage, right: QueuedMessage): number =>
  left.sequenceNumber - right.sequenceNumber

/** Messages with the same due time are ordered by the time of scheduling. */
const byInstant = (left: QueuedMessage, right: QueuedMessage): number =>
  wakesAtMs(left) - wakesAtMs(right) || bySequenceNumber(left, right)

/**
 * Indexes the messages of a queue by number, by lock, by delivery order and by next event. Call `displace` before you
 * change the state, lock or times of a message.
 */
export class MessageIndex {
  /** By sequence number, which only increases. */
  readonly #messages = new Map<number, QueuedMessage>()
  readonly #locked = new Map<string, QueuedMessage>()
  readonly #ready = new SortedList<QueuedMessage>(bySequenceNumber)
  readonly #waking = new SortedList<QueuedMessage>(byInstant)

  place(message: QueuedMessage): void {
    this.#messages.set(message.sequenceNumber, message)
    if (message.lock !== undefined) this.#locked.set(message.lock.token, message)
    else if (message.state === 'active') this.#ready.add(message)
    if (wakesAtMs(message) !== Number.POSITIVE_INFINITY) this.#waking.add(message)
  }

  /** Removes a message from all orders. It keeps its number until `forget`. */
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

  firstReady(): QueuedMessage | undefined {
    return this.#ready.first()
  }

  firstWaking(): QueuedMessage | undefined {
    return this.#waking.first()
  }

  all(): Iterable<QueuedMessage> {
    return this.#messages.values()
  }

  /** Moves all instants of all messages by the same amount, which keeps their order. */
  shift(durationMs: number): void {
    for (const message of this.#messages.values()) {
      message.enqueuedAtMs -= durationMs
      message.dueAtMs -= durationMs
      if (message.lock !== undefined) message.lock.untilMs -= durationMs
    }
  }
}

/** A list in order. The order of items must not change while they are in the list. */
class SortedList<T> {
  readonly #compare: (left: T, right: T) => number
  readonly #items: T[] = []

  /** @param compare negative if the left item comes first, like `Array.prototype.sort`, and 0 for the same item only */
  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    this.#items.splice(this.#positionOf(item), 0, item)
  }

  /** Removes the item, if it is in the list. */
  remove(item: T): void {
    const position = this.#positionOf(item)
    if (this.#items[position] === item) this.#items.splice(position, 1)
  }

  /** The number of items before this one. */
  #positionOf(item: T): number {
    let [low, high] = [0, this.#items.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(this.#items[middle] as T, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
