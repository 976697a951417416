import type {
  Journal,
  KeptQueue,
  QueuedMessage,
  QueueSettings,
} from '../../../infra/local/service-bus/queued-message.ts'

/** A message of the model. */
export type ModelMessage = {
  readonly id: string
  number: number
  state: 'active' | 'scheduled'
  enqueuedAtMs: number
  readonly dueAtMs: number
  readonly timeToLiveMs: number
  deliveries: number
  lockedUntilMs: number | undefined
}

/** A simple reference model of a queue: lists with linear search. */
export class QueueModel {
  readonly #settings: QueueSettings
  messages: ModelMessage[] = []
  deadLetters: string[] = []
  /** Messages that were completed, removed, cancelled or expired. */
  gone: string[] = []
  lastNumber = 0

  constructor(settings: QueueSettings) {
    this.#settings = settings
  }

  send(id: string, timeToLiveMs: number, dueAtMs: number, nowMs: number): void {
    this.lastNumber += 1
    const state = dueAtMs > nowMs ? 'scheduled' : 'active'
    const fixed = { id, number: this.lastNumber, state, dueAtMs, timeToLiveMs } as const
    this.messages.push({ ...fixed, enqueuedAtMs: nowMs, deliveries: 0, lockedUntilMs: undefined })
  }

  firstReady(): ModelMessage | undefined {
    return this.#inOrder().find(({ state, lockedUntilMs }) => state === 'active' && lockedUntilMs === undefined)
  }

  leave(message: ModelMessage): void {
    this.messages = this.messages.filter((other) => other !== message)
    this.gone.push(message.id)
  }

  deadLetter(message: ModelMessage): void {
    this.messages = this.messages.filter((other) => other !== message)
    this.deadLetters.push(message.id)
  }

  abandon(message: ModelMessage): void {
    message.lockedUntilMs = undefined
    message.deliveries += 1
    if (message.deliveries >= this.#settings.maxDeliveryCount) this.deadLetter(message)
  }

  /** Due events, earliest first. */
  advanceTo(nowMs: number): void {
    for (;;) {
      const due = this.#inOrder().filter((message) => this.#wakesAtMs(message) <= nowMs)
      const next = due.sort((left, right) => this.#wakesAtMs(left) - this.#wakesAtMs(right))[0]
      if (next === undefined) return
      if (next.lockedUntilMs !== undefined) this.abandon(next)
      else if (next.state === 'scheduled') this.#activate(next)
      else if (this.#settings.deadLettersExpired) this.deadLetter(next)
      else this.leave(next)
    }
  }

  /** The messages that `peek` returns. */
  view(): unknown[] {
    return this.#inOrder().map(({ id, number, state, deliveries, lockedUntilMs }) => ({
      ...{ id, number, state, deliveries },
      isLocked: lockedUntilMs !== undefined,
    }))
  }

  #activate(message: ModelMessage): void {
    this.lastNumber += 1
    Object.assign(message, { number: this.lastNumber, state: 'active', enqueuedAtMs: message.dueAtMs })
  }

  #inOrder(): ModelMessage[] {
    return [...this.messages].sort((left, right) => left.number - right.number)
  }

  #wakesAtMs({ state, lockedUntilMs, dueAtMs, enqueuedAtMs, timeToLiveMs }: ModelMessage): number {
    if (lockedUntilMs !== undefined) return lockedUntilMs
    return state === 'scheduled' ? dueAtMs : enqueuedAtMs + timeToLiveMs
  }
}

/** A journal that can be read back, as after a restart. */
export class RecordingJournal implements Journal {
  readonly #queues = new Map<string, Map<number, { message: QueuedMessage; isHeld: boolean }>>()

  added(queue: string, message: QueuedMessage): void {
    const kept = this.#of(queue)
    if (kept.has(message.sequenceNumber)) throw new Error(`${queue} has two messages ${message.sequenceNumber}`)
    kept.set(message.sequenceNumber, { message: { ...message }, isHeld: false })
  }

  changed(queue: string, message: QueuedMessage): void {
    this.#existing(queue, message.sequenceNumber)
    this.#of(queue).set(message.sequenceNumber, { message: { ...message }, isHeld: false })
  }

  held(queue: string, sequenceNumber: number): void {
    this.#existing(queue, sequenceNumber).isHeld = true
  }

  removed(queue: string, sequenceNumber: number): void {
    this.#existing(queue, sequenceNumber)
    this.#of(queue).delete(sequenceNumber)
  }

  kept(queue: string, lastSequenceNumber: number): KeptQueue {
    const entries = [...this.#of(queue).values()].sort((a, b) => a.message.sequenceNumber - b.message.sequenceNumber)
    const held = entries.filter(({ isHeld }) => isHeld).map(({ message }) => message.sequenceNumber)
    const messages = entries.map(({ message }) => ({ ...message, lock: undefined }))
    return { messages, held: new Set(held), lastSequenceNumber }
  }

  #of(queue: string): Map<number, { message: QueuedMessage; isHeld: boolean }> {
    const kept = this.#queues.get(queue) ?? new Map()
    this.#queues.set(queue, kept)
    return kept
  }

  #existing(queue: string, sequenceNumber: number): { isHeld: boolean } {
    const entry = this.#of(queue).get(sequenceNumber)
    if (entry === undefined) throw new Error(`${queue} has no message ${sequenceNumber}`)
    return entry
  }
}
