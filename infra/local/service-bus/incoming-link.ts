import rhea, { type EventContext, type Receiver, type Sender } from 'rhea'
import { acceptToken } from './access-tokens.ts'
import type { Entity } from './entities.ts'
import type { Intake } from './intake.ts'
import { type ManagementReply, manage } from './management.ts'
import type { MessageStore } from './message-store.ts'
import { asRefusal, BusRefusal } from './refusal.ts'
import { settle } from './rhea-internals.ts'

/** A link on which a client sends. Each transfer is accepted completely, or rejected with the reason. */
export function openQueueLink(receiver: Receiver, entity: Entity, intake: Intake, store: MessageStore): void {
  if (entity.deadLettersOf !== undefined) {
    throw new BusRefusal('amqp:not-allowed', 'Messages cannot be sent to a dead-letter queue.')
  }
  receiver.on('message', (context: EventContext) => {
    const { delivery } = context
    if (delivery === undefined) return
    try {
      intake.acceptTransfer(entity, rawBytes(context), delivery.format)
      store.afterCommit((failure) => settle(delivery, failure && asRefusal(failure).amqpError))
    } catch (failure) {
      settle(delivery, asRefusal(failure).amqpError)
    }
  })
}

/** A link for management requests. Replies use the link in the other direction. */
export function openManagementLink(
  receiver: Receiver,
  entity: Entity,
  intake: Intake,
  store: MessageStore,
  nowMs: () => number,
): void {
  openRequestLink(
    receiver,
    (operation, body) => manage({ operation, body: (body ?? {}) as Fields, entity, intake, nowMs: nowMs() }),
    store,
  )
}

/** The link for access tokens of the connection. */
export function openTokenLink(receiver: Receiver, store: MessageStore): void {
  openRequestLink(
    receiver,
    (operation, token, { type }) => {
      if (operation === 'put-token') {
        acceptToken(receiver.connection, token, type)
        return { status: 202, body: undefined }
      }
      throw new BusRefusal('amqp:not-implemented', `The operation '${operation}' is not supported.`)
    },
    store,
  )
}

type Reply = ManagementReply | { readonly status: 202; readonly body: undefined }
type Fields = Readonly<Record<string, unknown>>
type Handler = (operation: string, body: unknown, properties: Fields) => Reply

function openRequestLink(receiver: Receiver, handle: Handler, store: MessageStore): void {
  receiver.on('message', (context: EventContext) => {
    const { delivery } = context
    if (delivery === undefined) return
    try {
      const request = rhea.message.decode(rawBytes(context))
      const properties = request.application_properties ?? {}
      const reply = outcomeOf(() => handle(String(properties.operation), request.body, properties))
      settle(delivery)
      store.afterCommit((failure) => answer(receiver, request.message_id, failure ? asRefusal(failure) : reply))
    } catch (failure) {
      settle(delivery, asRefusal(failure, 'amqp:decode-error').amqpError)
    }
  })
}

function outcomeOf(handle: () => Reply): Reply | BusRefusal {
  try {
    return handle()
  } catch (failure) {
    return asRefusal(failure)
  }
}

/** The layers of the client read two spellings of the status. The reply contains both. */
function answer(receiver: Receiver, requestId: unknown, reply: Reply | BusRefusal): void {
  const { address } = receiver.target
  const sender = receiver.session.find_sender((link: Sender) => link.source?.address === address)
  if (sender === undefined) return
  const { status } = reply
  const description = reply instanceof BusRefusal ? reply.message : status === 202 ? 'Accepted' : 'OK'
  const code = rhea.types.wrap_int(status)
  const condition = reply instanceof BusRefusal ? rhea.types.wrap_symbol(reply.condition) : undefined
  sender.send({
    correlation_id: requestId as string,
    application_properties: {
      statusCode: code,
      'status-code': code,
      statusDescription: description,
      'status-description': description,
      ...(condition === undefined ? {} : { errorCondition: condition, 'error-condition': condition }),
    },
    body: reply instanceof BusRefusal ? undefined : reply.body,
  })
}

function rawBytes({ message }: EventContext): Buffer {
  if (Buffer.isBuffer(message)) return message
  throw new BusRefusal('amqp:decode-error', 'A transfer without a message.')
}
