import { randomUUID } from 'node:crypto'
import type { Entity } from './entities.ts'
import { explodeBatch, readMessage, withMessageId } from './message-codec.ts'
import type { Draft } from './queued-message.ts'
import { BusRefusal } from './refusal.ts'

/** A link's and a batch's limit in the Standard tier. learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas */
export const MAX_MESSAGE_SIZE_BYTES = 262_144
/** Marks a transfer as a batch: its data sections are whole messages. */
const BATCH_FORMAT = 0x8001_3700

type SendFault = { readonly kind: 'lose' | 'double' } | { readonly kind: 'reject'; readonly condition: string }

/** The way of a message from a sender into its queue, with the faults that a test has planned. */
export class Intake {
  readonly #nowMs: () => number
  readonly #planned = new Map<string, SendFault[]>()
  readonly #sentCounts = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Plans a fault for the next message sent to the queue; several happen one after the other. */
  plan({ queue }: Entity, fault: SendFault): void {
    const planned = this.#planned.get(queue.settings.name) ?? []
    this.#planned.set(queue.settings.name, [...planned, fault])
  }

  /** Messages accepted by queue since the start. */
  sentCounts(): Record<string, number> {
    return Object.fromEntries(this.#sentCounts)
  }

  /** Takes in what one transfer brought. @throws BusRefusal, and then none of a batch is in. */
  acceptTransfer(entity: Entity, bytes: Buffer, format: number | undefined): number[] {
    if (bytes.length > MAX_MESSAGE_SIZE_BYTES) {
      throw new BusRefusal(
        'amqp:link:message-size-exceeded',
        `The received message of ${bytes.length} bytes exceeds the limit of ${MAX_MESSAGE_SIZE_BYTES} bytes.`,
      )
    }
    // A copy, as these bytes are a window on a whole chunk read from the network.
    return this.accept(entity, format === BATCH_FORMAT ? explodeBatch(bytes) : [Buffer.from(bytes)])
  }

  /** Takes in messages and gives back their sequence numbers. @throws BusRefusal, and then none is in. */
  accept(entity: Entity, messages: readonly Buffer[]): number[] {
    const { name } = entity.queue.settings
    if (entity.deadLettersOf !== undefined) {
      throw new BusRefusal('amqp:not-allowed', 'Messages cannot be sent to a dead-letter queue.')
    }
    const drafts = messages.map(draftOf)
    const [fault] = this.#planned.get(name) ?? []
    if (fault?.kind === 'reject') {
      this.#planned.get(name)?.shift()
      throw new BusRefusal(fault.condition, 'Refused on request of a test.')
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
