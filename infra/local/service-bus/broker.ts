import { ACCESS_KEY } from './access-tokens.ts'
import { Alarm } from './dispatcher.ts'
import { Entities, type LocalQueue } from './entities.ts'
import { Intake } from './intake.ts'
import { listen } from './listener.ts'
import { MessageStore } from './message-store.ts'

export type { LocalQueue } from './entities.ts'

export type LocalServiceBusOptions = {
  /** 0 selects a free port. */
  readonly port: number
  /** Path of the SQLite file with the messages, or `:memory:`. */
  readonly file: string
  readonly queues: readonly LocalQueue[]
  /** Clock for due times, locks and lifetimes. Clients should use the same clock. */
  readonly nowMs?: () => number
  /** Receives protocol errors of clients, which close their connection, and errors of the broker. */
  readonly onFault?: (fault: unknown) => void
}

/** Number of messages of a queue by state. `active` excludes locked messages. */
export type LocalQueueCounts = { active: number; scheduled: number; deadLettered: number; locked: number }

/** Faults that a test can inject. Send faults apply to the next messages of the queue, in order. */
export type LocalServiceBusFaults = {
  dropConnections(): void
  /** Rejects the next message or batch. The client does not retry the default condition. */
  rejectNextSend(queue: string, condition?: string): void
  /** Accepts the next message and drops it. */
  loseNextMessage(queue: string): void
  /** Enqueues the next message twice. */
  deliverNextMessageTwice(queue: string): void
  /** Cancels the faults of messages that have not come. */
  clear(): void
}

export type LocalServiceBus = {
  /** For `ServiceBusClient`, with the flag for plain TCP. */
  readonly connectionString: string
  /**
   * Advances the time of all messages: events within `durationMs` happen now. The clock itself does not change, so that
   * instants of later messages stay correct. With 0 it processes due events.
   */
  advance(durationMs: number): void
  /** @throws Error if the queue does not exist */
  counts(queue: string): LocalQueueCounts
  readonly faults: LocalServiceBusFaults
  /** Number of accepted messages since the start, by queue. Queues without messages are absent. */
  sent(): Readonly<Record<string, number>>
  /** Drops all connections, and closes the port and the file. */
  close(): Promise<void>
}

/**
 * Starts an in-process broker for Service Bus clients. Supports queues only. Messages survive a restart, locks do not:
 * a locked message returns to its queue at the next start, as after an expired lock.
 * @throws Error that names the damaged file, or the file or port in use
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
    connectionString: `Endpoint=sb://127.0.0.1:${listener.port};SharedAccessKeyName=${ACCESS_KEY.name};SharedAccessKey=${ACCESS_KEY.key};UseDevelopmentEmulator=true;`,
    advance(durationMs) {
      for (const { queue } of entities.all()) queue.letPass(durationMs)
      store.letPass(durationMs)
      entities.pump()
    },
    counts(queue) {
      const { active, scheduled, locked } = entities.find(queue).queue.counts(nowMs())
      const dead = entities.find(queue, true).queue.counts(nowMs())
      return { active, scheduled, locked, deadLettered: dead.active + dead.locked }
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
    clear: () => intake.clearPlans(),
  }
}
