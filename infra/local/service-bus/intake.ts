import { randomUUID } from 'node:crypto'
import type { Entity } from './entities.ts'
import { explodeBatch, readMessage, withMessageId } from './message-codec.ts'
import type { Draft } from './queued-message.ts'
import { BusRefusal } from './refusal.ts'

/**
 * Message and batch size limit of the Standard tier. learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas
 */
export const MAX_MESSAGE_SIZE_BYTES = 262_144
/** Message format of a batch: its data sections are complete messages. */
const BATCH_FORMAT = 0x8001_3700

type SendFault = { readonly kind: 'lose' | 'double' } | { readonly kind: 'reject'; readonly condition: string }

/** Accepts messages of senders into queues, and applies injected faults. */
export class Intake {
  readonly #nowMs: () => number
  readonly #planned = new Map<string, SendFault[]>()
  readonly #sentCounts = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Injects a fault for the next message of the queue. Several faults apply in order. */
  plan({ queue }: Entity, fault: SendFault): void {
    const planned = this.#planned.get(queue.settings.name) ?? []
    this.#planned.set(queue.settings.name, [...planned, fault])
  }

  /** Cancels the planned faults of all queues. */
  clearPlans(): void {
    this.#planned.clear()
  }

  /** Number of accepted messages since the start, by queue. */
  sentCounts(): Record<string, number> {
    return Object.fromEntries(this.#sentCounts)
  }

  /** Accepts a transfer. @throws BusRefusal; a batch is then rejected completely */
  acceptTransfer(entity: Entity, bytes: Buffer, format: number | undefined): number[] {
    if (bytes.length > MAX_MESSAGE_SIZE_BYTES) {
      throw new BusRefusal(
        'amqp:link:message-size-exceeded',
        `The received message of ${bytes.length} bytes exceeds the limit of ${MAX_MESSAGE_SIZE_BYTES} bytes.`,
      )
    }
    // Copies the bytes, which are a view of a larger network buffer.
    return this.accept(entity, format === BATCH_FORMAT ? explodeBatch(bytes) : [Buffer.from(bytes)])
  }

  /** Accepts messages and returns their sequence numbers. @throws BusRefusal; all messages are then rejected */
  accept(entity: Entity, messages: readonly Buffer[]): number[] {
    const { name } = entity.queue.settings
    if (entity.deadLettersOf !== undefined) {
      throw new BusRefusal('amqp:not-allowed', 'Messages cannot be sent to a dead-letter queue.')
    }
    const drafts = messages.map(draftOf)
    const [fault] = this.#planned.get(name) ?? []
    if (fault?.kind === 'reject') {
      this.#planned.get(name)?.shift()
      throw new BusRefusal(fault.condition, 'Rejected by an injected fault.')
    }
    this.#sentCounts.set(name, (this.#sentCounts.get(name) ?? 0) + drafts.length)
    return drafts.map((draft) => this.#enqueue(entity, draft))
  }

  #enqueue({ queue }: Entity, draft: Draft): number {
    const planned = this.#planned.get(queue.settings.name)
    const fault = planned?.[0]?.kind === 'reject' ? undefined : planned?.shift()
    if (fault?.kind === 'lose') return queue.reserveNumber()
    if (fault?.kind === 'double') queue.send(draft, this.#nowMs())
    return queue.send(draft, this.#nowMs())
  }
}

function draftOf(bytes: Buffer): Draft {
  const { messageId, timeToLiveMs, dueAtMs } = readMessage(bytes)
  if (messageId !== undefined) return { bytes, messageId, timeToLiveMs, dueAtMs }
  const stamped = randomUUID()
  return { bytes: withMessageId(bytes, stamped), messageId: stamped, timeToLiveMs, dueAtMs }
}
