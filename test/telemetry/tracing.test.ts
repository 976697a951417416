import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SpanKind } from '@opentelemetry/api'
import {
  describeInvocation,
  type Invocation,
  inInvocation,
  inSpan,
  invocationDetails,
  messageProperties,
} from '../../shared/kernel/tracing.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

const written: string[] = []
const log = jsonLog(
  'info',
  (line) => written.push(line),
  () => NOW_MS,
  invocationDetails,
)
const lines = () => written.map((line) => JSON.parse(line))
const request = (traceparent?: string): Invocation => ({
  name: 'read',
  kind: SpanKind.SERVER,
  details: { method: 'GET' },
  host: { traceparent },
  nowMs: NOW_MS,
})
const message = (sender: unknown): Invocation => ({ name: 'process', kind: SpanKind.CONSUMER, sender, nowMs: NOW_MS })

describe('An invocation', () => {
  it('adds its trace id and details to every line that is logged during it', async () => {
    written.length = 0
    await inInvocation(request(TRACEPARENT), async () => {
      log.info('first')
      await Promise.resolve()
      describeInvocation({ tenantId: 'one' })
      await inSpan('call', {}, async () => log.info('second', { method: 'of its own' }))
    })
    log.info('third')
    const at = '2030-01-01T00:00:00.000Z'
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    assert.deepEqual(lines(), [
      { at, level: 'info', event: 'first', traceId, method: 'GET' },
      { at, level: 'info', event: 'second', traceId, method: 'of its own', tenantId: 'one' },
      { at, level: 'info', event: 'third' },
    ])
  })

  it('keeps its details apart from those of concurrent and enclosing invocations', async () => {
    written.length = 0
    const logged = (queue: string) =>
      inInvocation({ ...message(undefined), details: { queue } }, async () => {
        await new Promise(setImmediate)
        log.info(queue)
      })
    await inInvocation(request(), () => Promise.all([logged('one'), logged('two')]))
    assert.deepEqual(
      lines().map(({ event, queue, method }) => [event, queue, method]),
      [
        ['one', 'one', undefined],
        ['two', 'two', undefined],
      ],
    )
  })

  it('passes its trace and its start to messages, and these to theirs', async () => {
    const first = await inInvocation(request(TRACEPARENT), async () => messageProperties())
    assert.deepEqual(first, { traceparent: TRACEPARENT, sincems: NOW_MS })
    const later = { ...message(first), nowMs: NOW_MS + 60_000 }
    const second = await inInvocation(later, async ({ sinceMs }) => ({ ...messageProperties(), sinceMs }))
    assert.deepEqual(second, { ...first, sinceMs: NOW_MS })
    assert.deepEqual(messageProperties(), {})
  })

  it('continues the trace of the host when its sender has none', async () => {
    const properties = await inInvocation({ ...request(TRACEPARENT), sender: { sincems: 7 } }, async () =>
      messageProperties(),
    )
    assert.deepEqual(properties, { traceparent: TRACEPARENT, sincems: 7 })
  })

  it('rejects as its work does', async () => {
    const fault = new Error('no')
    await assert.rejects(
      inInvocation(request(), () => Promise.reject(fault)),
      fault,
    )
  })

  for (const sender of [undefined, null, {}, { traceparent: 7, sincems: 'now' }, { sincems: Number.NaN }, 'text']) {
    it(`ignores the properties ${JSON.stringify(sender)}`, async () =>
      assert.deepEqual(await inInvocation(message(sender), async () => messageProperties()), { sincems: NOW_MS }))
  }

  for (const [claim, traceparent] of [
    ['without a trace id', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['without a span id', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['in upper case', TRACEPARENT.toUpperCase()],
    ['with more members than its version has', `${TRACEPARENT}-more`],
    ['of two lines', `${TRACEPARENT}\n${TRACEPARENT}`],
  ] as const) {
    it(`ignores a trace context ${claim}`, async () =>
      assert.deepEqual(await inInvocation(message({ traceparent }), async () => messageProperties()), {
        sincems: NOW_MS,
      }))
  }

  it('passes on the trace state, except one of more than 512 characters', async () => {
    for (const [tracestate, expected] of [
      ['vendor=1', 'vendor=1'],
      [`v=${'x'.repeat(600)}`, ''],
    ] as const) {
      const sender = { traceparent: TRACEPARENT, tracestate }
      const sent = await inInvocation(message(sender), async () => messageProperties())
      assert.equal(sent.tracestate ?? '', expected)
    }
  })
})
