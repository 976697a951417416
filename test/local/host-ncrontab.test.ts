import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { nextOccurrence, parseSchedule, type Schedule } from '../../infra/local/host/ncrontab.ts'

const next = (expression: string, after: string): string | undefined => {
  const nextMs = nextOccurrence(parseSchedule(expression), Date.parse(after))
  return nextMs === undefined ? undefined : new Date(nextMs).toISOString().replace('.000', '')
}

describe('the next occurrence of a schedule', () => {
  for (const [expression, after, expected] of [
    ['0 0 * * * *', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
    ['0 0 * * * *', '2029-12-31T23:59:59.999Z', '2030-01-01T00:00:00Z'],
    ['0 * * * *', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
    ['* * * * * *', '2030-01-01T00:00:00.001Z', '2030-01-01T00:00:01Z'],
    ['*/20 * * * * *', '2030-01-01T00:00:41Z', '2030-01-01T00:01:00Z'],
    ['5/20 * * * * *', '2030-01-01T00:00:26Z', '2030-01-01T00:00:45Z'],
    ['0 10-30/10 8 * * *', '2030-01-01T08:20:00Z', '2030-01-01T08:30:00Z'],
    ['0 30-10/10 8 * * *', '2030-01-01T08:20:00Z', '2030-01-01T08:30:00Z'],
    ['0 0 0 1,15 * *', '2030-01-02T00:00:00Z', '2030-01-15T00:00:00Z'],
    ['0 0 0 * Jan,jul *', '2030-01-31T12:00:00Z', '2030-07-01T00:00:00Z'],
    ['0 30 9 * * Mon-Fri', '2030-01-04T09:30:00Z', '2030-01-07T09:30:00Z'],
    ['0 30 9 * * sunday', '2030-01-04T09:30:00Z', '2030-01-06T09:30:00Z'],
    ['0 0 0 31 * *', '2030-01-31T00:00:00Z', '2030-03-31T00:00:00Z'],
    ['0 0 0 29 2 *', '2030-01-01T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['0 0 0 29 2 Mon', '2072-03-01T00:00:00Z', '2112-02-29T00:00:00Z'],
    ['59 59 23 31 12 *', '2030-12-31T23:59:59Z', '2031-12-31T23:59:59Z'],
    ['0 0 0 30 2 *', '2030-01-01T00:00:00Z', undefined],
  ] as const) {
    it(`${expression} after ${after} is ${expected ?? 'never'}`, () => assert.equal(next(expression, after), expected))
  }

  it('requires both day and weekday to match', () => {
    assert.equal(next('0 0 0 13 * Fri', '2030-01-01T00:00:00Z'), '2030-09-13T00:00:00Z')
  })
})

describe('an invalid schedule', () => {
  for (const [expression, complaint] of [
    ['', /five or six fields/],
    ['* * * *', /five or six fields/],
    ['00:05:00', /five or six fields/],
    ['60 * * * * *', /invalid second: 60/],
    ['0 0 24 * * *', /invalid hour: 24/],
    ['0 0 0 0 * *', /invalid day: 0/],
    ['0 0 0 * * 7', /invalid weekday: 7/],
    ['0 0 0 * Foo *', /invalid month: Foo/],
    ['0 */0 * * * *', /invalid minute/],
    ['0 1, * * * *', /invalid minute/],
    ['0 -5 * * * *', /invalid minute/],
  ] as const) {
    it(`"${expression}" is rejected`, () => assert.throws(() => parseSchedule(expression), complaint))
  }
})

describe('the next occurrence, property', () => {
  const field = (least: number, most: number): fc.Arbitrary<string> => {
    const value = fc.integer({ min: least, max: most })
    const item = fc.oneof(
      fc.constant('*'),
      value.map(String),
      fc.tuple(value, value).map(([from, to]) => `${from}-${to}`),
      fc.integer({ min: 1, max: most }).map((step) => `*/${step}`),
    )
    return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  }
  const expression = fc
    .tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' '))
  const instantMs = fc.integer({ min: Date.parse('2027-12-01T00:00:00Z'), max: Date.parse('2028-04-01T00:00:00Z') })
  const WINDOW_S = 30_000

  it('equals the result of a search second by second', () => {
    fc.assert(
      fc.property(expression, instantMs, (text, afterMs) => {
        const schedule = parseSchedule(text)
        const foundMs = nextOccurrence(schedule, afterMs)
        const naiveMs = searchBySecond(schedule, afterMs, WINDOW_S)
        if (naiveMs !== undefined) return foundMs === naiveMs
        return foundMs === undefined || (foundMs > afterMs + WINDOW_S * 1000 - 1000 && fits(schedule, foundMs))
      }),
      { numRuns: 300 },
    )
  })

  function searchBySecond(schedule: Schedule, afterMs: number, windowS: number): number | undefined {
    const firstMs = Math.floor(afterMs / 1000) * 1000 + 1000
    for (let second = 0; second < windowS; second++) {
      if (fits(schedule, firstMs + second * 1000)) return firstMs + second * 1000
    }
    return undefined
  }

  function fits(schedule: Schedule, instantMs: number): boolean {
    const instant = new Date(instantMs)
    return (
      schedule.seconds.includes(instant.getUTCSeconds()) &&
      schedule.minutes.includes(instant.getUTCMinutes()) &&
      schedule.hours.includes(instant.getUTCHours()) &&
      schedule.days.includes(instant.getUTCDate()) &&
      schedule.months.includes(instant.getUTCMonth() + 1) &&
      schedule.weekdays.includes(instant.getUTCDay())
    )
  }
})
