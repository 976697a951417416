import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { enqueueDailyWork, minutesSince } from '../../shared/domain/sync/sweep.ts'
import { TENANT } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

const at = (time: string): number => Date.parse(`2031-01-01T${time}Z`)
const whole = Array.from({ length: 60 }, (_, minute) => minute)

describe('The minutes whose tenants are due', () => {
  for (const [claim, last, now, expected] of [
    ['are the current one when the timer has not run before', undefined, at('12:30:00.1'), [30]],
    ['are the current one when the timer runs every minute', at('12:29:00.2'), at('12:30:00.1'), [30]],
    ['are the next one when the timer runs a little early', at('12:29:00'), at('12:29:59.8'), [30]],
    ['are the next one after an early run', at('12:30:00'), at('12:31:00.1'), [31]],
    ['are none when the timer runs twice in a minute', at('12:30:00.1'), at('12:30:20'), []],
    ['include the missed one when the timer runs after its minute', at('12:28:00.1'), at('12:30:00.5'), [29, 30]],
    ['are all missed ones', at('11:57:00'), at('12:02:10'), [58, 59, 0, 1, 2]],
    ['are all after more than an hour', at('08:00:00'), at('12:30:00.1'), [...whole.slice(31), ...whole.slice(0, 31)]],
  ] as const) {
    it(claim, () => assert.deepEqual(minutesSince(last, now), expected))
  }
})

describe('A late timer at midnight', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture()
    await fixture.deps.tenants.register(TENANT)
  })
  after(() => fixture.close())
  beforeEach(() => {
    fixture.sentMessages.length = 0
  })

  const run = (last: number, now: number) => enqueueDailyWork(last, { ...fixture.deps, nowMs: () => now })
  const enqueued = () => fixture.sentMessages.map(({ message }) => message.queue)
  const DAY_MS = 86_400_000

  it('enqueues the work of the new day once', async () => {
    await run(at('00:00:00') - 60_000, at('00:03:20'))
    assert.deepEqual(enqueued(), ['evaluations', 'audits'])
    await run(at('00:03:20'), at('00:04:00'))
    assert.deepEqual(enqueued(), ['evaluations', 'audits'])
  })

  it('enqueues it once when it is a little early', async () => {
    await run(at('00:00:00') + DAY_MS - 60_000, at('00:00:00') + DAY_MS - 20)
    await run(at('00:00:00') + DAY_MS, at('00:01:00') + DAY_MS)
    assert.deepEqual(enqueued(), ['evaluations', 'audits'])
  })

  it('enqueues only the last of several missed days', async () => {
    await run(at('00:00:00') + DAY_MS * 2, at('12:00:00') + DAY_MS * 5)
    assert.deepEqual(enqueued(), ['evaluations', 'audits'])
  })
})
