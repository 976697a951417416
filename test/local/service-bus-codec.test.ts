import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import rhea from 'rhea'
import {
  encodeDelivery,
  explodeBatch,
  readMessage,
  tagOfToken,
  tokenOfTag,
  withApplicationProperties,
  withMessageId,
} from '../../infra/local/service-bus/message-codec.ts'
import { BusRefusal } from '../../infra/local/service-bus/refusal.ts'

const { message, types } = rhea

/** A message of a client, with types that decoding to plain values would lose. */
const SENT = message.encode({
  ttl: 60_000,
  message_id: 'm1',
  message_annotations: { 'x-opt-scheduled-enqueue-time': types.wrap_timestamp(1_893_456_000_000) },
  application_properties: { attempt: types.wrap_long(3), name: 'first' },
  body: message.data_section(Buffer.from('{"jobId":"j1"}')),
})
const DELIVERY = {
  bytes: SENT,
  deliveryCount: 2,
  enqueuedAtMs: 1_893_456_000_000,
  sequenceNumber: 300,
  enqueuedSequenceNumber: 7,
  state: 'active',
  lock: { untilMs: 1_893_456_300_000 },
} as const

describe('the message codec', () => {
  it('reads id, lifetime and due time', () => {
    assert.deepEqual(readMessage(SENT), { messageId: 'm1', timeToLiveMs: 60_000, dueAtMs: 1_893_456_000_000 })
  })

  it('accepts a message without these', () => {
    const bare = message.encode({ body: message.data_section(Buffer.from('1')) })
    assert.deepEqual(readMessage(bare), {
      messageId: undefined,
      timeToLiveMs: Number.POSITIVE_INFINITY,
      dueAtMs: undefined,
    })
    assert.equal(readMessage(withMessageId(bare, 'stamped')).messageId, 'stamped')
  })

  it('delivers the original bytes from the properties on, after its own header and annotations', () => {
    const delivered = encodeDelivery(DELIVERY, 'jobs')
    const tail = SENT.subarray(SENT.indexOf(Buffer.from([0x00, 0x53, 0x73])))
    assert.deepEqual(delivered.subarray(-tail.length), tail)
    const decoded = message.decode(delivered)
    assert.deepEqual([decoded.delivery_count, decoded.ttl, decoded.message_id], [2, 60_000, 'm1'])
    assert.deepEqual(decoded.message_annotations, {
      'x-opt-scheduled-enqueue-time': new Date(1_893_456_000_000),
      'x-opt-enqueued-time': new Date(1_893_456_000_000),
      'x-opt-sequence-number': 300,
      'x-opt-enqueue-sequence-number': 7,
      'x-opt-message-state': 0,
      'x-opt-locked-until': new Date(1_893_456_300_000),
      'x-opt-deadletter-source': 'jobs',
    })
  })

  it('merges application properties and keeps the types of the others', () => {
    const merged = withApplicationProperties(SENT, { name: 'second', reason: 'test' })
    assert.deepEqual(message.decode(merged).application_properties, { attempt: 3, name: 'second', reason: 'test' })
    const attempt = Buffer.from([0xa1, 7, ...Buffer.from('attempt'), 0x55, 3]) // 0x55: a small long
    assert.ok(merged.includes(attempt))
    assert.equal(message.decode(merged).body.content.toString(), '{"jobId":"j1"}')
  })

  it('splits a batch', () => {
    const batch = message.encode({ message_id: 'batch', body: message.data_sections([SENT, SENT]) })
    assert.deepEqual(explodeBatch(batch), [SENT, SENT])
  })

  it('encodes a lock token as delivery tag with the first three groups in little-endian order', () => {
    const token = '00112233-4455-6677-8899-aabbccddeeff'
    assert.equal(tagOfToken(token).toString('hex'), '33221100554477668899aabbccddeeff')
    assert.equal(tokenOfTag(tagOfToken(token)), token)
    assert.equal(tokenOfTag(Buffer.from('1')), undefined)
  })

  it('refuses invalid messages, and throws no other error', () => {
    const damaged = fc.tuple(fc.nat(SENT.length - 1), fc.nat(255)).map(([position, byte]) => {
      const copy = Buffer.from(SENT)
      copy[position] = byte
      return copy
    })
    const cut = fc.nat(SENT.length - 1).map((length) => SENT.subarray(0, length))
    const noise = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(damaged, cut, noise), (bytes) => {
        if (isRefused(() => readMessage(bytes))) return
        // An accepted message can be rewritten and delivered.
        const rewritten = withApplicationProperties(withMessageId(bytes, 'm2'), { reason: 'test' })
        encodeDelivery({ ...DELIVERY, bytes: rewritten })
        isRefused(() => explodeBatch(bytes))
      }),
      { numRuns: 3_000 },
    )
  })
})

function isRefused(action: () => unknown): boolean {
  try {
    action()
    return false
  } catch (failure) {
    assert.ok(failure instanceof BusRefusal, String(failure))
    return true
  }
}
