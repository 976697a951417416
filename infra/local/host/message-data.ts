import type { ServiceBusReceivedMessage } from '@azure/service-bus'
import type { RpcTypedData } from './programming-model.ts'

/** The message body for the handler: bytes or text. */
export function messageBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  if (body instanceof Uint8Array) return Buffer.from(body)
  if (Array.isArray(body) && body.every((part) => Buffer.isBuffer(part))) return Buffer.concat(body)
  if (body === undefined || body === null) return Buffer.alloc(0)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Input of an invocation: one or many bodies, as text or bytes. */
export function messageInput(
  bodies: readonly Buffer[],
  { takesMany, takesBytes }: { takesMany: boolean; takesBytes: boolean },
): RpcTypedData {
  const first = bodies[0] ?? Buffer.alloc(0)
  if (takesMany) {
    return takesBytes
      ? { collectionBytes: { bytes: [...bodies] } }
      : { collectionString: { string: bodies.map((body) => body.toString()) } }
  }
  return takesBytes ? { bytes: first } : { string: first.toString() }
}

/**
 * Trigger metadata. The library lower-cases the first letter of each key at all levels, and parses strings as JSON if
 * possible. `DeliveryCount` starts with 1 here and with 0 in the SDK.
 */
export function messageMetadata(message: ServiceBusReceivedMessage): Record<string, RpcTypedData> {
  const applicationProperties = json(message.applicationProperties ?? {})
  return withoutAbsent({
    MessageId: text(message.messageId),
    DeliveryCount: json((message.deliveryCount ?? 0) + 1),
    EnqueuedTimeUtc: json(message.enqueuedTimeUtc),
    ExpiresAtUtc: json(message.expiresAtUtc),
    SequenceNumber: message.sequenceNumber && { json: message.sequenceNumber.toString() },
    LockToken: text(message.lockToken),
    ContentType: text(message.contentType),
    CorrelationId: text(message.correlationId),
    Subject: text(message.subject),
    Label: text(message.subject),
    ReplyTo: text(message.replyTo),
    To: text(message.to),
    SessionId: text(message.sessionId),
    PartitionKey: text(message.partitionKey),
    ApplicationProperties: applicationProperties,
    UserProperties: applicationProperties,
    DeadLetterSource: text(message.deadLetterSource),
  })
}

/** With `cardinality: 'many'`, each key ends in `Array` and contains a list. */
export function batchMetadata(metadata: Record<string, RpcTypedData>): Record<string, RpcTypedData> {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [
      `${key}Array`,
      { json: `[${value.json ?? JSON.stringify(value.string)}]` },
    ]),
  )
}

function withoutAbsent(values: Record<string, RpcTypedData | undefined>): Record<string, RpcTypedData> {
  const present: Record<string, RpcTypedData> = {}
  for (const [key, value] of Object.entries(values)) if (value !== undefined) present[key] = value
  return present
}

const json = (value: unknown): RpcTypedData | undefined =>
  value === undefined ? undefined : { json: JSON.stringify(value) }

const text = (value: unknown): RpcTypedData | undefined =>
  value === undefined || value === null ? undefined : { string: String(value) }
