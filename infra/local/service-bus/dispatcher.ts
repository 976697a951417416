import type { MessageQueue } from './queue.ts'
import type { QueuedMessage } from './queued-message.ts'
import type { SessionLock } from './session-locks.ts'

export interface Consumer {
  /** Whether messages are delivered without a lock and deleted (`receiveAndDelete`). */
  readonly takesForGood: boolean
  /** The session that it holds. Undefined in a queue without sessions. */
  readonly session: SessionLock | undefined
  isOpen(): boolean
  /** Whether it has credit for another message. */
  hasRoom(): boolean
  deliver(message: QueuedMessage): void
  /** Called if the queue has no message for the consumer. A draining consumer gets its credit back. */
  drain(): void
  /** Called if the lock of the session has expired. The consumer is removed. */
  endSession(): void
}

/** A receiver that waits for the next session with a ready message. */
export interface SessionWaiter {
  isOpen(): boolean
  /** Called at most once. */
  accept(session: SessionLock): Consumer
  /** Called when it need not wait any more. */
  stop(): void
}

/** Distributes the messages of a queue to its consumers in turn, and free sessions to those who wait, in order. */
export class Dispatcher {
  readonly #queue: MessageQueue
  readonly #nowMs: () => number
  readonly #alarm: Alarm
  #consumers: Consumer[] = []
  #waiting: readonly SessionWaiter[] = []
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

  addWaiter(waiter: SessionWaiter): void {
    this.#waiting = [...this.#waiting, waiter]
    this.#pumpSoon()
  }

  removeWaiter(waiter: SessionWaiter): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiter)
    waiter.stop()
  }

  /** Removes consumers with a closed link. Their messages and sessions stay locked until the locks expire. */
  prune(): void {
    this.#consumers = this.#consumers.filter((consumer) => consumer.isOpen())
    for (const waiter of this.#waiting) if (!waiter.isOpen()) this.removeWaiter(waiter)
  }

  /** Processes due events, delivers ready messages and sets the timer for the next event. */
  pump(): void {
    if (this.#isStopped) return
    const nowMs = this.#nowMs()
    this.#queue.advanceTo(nowMs)
    this.#endLostSessions(nowMs)
    this.#acceptSessions(nowMs)
    for (let consumer = this.#next(nowMs); consumer !== undefined; consumer = this.#next(nowMs)) {
      const { takesForGood, session } = consumer
      const message = takesForGood ? this.#queue.take(nowMs, session) : this.#queue.lock(nowMs, session)
      if (message !== undefined) consumer.deliver(message)
    }
    for (const consumer of this.#consumers) consumer.drain()
    this.#alarm.setFor(this.#queue.nextInstantMs())
  }

  stop(): void {
    this.#isStopped = true
    for (const waiter of this.#waiting) this.removeWaiter(waiter)
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

  #endLostSessions(nowMs: number): void {
    const isLost = ({ session }: Consumer) => session !== undefined && !this.#queue.holdsSession(session, nowMs)
    const lost = this.#consumers.filter(isLost)
    if (lost.length === 0) return
    this.#consumers = this.#consumers.filter((consumer) => !lost.includes(consumer))
    for (const consumer of lost) consumer.endSession()
  }

  #acceptSessions(nowMs: number): void {
    for (let [waiter] = this.#waiting; waiter !== undefined; [waiter] = this.#waiting) {
      const session = this.#queue.acceptSession(undefined, nowMs)
      if (session === undefined) return
      this.removeWaiter(waiter)
      this.add(waiter.accept(session))
    }
  }

  #next(nowMs: number): Consumer | undefined {
    for (let step = 0; step < this.#consumers.length; step += 1) {
      const position = (this.#turn + step) % this.#consumers.length
      const consumer = this.#consumers[position]
      if (consumer?.hasRoom() && this.#queue.hasReady(nowMs, consumer.session)) {
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
  setFor(instantMs: number): void {
    if (instantMs >= this.#instantMs) return
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
