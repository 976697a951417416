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
  readonly #ready = new PriorityQueue<QueuedMessage>(bySequenceNumber)
  readonly #waking = new PriorityQueue<QueuedMessage>(byInstant)

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
    return this.#ready.peek()
  }

  firstWaking(): QueuedMessage | undefined {
    return this.#waking.peek()
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

/** A binary heap that supports removal of any item. The order of items must not change while they are in the heap. */
class PriorityQueue<T> {
  readonly #compare: (left: T, right: T) => number
  readonly #items: T[] = []
  readonly #positions = new Map<T, number>()

  /** @param compare negative if the left item comes first, like `Array.prototype.sort` */
  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    this.#put(item, this.#items.length)
    this.#rise(this.#items.length - 1)
  }

  /** Removes the item, if it is in the heap. */
  remove(item: T): void {
    const position = this.#positions.get(item)
    if (position === undefined) return
    this.#positions.delete(item)
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#put(last, position)
    this.#rise(position)
    this.#sink(this.#positions.get(last) ?? position)
  }

  #put(item: T, position: number): void {
    this.#items[position] = item
    this.#positions.set(item, position)
  }

  #at(position: number): T {
    return this.#items[position] as T
  }

  #rise(from: number): void {
    const item = this.#at(from)
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.#compare(this.#at(parent), item) <= 0) break
      this.#put(this.#at(parent), position)
      position = parent
    }
    if (position !== from) this.#put(item, position)
  }

  #sink(from: number): void {
    const item = this.#at(from)
    let position = from
    for (;;) {
      const left = 2 * position + 1
      if (left >= this.#items.length) break
      const right = left + 1
      const isRightFirst = right < this.#items.length && this.#compare(this.#at(right), this.#at(left)) < 0
      const child = isRightFirst ? right : left
      if (this.#compare(this.#at(child), item) >= 0) break
      this.#put(this.#at(child), position)
      position = child
    }
    if (position !== from) this.#put(item, position)
  }
}
