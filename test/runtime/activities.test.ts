import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { traceContextOf, traceIdOf } from '../../shared/kernel/trace-context.ts'
import { type ActivityStart, UNTRACED } from '../../shared/kernel/tracing.ts'
import { originOf, originProperties } from '../../shared/messaging/origin-properties.ts'
import { trackedActivities } from '../../shared/telemetry/activities.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

const activities = trackedActivities(UNTRACED, () => NOW_MS)
const written: string[] = []
const log = jsonLog(
  'info',
  (line) => written.push(line),
  () => NOW_MS,
  activities.logDetails,
)
const request = (traceparent?: string): ActivityStart => {
  const trace = traceContextOf(traceparent)
  return { name: 'read', kind: 'request', details: { method: 'GET' }, origin: trace === undefined ? {} : { trace } }
}

describe('An activity', () => {
  it('stands in every line that is logged during it, with all that was told of it before', async () => {
    written.length = 0
    await activities.during(request(TRACEPARENT), async (activity) => {
      log.info('first')
      await Promise.resolve()
      activity.describe({ tenantId: 'one' })
      await activities.during({ name: 'call', kind: 'call', details: { itemCount: 3 } }, async (call) => {
        call.describe({ status: 204 })
        log.info('second', { method: 'of its own' })
      })
    })
    log.info('third')
    const at = '2030-01-01T00:00:00.000Z'
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    assert.deepEqual(
      written.map((line) => JSON.parse(line)),
      [
        { at, level: 'info', event: 'first', traceId, method: 'GET' },
        { at, level: 'info', event: 'second', traceId, method: 'of its own', tenantId: 'one' },
        { at, level: 'info', event: 'third' },
      ],
    )
  })

  it('does not mix with another one at the same time, nor with one that it was begun in', async () => {
    written.length = 0
    const say = (name: string) =>
      activities.during({ name, kind: 'message', details: { queue: name } }, async () => {
        await new Promise(setImmediate)
        log.info(name)
      })
    await activities.during(request(), () => Promise.all([say('one'), say('two')]))
    assert.deepEqual(
      written.map((line) => JSON.parse(line)).map(({ event, queue, method }) => [event, queue, method]),
      [
        ['one', 'one', undefined],
        ['two', 'two', undefined],
      ],
    )
  })

  it('hands on its trace and its beginning to messages, and these to theirs', async () => {
    const first = await activities.during(request(TRACEPARENT), async () => activities.origin())
    assert.deepEqual(originProperties(first), { traceparent: TRACEPARENT, sincems: NOW_MS })
    const later = trackedActivities(UNTRACED, () => NOW_MS + 60_000)
    const message: ActivityStart = { name: 'process', kind: 'message', origin: originOf(originProperties(first)) }
    const second = await later.during(message, async ({ sinceMs }) => ({ ...later.origin(), seenMs: sinceMs }))
    assert.deepEqual(second, { ...first, seenMs: NOW_MS })
    assert.deepEqual(activities.origin(), {})
  })

  it('fails as its work does', async () => {
    const fault = new Error('no')
    await assert.rejects(
      activities.during(request(), async () => {
        throw fault
      }),
      fault,
    )
  })
})

describe('Where a message comes from', () => {
  for (const properties of [undefined, null, {}, { traceparent: 7, sincems: 'now' }, { sincems: Number.NaN }, 'text']) {
    it(`is unknown for ${JSON.stringify(properties)}`, () => assert.deepEqual(originOf(properties), {}))
  }
})

describe('A trace context', () => {
  for (const [claim, value] of [
    ['of another version', '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['without a trace', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['without a span', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['in upper case', TRACEPARENT.toUpperCase()],
    ['that goes on', `${TRACEPARENT}-more`],
    ['of two lines', `${TRACEPARENT}\n`],
  ] as const) {
    it(`${claim} is none`, () => assert.equal(traceContextOf(value), undefined))
  }

  it('keeps the state of other systems, unless that is too long to be handed on', () => {
    const context = traceContextOf(TRACEPARENT, 'vendor=1')
    assert.deepEqual(context, { traceparent: TRACEPARENT, tracestate: 'vendor=1' })
    assert.deepEqual(traceContextOf(TRACEPARENT, 'v='.padEnd(600, 'x')), { traceparent: TRACEPARENT })
    assert.equal(traceIdOf({ traceparent: TRACEPARENT }), '0af7651916cd43dd8448eb211c80319c')
  })
})
