import type { QueueDefinition } from '../../../shared/messaging/queues.ts'
import type { Alarm } from './alarm.ts'
import { Dispatcher } from './dispatcher.ts'
import type { MessageStore } from './message-store.ts'
import { MessageQueue } from './queue.ts'
import { BusRefusal } from './refusal.ts'

/** A queue to create. What is left out is as Service Bus has it by default. */
export type LocalQueue = QueueDefinition & {
  /** Seconds a message lives at most; by default without end. */
  readonly defaultTimeToLiveS?: number
  /** Whether a message that outlives its time goes to the dead-letter queue; by default it is dropped. */
  readonly deadLetterOnExpiration?: boolean
  /** Seconds in which a second message with the same id is dropped; by default none is. */
  readonly duplicateDetectionWindowS?: number
}

/** A queue with those who receive from it. */
export type Entity = {
  readonly queue: MessageQueue
  readonly dispatcher: Dispatcher
  /** The queue whose dead letters these are; undefined for a queue proper. */
  readonly deadLettersOf: string | undefined
}

/** The namespace: every queue and its dead-letter queue, as they were left. */
export class Entities {
  readonly #byName = new Map<string, { readonly live: Entity; readonly dead: Entity }>()

  constructor(queues: readonly LocalQueue[], store: MessageStore, nowMs: () => number, alarm: Alarm) {
    for (const definition of queues) {
      const { name } = definition
      const deadLetters = new MessageQueue(deadLetterSettings(definition), store)
      const queue = new MessageQueue(settings(definition), store, deadLetters)
      // The dead-letter queue first: restoring the queue may move messages there.
      for (const part of [deadLetters, queue]) part.restore(store.load(part.settings.name), nowMs())
      this.#byName.set(name.toLowerCase(), {
        live: { queue, dispatcher: new Dispatcher(queue, nowMs, alarm), deadLettersOf: undefined },
        dead: { queue: deadLetters, dispatcher: new Dispatcher(deadLetters, nowMs, alarm), deadLettersOf: name },
      })
    }
  }

  /** @throws BusRefusal `amqp:not-found` */
  find(name: string, isDeadLetter = false): Entity {
    const pair = this.#byName.get(name.toLowerCase())
    if (pair === undefined) throw new BusRefusal('amqp:not-found', `The messaging entity '${name}' could not be found.`)
    return isDeadLetter ? pair.dead : pair.live
  }

  *all(): Generator<Entity> {
    for (const { live, dead } of this.#byName.values()) yield* [live, dead]
  }

  /** Delivers what has become due everywhere. */
  pump(): void {
    for (const { dispatcher } of this.all()) dispatcher.pump()
  }

  /** Forgets receivers whose link is closed. */
  prune(): void {
    for (const { dispatcher } of this.all()) dispatcher.prune()
  }
}

const settings = (definition: LocalQueue) => ({
  name: definition.name,
  lockDurationMs: definition.lockDurationS * 1_000,
  maxDeliveryCount: definition.maxDeliveryCount,
  timeToLiveMs: (definition.defaultTimeToLiveS ?? Number.POSITIVE_INFINITY) * 1_000,
  deadLettersExpired: definition.deadLetterOnExpiration ?? false,
  duplicateWindowMs: (definition.duplicateDetectionWindowS ?? 0) * 1_000,
})

/** Dead letters wait for ever, and their deliveries are not counted. */
const deadLetterSettings = (definition: LocalQueue) => ({
  ...settings(definition),
  name: `${definition.name}/$deadletterqueue`,
  maxDeliveryCount: Number.POSITIVE_INFINITY,
  timeToLiveMs: Number.POSITIVE_INFINITY,
  duplicateWindowMs: 0,
})
