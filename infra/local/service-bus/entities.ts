import type { QueueDefinition } from '../../../shared/messaging/queues.ts'
import type { Alarm } from './dispatcher.ts'
import { Dispatcher } from './dispatcher.ts'
import type { MessageStore } from './message-store.ts'
import { MessageQueue } from './queue.ts'
import { BusRefusal } from './refusal.ts'

/** A queue to create. Optional members have the defaults of Service Bus. */
export type LocalQueue = QueueDefinition & {
  /** Maximum lifetime of a message in seconds. Default: unlimited. */
  readonly defaultTimeToLiveS?: number
  /** Whether expired messages are dead-lettered. Default: they are dropped. */
  readonly deadLetterOnExpiration?: boolean
}

export type Entity = {
  readonly queue: MessageQueue
  readonly dispatcher: Dispatcher
  /** The queue of a dead-letter queue. Undefined for other queues. */
  readonly deadLettersOf: string | undefined
}

/** The namespace: all queues and dead-letter queues, restored from the journal. */
export class Entities {
  readonly #byName = new Map<string, { readonly live: Entity; readonly dead: Entity }>()

  constructor(queues: readonly LocalQueue[], store: MessageStore, nowMs: () => number, alarm: Alarm) {
    for (const definition of queues) {
      const { name } = definition
      const deadLetters = new MessageQueue(deadLetterSettings(definition), store)
      const queue = new MessageQueue(settings(definition), store, deadLetters)
      // Restores the dead-letter queue first: restoring the queue can move messages there.
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

  pump(): void {
    for (const { dispatcher } of this.all()) dispatcher.pump()
  }

  /** Removes receivers with a closed link. */
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
})

/** Dead letters do not expire, and their deliveries are not counted. */
const deadLetterSettings = (definition: LocalQueue) => ({
  ...settings(definition),
  name: `${definition.name}/$deadletterqueue`,
  maxDeliveryCount: Number.POSITIVE_INFINITY,
  timeToLiveMs: Number.POSITIVE_INFINITY,
})
