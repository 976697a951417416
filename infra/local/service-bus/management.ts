import rhea from 'rhea'
import type { Entity } from './entities.ts'
import type { Intake } from './intake.ts'
import { encodeDelivery } from './message-codec.ts'
import type { Settlement } from './queued-message.ts'
import { BusRefusal, lockLost } from './refusal.ts'

// Operations of `queue/$management`. learn.microsoft.com/azure/service-bus-messaging/service-bus-amqp-request-response

const { types } = rhea
// Type codes of AMQP 1.0, part 1, section 1.6, for the arrays in replies.
const LONG = 0x81
const TIMESTAMP = 0x83
const PEEK_LIMIT_BYTES = 1_048_576

type Body = Readonly<Record<string, unknown>>

export type ManagementRequest = {
  readonly operation: string
  readonly body: Body
  readonly entity: Entity
  readonly intake: Intake
  readonly nowMs: number
}

export type ManagementReply = { readonly status: 200 | 204; readonly body: unknown }

type Operation = (request: ManagementRequest) => ManagementReply

const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['com.microsoft:renew-lock', renewLocks],
  ['com.microsoft:schedule-message', scheduleMessages],
  ['com.microsoft:cancel-scheduled-message', cancelScheduledMessages],
  ['com.microsoft:peek-message', peekMessages],
  ['com.microsoft:update-disposition', updateDisposition],
])

/** Runs a request. @throws BusRefusal `amqp:not-implemented` for sessions, deferred messages, rules and other unsupported operations */
export function manage(request: ManagementRequest): ManagementReply {
  const operation = OPERATIONS.get(request.operation)
  if (operation === undefined) {
    throw new BusRefusal('amqp:not-implemented', `The operation '${request.operation}' is not supported.`)
  }
  return operation(request)
}

function renewLocks({ body, entity, nowMs }: ManagementRequest): ManagementReply {
  const expirations = lockTokens(body).map((token) => {
    const untilMs = entity.queue.renew(token, nowMs)
    if (untilMs === undefined) throw lockLost()
    return untilMs
  })
  return done({ expirations: types.wrap_array(expirations, TIMESTAMP, undefined) })
}

function scheduleMessages({ body, entity, intake }: ManagementRequest): ManagementReply {
  const messages = listOf(body, 'messages').map((entry) => {
    const message = (entry as Body | null)?.message
    if (Buffer.isBuffer(message)) return Buffer.from(message)
    throw new BusRefusal('amqp:invalid-field', "An entry of 'messages' has no message.")
  })
  const numbers = intake.accept(entity, messages)
  return done({ 'sequence-numbers': types.wrap_array(numbers, LONG, undefined) })
}

function cancelScheduledMessages({ body, entity, nowMs }: ManagementRequest): ManagementReply {
  if (!entity.queue.cancelScheduled(sequenceNumbers(body), nowMs)) throw messageNotFound()
  return done({})
}

function peekMessages({ body, entity, nowMs }: ManagementRequest): ManagementReply {
  const countLimit = Number(body['message-count'] ?? 1)
  const messages: { message: Buffer }[] = []
  let sizeBytes = 0
  for (const peeked of entity.queue.peek(longOf(body['from-sequence-number'] ?? 0), nowMs)) {
    const message = encodeDelivery({ ...peeked, lock: undefined }, entity.deadLettersOf)
    sizeBytes += message.length
    if (messages.length >= countLimit || (messages.length > 0 && sizeBytes > PEEK_LIMIT_BYTES)) break
    messages.push({ message })
  }
  return messages.length === 0 ? { status: 204, body: undefined } : done({ messages })
}

/** Settles a message whose link is closed. */
function updateDisposition({ body, entity, nowMs }: ManagementRequest): ManagementReply {
  const status = String(body['disposition-status'])
  const outcome = DISPOSITIONS.get(status)
  if (outcome === undefined) throw new BusRefusal('amqp:invalid-field', `The disposition '${status}' is not supported.`)
  for (const token of lockTokens(body)) {
    if (!entity.queue.settle(token, { outcome, properties: {} }, nowMs)) throw lockLost()
  }
  return done({})
}

const DISPOSITIONS: ReadonlyMap<string, Settlement['outcome']> = new Map([
  ['completed', 'complete'],
  ['abandoned', 'abandon'],
])

const done = (body: unknown): ManagementReply => ({ status: 200, body })

const messageNotFound = (): BusRefusal =>
  new BusRefusal('com.microsoft:message-not-found', 'The message is not scheduled.')

const lockTokens = (body: Body): string[] =>
  listOf(body, 'lock-tokens').map((token) => {
    if (Buffer.isBuffer(token) && token.length === 16) return rhea.uuid_to_string(token)
    throw new BusRefusal('amqp:invalid-field', "An entry of 'lock-tokens' is not a UUID.")
  })

const sequenceNumbers = (body: Body): number[] => listOf(body, 'sequence-numbers').map(longOf)

/** A long is encoded as eight bytes or fewer. */
const longOf = (value: unknown): number =>
  Buffer.isBuffer(value) && value.length === 8 ? Number(value.readBigInt64BE()) : Number(value)

function listOf(body: Body, name: string): readonly unknown[] {
  const list = body[name]
  if (Array.isArray(list)) return list
  throw new BusRefusal('amqp:invalid-field', `The request has no list '${name}'.`)
}
