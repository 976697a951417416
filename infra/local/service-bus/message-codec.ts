import rhea, { type Typed } from 'rhea'
import { BusRefusal } from './refusal.ts'
import { decodeValue, encodeSection } from './rhea-internals.ts'

const { types } = rhea

// AMQP 1.0, part 3, section 3.2: descriptors of the sections of a message, in order.
const HEADER = 0x70
const MESSAGE_ANNOTATIONS = 0x72
const PROPERTIES = 0x73
const APPLICATION_PROPERTIES = 0x74
const DATA = 0x75

const SCHEDULED_ENQUEUE_TIME = 'x-opt-scheduled-enqueue-time'
const STATES = { active: 0, scheduled: 2 } as const

type Section = {
  readonly descriptor: number
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

/** The parts of a message that the broker reads. Other parts are passed on unread. */
export type MessageFacts = {
  readonly messageId: string | undefined
  readonly timeToLiveMs: number
  readonly dueAtMs: number | undefined
}

/** Data that the broker adds when it delivers a message. */
export type DeliveryFacts = {
  readonly bytes: Buffer
  readonly deliveryCount: number
  readonly enqueuedAtMs: number
  readonly sequenceNumber: number
  readonly enqueuedSequenceNumber: number
  readonly state: keyof typeof STATES
  readonly lock: { readonly untilMs: number } | undefined
}

/** Reads message id, lifetime and due time. @throws BusRefusal if the bytes are not a message */
export function readMessage(bytes: Buffer): MessageFacts {
  const head = headOf(bytes)
  // Parsed here to reject invalid properties early: they can be merged later.
  fields(bytes, head.get(APPLICATION_PROPERTIES))
  const timeToLive = fields(bytes, head.get(HEADER))[2]?.value
  const due = mapOf(bytes, head.get(MESSAGE_ANNOTATIONS)).get(SCHEDULED_ENQUEUE_TIME)?.value
  const messageId = fields(bytes, head.get(PROPERTIES))[0]?.value
  return {
    messageId: messageId === undefined || messageId === null ? undefined : idText(messageId),
    timeToLiveMs: typeof timeToLive === 'number' ? timeToLive : Number.POSITIVE_INFINITY,
    dueAtMs: due instanceof Date || typeof due === 'number' ? Number(due) : undefined,
  }
}

/** Adds a message id if there is none. Lock renewal of the client requires one. */
export function withMessageId(bytes: Buffer, messageId: string): Buffer {
  const head = headOf(bytes)
  const [, ...others] = fields(bytes, head.get(PROPERTIES))
  return replaced(bytes, head, PROPERTIES, encodeSection(PROPERTIES, 'list', [types.wrap(messageId), ...others]))
}

/** Merges values into the application properties. The types of other properties are kept. */
export function withApplicationProperties(bytes: Buffer, values: Readonly<Record<string, unknown>>): Buffer {
  const head = headOf(bytes)
  const merged = mapOf(bytes, head.get(APPLICATION_PROPERTIES))
  for (const [name, value] of Object.entries(values)) merged.set(name, types.wrap(value))
  const items = [...merged].flatMap(([name, value]) => [types.wrap(name), value])
  return replaced(bytes, head, APPLICATION_PROPERTIES, encodeSection(APPLICATION_PROPERTIES, 'map', items))
}

/** Encodes the message for a receiver. The bytes of the sender are unchanged from the properties on. */
export function encodeDelivery(message: DeliveryFacts, deadLetterSource?: string): Buffer {
  const { bytes } = message
  const head = headOf(bytes)
  const annotations = mapOf(bytes, head.get(MESSAGE_ANNOTATIONS))
  annotations.set('x-opt-enqueued-time', types.wrap_timestamp(message.enqueuedAtMs))
  annotations.set('x-opt-sequence-number', types.wrap_long(message.sequenceNumber))
  annotations.set('x-opt-enqueue-sequence-number', types.wrap_long(message.enqueuedSequenceNumber))
  annotations.set('x-opt-message-state', types.wrap_int(STATES[message.state]))
  if (message.lock !== undefined) annotations.set('x-opt-locked-until', types.wrap_timestamp(message.lock.untilMs))
  if (deadLetterSource !== undefined) annotations.set('x-opt-deadletter-source', types.wrap(deadLetterSource))
  const sent = fields(bytes, head.get(HEADER))
  const header = [0, 1, 2, 3].map((field) => sent[field] ?? types.wrap(null))
  return Buffer.concat([
    encodeSection(HEADER, 'list', [...header, types.wrap_uint(message.deliveryCount)]),
    encodeSection(
      MESSAGE_ANNOTATIONS,
      'map',
      [...annotations].flatMap(([name, value]) => [types.wrap_symbol(name), value]),
    ),
    bytes.subarray(positionOf(head, PROPERTIES, bytes)),
  ])
}

/**
 * The messages of a batch: the contents of its data sections. Copied, so that a message does not keep the batch in
 * memory.
 */
export function explodeBatch(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = []
  for (const { descriptor, valueStart, end } of sections(bytes)) {
    if (descriptor === DATA) messages.push(Buffer.from(binaryOf(bytes.subarray(valueStart, end))))
  }
  return messages
}

/** Encodes a lock token as delivery tag: a .NET GUID, with the first three groups in little-endian order. */
export function tagOfToken(token: string): Buffer {
  return swapped(rhea.string_to_uuid(token))
}

/** Decodes the lock token of a delivery tag. Undefined for a tag that the broker did not create. */
export function tokenOfTag(tag: Buffer | string): string | undefined {
  return Buffer.isBuffer(tag) && tag.length === 16 ? rhea.uuid_to_string(swapped(tag)) : undefined
}

function swapped(uuid: Buffer): Buffer {
  const copy = Buffer.from(uuid)
  copy.subarray(0, 4).swap32()
  copy.subarray(4, 8).swap16()
  return copy
}

function idText(messageId: unknown): string {
  return Buffer.isBuffer(messageId) ? messageId.toString('hex') : String(messageId)
}

/** The sections before the body, by descriptor. */
function headOf(bytes: Buffer): Map<number, Section> {
  const head = new Map<number, Section>()
  for (const section of sections(bytes)) {
    head.set(section.descriptor, section)
    if (section.descriptor >= DATA) break
  }
  return head
}

/** The start of a section or, if it does not exist, its position. */
function positionOf(head: Map<number, Section>, descriptor: number, bytes: Buffer): number {
  for (const section of head.values()) if (section.descriptor >= descriptor) return section.start
  return bytes.length
}

function replaced(bytes: Buffer, head: Map<number, Section>, descriptor: number, section: Buffer): Buffer {
  const start = positionOf(head, descriptor, bytes)
  const end = head.get(descriptor)?.end ?? start
  return Buffer.concat([bytes.subarray(0, start), section, bytes.subarray(end)])
}

function fields(bytes: Buffer, section: Section | undefined): readonly Typed[] {
  if (section === undefined) return []
  let value: unknown
  try {
    value = decodeValue(bytes.subarray(section.start, section.end)).value
  } catch (cause) {
    throw malformed(cause)
  }
  return Array.isArray(value) ? value : []
}

function mapOf(bytes: Buffer, section: Section | undefined): Map<string, Typed> {
  const items = fields(bytes, section)
  const map = new Map<string, Typed>()
  for (let index = 0; index + 1 < items.length; index += 2) {
    const [name, value] = [items[index], items[index + 1]]
    if (name !== undefined && value !== undefined) map.set(String(name.value), value)
  }
  return map
}

function* sections(bytes: Buffer): Generator<Section> {
  for (let start = 0; start < bytes.length; ) {
    const section = sectionAt(bytes, start)
    yield section
    start = section.end
  }
}

/** AMQP 1.0, part 1, section 1.2: a described value is 0x00, its descriptor, then the value with its constructor. */
function sectionAt(bytes: Buffer, start: number): Section {
  try {
    if (bytes.readUInt8(start) !== 0) throw new RangeError('a section begins with its descriptor')
    const [descriptor, valueStart] = descriptorAt(bytes, start + 1)
    // A body can be a described value. The broker reads nothing after it.
    const end = bytes.readUInt8(valueStart) === 0 ? bytes.length : valueStart + sizeAt(bytes, valueStart)
    if (end > bytes.length) throw new RangeError('a section ends after the message')
    return { descriptor, start, valueStart, end }
  } catch (cause) {
    throw malformed(cause)
  }
}

function descriptorAt(bytes: Buffer, offset: number): [descriptor: number, next: number] {
  const typeCode = bytes.readUInt8(offset)
  if (typeCode === 0x53) return [bytes.readUInt8(offset + 1), offset + 2]
  if (typeCode === 0x80) return [Number(bytes.readBigUInt64BE(offset + 1)), offset + 9]
  throw new RangeError(`a section's descriptor is of type ${typeCode}`)
}

/** The total size of the value at the offset. AMQP 1.0, part 1, section 1.6.1: the high digit determines the width. */
function sizeAt(bytes: Buffer, offset: number): number {
  const category = bytes.readUInt8(offset) >> 4
  if (category === 0x4) return 1
  if (category >= 0x5 && category <= 0x9) return 1 + 2 ** (category - 5)
  if (category === 0xa || category === 0xc || category === 0xe) return 2 + bytes.readUInt8(offset + 1)
  if (category === 0xb || category === 0xd || category === 0xf) return 5 + bytes.readUInt32BE(offset + 1)
  throw new RangeError(`no AMQP type has the constructor ${bytes.readUInt8(offset)}`)
}

function binaryOf(value: Buffer): Buffer {
  const typeCode = value.readUInt8(0)
  if (typeCode === 0xa0) return value.subarray(2)
  if (typeCode === 0xb0) return value.subarray(5)
  throw new BusRefusal('amqp:decode-error', 'A batch must contain messages only.')
}

const malformed = (cause: unknown): BusRefusal =>
  new BusRefusal('amqp:decode-error', 'The message is not well-formed AMQP 1.0.', { cause })
