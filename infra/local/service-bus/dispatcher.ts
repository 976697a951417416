import type { Alarm } from './alarm.ts'
import type { MessageQueue } from './queue.ts'
import type { QueuedMessage } from './queued-message.ts'

/** A receiver of a queue's messages. */
export interface Consumer {
  /** Messages go to it unlocked and for good (the client's `receiveAndDelete`). */
  readonly takesForGood: boolean
  isOpen(): boolean
  /** Whether it has granted credit for one more message. */
  hasRoom(): boolean
  deliver(message: QueuedMessage): void
  /** Called when the queue has nothing for it; a consumer that asked for its credit back gets it now. */
  drain(): void
}

/** Hands out the messages of one queue among its competing consumers in turn, one message each. */
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

  /** Forgets consumers whose link is closed. What they have locked stays locked until the locks run out. */
  prune(): void {
    this.#consumers = this.#consumers.filter((consumer) => consumer.isOpen())
  }

  /** Delivers what can be delivered now, and sets the alarm for what comes next. */
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

  /** Once for all changes of this turn of the event loop. */
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
