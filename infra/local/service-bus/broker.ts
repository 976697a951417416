import { Alarm } from './alarm.ts'
import { Entities, type LocalQueue } from './entities.ts'
import { Intake } from './intake.ts'
import { listen } from './listener.ts'
import { MessageStore } from './message-store.ts'

export type { LocalQueue } from './entities.ts'

/** How to start the broker. */
export type LocalServiceBusOptions = {
  /** 0 takes a free one. */
  readonly port: number
  /** Where messages are kept: the path of a SQLite file, or `:memory:`. */
  readonly file: string
  readonly queues: readonly LocalQueue[]
  /** The clock of due times, locks and lifetimes; clients should read the same. */
  readonly nowMs?: () => number
  /** Told of a client's protocol errors, which cost it its connection, and of faults of the broker. */
  readonly onFault?: (fault: unknown) => void
}

/** How many messages of a queue are where. `locked` ones are not counted as `active`, deferred ones nowhere. */
export type LocalQueueCounts = { active: number; scheduled: number; deadLettered: number; locked: number }

/** What a test can make go wrong. Faults of sending wait for the next messages sent to their queue, in order. */
export type LocalServiceBusFaults = {
  /** Cuts every connection without a word. */
  dropConnections(): void
  /** Refuses the next message or batch; the default condition is one that the client does not retry. */
  rejectNextSend(queue: string, condition?: string): void
  /** Accepts the next message and forgets it. */
  loseNextMessage(queue: string): void
  /** Puts the next message into the queue twice. */
  deliverNextMessageTwice(queue: string): void
}

export type LocalServiceBus = {
  /** For `ServiceBusClient`, with the flag that makes it speak plain TCP. */
  readonly connectionString: string
  /**
   * Lets time pass for all that the broker holds: what would happen within `durationMs` happens now. The clock itself
   * stays, so that instants which clients send later mean what they say. With 0 it looks at the clock anew.
   */
  advance(durationMs: number): void
  /** @throws Error when there is no such queue */
  counts(queue: string): LocalQueueCounts
  readonly faults: LocalServiceBusFaults
  /** Messages accepted since the start, by queue; one that was never sent to is missing. */
  sent(): Readonly<Record<string, number>>
  /** Cuts every connection and lets go of port and file. */
  close(): Promise<void>
}

/**
 * A broker in this process that Service Bus clients take for the real one, queues only. Messages outlive it, locks do
 * not: a message that a receiver had returns at the next start as after an expired lock.
 * @throws Error that names the file when it is damaged or in use, or the port when it is taken
 */
export async function startServiceBus(options: LocalServiceBusOptions): Promise<LocalServiceBus> {
  const { nowMs = Date.now, onFault = () => {} } = options
  const store = new MessageStore(options.file)
  try {
    return await open(options, store, nowMs, onFault)
  } catch (cause) {
    store.close()
    throw cause
  }
}

async function open(
  { port, queues }: LocalServiceBusOptions,
  store: MessageStore,
  nowMs: () => number,
  onFault: (fault: unknown) => void,
): Promise<LocalServiceBus> {
  const alarm: Alarm = new Alarm(nowMs, () => entities.pump())
  const entities: Entities = new Entities(queues, store, nowMs, alarm)
  const intake = new Intake(nowMs)
  const listener = await listen(port, { entities, intake, store, nowMs, onFault })
  entities.pump()
  return {
    connectionString: `Endpoint=sb://127.0.0.1:${listener.port};SharedAccessKeyName=local;SharedAccessKey=local;UseDevelopmentEmulator=true;`,
    advance(durationMs) {
      for (const { queue } of entities.all()) queue.letPass(durationMs)
      store.letPass(durationMs)
      entities.pump()
    },
    counts(queue) {
      const { active, scheduled, locked } = entities.find(queue).queue.counts(nowMs())
      const dead = entities.find(queue, true).queue.counts(nowMs())
      return { active, scheduled, locked, deadLettered: dead.active + dead.locked + dead.deferred }
    },
    faults: faultsOf(entities, intake, listener.dropConnections),
    sent: () => intake.sentCounts(),
    async close() {
      alarm.stop()
      for (const { dispatcher } of entities.all()) dispatcher.stop()
      await listener.close()
      store.close()
    },
  }
}

function faultsOf(entities: Entities, intake: Intake, dropConnections: () => void): LocalServiceBusFaults {
  return {
    dropConnections,
    rejectNextSend: (queue, condition = 'amqp:not-allowed') =>
      intake.plan(entities.find(queue), { kind: 'reject', condition }),
    loseNextMessage: (queue) => intake.plan(entities.find(queue), { kind: 'lose' }),
    deliverNextMessageTwice: (queue) => intake.plan(entities.find(queue), { kind: 'double' }),
  }
}
