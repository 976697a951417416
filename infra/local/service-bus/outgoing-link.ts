import type { Delivery, EventContext, Sender } from 'rhea'
import type { Consumer } from './dispatcher.ts'
import type { Entity } from './entities.ts'
import { encodeDelivery, tagOfToken, tokenOfTag } from './message-codec.ts'
import type { MessageStore } from './message-store.ts'
import type { Properties, QueuedMessage, Settlement } from './queued-message.ts'
import { asRefusal, BusRefusal, lockLost } from './refusal.ts'
import { Credit, settle } from './rhea-internals.ts'

const SESSION_FILTER = 'com.microsoft:session-filter'
/** sender-settle-mode "settled", AMQP 1.0, part 2, section 2.8.2: deliveries are not acknowledged. */
const SETTLED = 1

/** A link on which a client receives. Delivers messages of the queue and applies their settlement. */
export function openOutgoingLink(sender: Sender, entity: Entity, store: MessageStore, nowMs: () => number): void {
  if (Object.hasOwn(sender.source.filter ?? {}, SESSION_FILTER)) {
    throw new BusRefusal('amqp:not-implemented', 'Sessions are not supported.')
  }
  const credit = new Credit(sender)
  const { dispatcher, queue } = entity
  dispatcher.add(consumerOf(sender, credit, entity))
  sender.on('sender_flow', () => dispatcher.pump())

  const answer = (settlement: Settlement) => (context: EventContext) => {
    const { delivery } = context
    if (delivery === undefined || delivery.settled) return
    const refusal = attempt(() => {
      const token = tokenOfTag(delivery.tag)
      if (token === undefined || !queue.settle(token, settlement, nowMs())) throw lockLost()
    })
    store.afterCommit((failure) => settle(delivery, (failure ? asRefusal(failure) : refusal)?.amqpError))
  }
  sender.on('accepted', answer({ outcome: 'complete', properties: {} }))
  sender.on('released', answer({ outcome: 'abandon', properties: {} }))
  sender.on('modified', (context) => {
    const { undeliverable_here, message_annotations } = stateOf(context.delivery)
    if (context.delivery !== undefined && undeliverable_here) settle(context.delivery, NOT_DEFERRED.amqpError)
    else answer({ outcome: 'abandon', properties: message_annotations ?? {} })(context)
  })
  sender.on('rejected', (context) => {
    const properties: Properties = stateOf(context.delivery).error?.info ?? {}
    answer({ outcome: 'dead-letter', properties })(context)
  })
}

function consumerOf(sender: Sender, credit: Credit, entity: Entity): Consumer {
  const takesForGood = sender.snd_settle_mode === SETTLED
  return {
    takesForGood,
    isOpen: () => sender.is_open(),
    hasRoom: () => sender.is_open() && credit.left > 0,
    deliver(message: QueuedMessage) {
      const tag = message.lock === undefined ? undefined : tagOfToken(message.lock.token)
      credit.spend()
      const delivery = sender.send(encodeDelivery(message, entity.deadLettersOf), tag, 0)
      if (takesForGood) Object.assign(delivery, { settled: true })
    },
    drain: () => credit.drain(),
  }
}

/** Fields of the AMQP outcomes "rejected" and "modified". */
type DeliveryState = {
  readonly error?: { readonly info?: Properties | null } | null
  readonly undeliverable_here?: boolean | null
  readonly message_annotations?: Properties | null
}

const stateOf = (delivery: Delivery | undefined): DeliveryState => delivery?.remote_state ?? {}

const NOT_DEFERRED = new BusRefusal('amqp:not-implemented', 'Deferred messages are not supported.')

function attempt(action: () => void): BusRefusal | undefined {
  try {
    action()
    return undefined
  } catch (failure) {
    return asRefusal(failure)
  }
}
