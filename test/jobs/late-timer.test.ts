import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ringForNewDay } from '../../shared/domain/links/sweep.ts'
import { minutesSince } from '../../shared/domain/links/sweep-minute.ts'
import { TENANT } from './link-directory.ts'
import { type LinkWorld, openWorld } from './link-world.ts'

const at = (time: string): number => Date.parse(`2031-01-01T${time}Z`)
const whole = Array.from({ length: 60 }, (_, minute) => minute)

describe('The minutes whose tenants are due', () => {
  for (const [claim, last, now, expected] of [
    ['are this one where the timer has not run before', undefined, at('12:30:00.1'), [30]],
    ['are this one where it comes every minute', at('12:29:00.2'), at('12:30:00.1'), [30]],
    ['are the one that is about to begin where it comes a little early', at('12:29:00'), at('12:29:59.8'), [30]],
    ['are the next one after a run that came early', at('12:30:00'), at('12:31:00.1'), [31]],
    ['are none where it comes again within the minute', at('12:30:00.1'), at('12:30:20'), []],
    ['are its own as well where it comes after its minute is over', at('12:28:00.1'), at('12:30:00.5'), [29, 30]],
    ['are all that it has missed', at('11:57:00'), at('12:02:10'), [58, 59, 0, 1, 2]],
    [
      'are all where it did not come for longer than an hour',
      at('08:00:00'),
      at('12:30:00.1'),
      [...whole.slice(31), ...whole.slice(0, 31)],
    ],
  ] as const) {
    it(claim, () => assert.deepEqual(minutesSince(last, now), expected))
  }
})

describe('A timer that comes late at midnight', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
    await world.deps.tenants.remember(TENANT)
  })
  after(() => world.close())
  beforeEach(() => {
    world.rings.length = 0
  })

  const run = (last: number, now: number) => ringForNewDay(last, { ...world.deps, nowMs: () => now })
  const DAY_MS = 86_400_000

  it('rings for the new day all the same, and once', async () => {
    await run(at('00:00:00') - 60_000, at('00:03:20'))
    assert.equal(world.rings.length, 1)
    await run(at('00:03:20'), at('00:04:00'))
    assert.equal(world.rings.length, 1)
  })

  it('or a little early rings as well', async () => {
    await run(at('00:00:00') + DAY_MS - 60_000, at('00:00:00') + DAY_MS - 20)
    await run(at('00:00:00') + DAY_MS, at('00:01:00') + DAY_MS)
    assert.equal(world.rings.length, 1)
  })

  it('rings for the last day alone where it has missed several', async () => {
    await run(at('00:00:00') + DAY_MS * 2, at('12:00:00') + DAY_MS * 5)
    assert.equal(world.rings.length, 1)
  })
})
