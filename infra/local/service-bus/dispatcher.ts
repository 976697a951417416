import type { MessageQueue } from './queue.ts'
import type { QueuedMessage } from './queued-message.ts'

export interface Consumer {
  /** Whether messages are delivered without a lock and deleted (`receiveAndDelete`). */
  readonly takesForGood: boolean
  isOpen(): boolean
  /** Whether it has credit for another message. */
  hasRoom(): boolean
  deliver(message: QueuedMessage): void
  /** Called if the queue has no message for the consumer. A draining consumer gets its credit back. */
  drain(): void
}

/** Distributes the messages of a queue to its consumers in turn. */
export class Dispatcher {
  readonly #queue: MessageQueue
  readonly #nowMs: () => number
  readonly #alarm: Alarm
  #consumers: Consumer[] = []
  #turn = 0
  #isPumpDue = false
  #isStopped = false

  constructor(queue: MessageQueue, nowMs: () => number, alarm: Alarm) {
    this.#queue = queue
    this.#nowMs = nowMs
    this.#alarm = alarm
    queue.onChange = () => this.#pumpSoon()
  }

  add(consumer: Consumer): void {
    this.#consumers.push(consumer)
  }

  /** Removes consumers with a closed link. Their messages stay locked until the locks expire. */
  prune(): void {
    this.#consumers = this.#consumers.filter((consumer) => consumer.isOpen())
  }

  /** Delivers ready messages and sets the timer for the next event. */
  pump(): void {
    if (this.#isStopped) return
    const nowMs = this.#nowMs()
    while (this.#queue.hasReady(nowMs)) {
      const consumer = this.#next()
      if (consumer === undefined) break
      const message = consumer.takesForGood ? this.#queue.take(nowMs) : this.#queue.lock(nowMs)
      if (message !== undefined) consumer.deliver(message)
    }
    for (const consumer of this.#consumers) consumer.drain()
    this.#alarm.setFor(this.#queue.nextInstantMs())
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Runs once for all changes of this turn of the event loop. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    process.nextTick(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  #next(): Consumer | undefined {
    for (let step = 0; step < this.#consumers.length; step += 1) {
      const position = (this.#turn + step) % this.#consumers.length
      const consumer = this.#consumers[position]
      if (consumer?.hasRoom()) {
        this.#turn = position + 1
        return consumer
      }
    }
    return undefined
  }
}

/** Node.js treats a longer delay as 1 ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** A timer for the next due event of all queues. It fires at or after the instant. The callback sets it again. */
export class Alarm {
  readonly #nowMs: () => number
  readonly #onDue: () => void
  #timer: NodeJS.Timeout | undefined
  #instantMs = Number.POSITIVE_INFINITY

  constructor(nowMs: () => number, onDue: () => void) {
    this.#nowMs = nowMs
    this.#onDue = onDue
  }

  /** Fires at this instant, or earlier if it was set to an earlier one. */
  setFor(instantMs: number | undefined): void {
    if (instantMs === undefined || instantMs >= this.#instantMs) return
    this.stop()
    this.#instantMs = instantMs
    const delayMs = Math.min(Math.max(instantMs - this.#nowMs(), 1), LONGEST_DELAY_MS)
    this.#timer = setTimeout(() => {
      this.#instantMs = Number.POSITIVE_INFINITY
      this.#onDue()
    }, delayMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#instantMs = Number.POSITIVE_INFINITY
  }
}
