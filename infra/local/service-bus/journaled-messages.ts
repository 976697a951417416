import { randomUUID } from 'node:crypto'
import { MessageIndex } from './message-index.ts'
import type { Journal, QueuedMessage, QueueSettings } from './queued-message.ts'

/** The messages of a queue. Each change is indexed and recorded in the journal. */
export class JournaledMessages {
  readonly index: MessageIndex
  readonly #queueName: string
  readonly #journal: Journal
  readonly #onChange: () => void

  /** @param onChange Called after a message was placed: it can be ready, or the next event. */
  constructor(settings: QueueSettings, journal: Journal, onChange: () => void) {
    this.index = new MessageIndex(settings)
    this.#queueName = settings.name
    this.#journal = journal
    this.#onChange = onChange
  }

  /** A message that the journal has already. */
  place(message: QueuedMessage): void {
    this.index.place(message)
    this.#onChange()
  }

  add(message: QueuedMessage): void {
    this.place(message)
    this.#journal.added(this.#queueName, message)
  }

  /** Locks the message. */
  hold(message: QueuedMessage, untilMs: number): void {
    this.index.displace(message)
    message.lock = { token: randomUUID(), untilMs }
    this.place(message)
    this.#journal.held(this.#queueName, message.sequenceNumber)
  }

  extendLock(message: QueuedMessage, untilMs: number): void {
    this.index.displace(message)
    if (message.lock !== undefined) message.lock.untilMs = untilMs
    this.place(message)
  }

  /** Ends the lock, and applies a change of the message. */
  release(message: QueuedMessage, change: () => void = () => {}): void {
    this.index.displace(message)
    message.lock = undefined
    change()
    this.place(message)
    this.#journal.changed(this.#queueName, message)
  }

  remove(message: QueuedMessage): void {
    this.index.forget(message)
    message.lock = undefined
    this.#journal.removed(this.#queueName, message.sequenceNumber)
  }
}
