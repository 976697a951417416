import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextOccurrence, parseSchedule } from '../../infra/local/host/ncrontab.ts'

const next = (expression: string, after: string): string | undefined => {
  const nextMs = nextOccurrence(parseSchedule(expression), Date.parse(after))
  return nextMs === undefined ? undefined : new Date(nextMs).toISOString().replace('.000', '')
}

describe('the next occurrence of a schedule', () => {
  for (const [expression, after, expected] of [
    ['0 0 * * * *', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
    ['0 0 * * * *', '2029-12-31T23:59:59.999Z', '2030-01-01T00:00:00Z'],
    ['* * * * * *', '2030-01-01T00:00:00.001Z', '2030-01-01T00:00:01Z'],
    ['*/20 * * * * *', '2030-01-01T00:00:41Z', '2030-01-01T00:01:00Z'],
    ['0 10-30/10 8 * * *', '2030-01-01T08:20:00Z', '2030-01-01T08:30:00Z'],
    ['0 0 0 1,15 * *', '2030-01-02T00:00:00Z', '2030-01-15T00:00:00Z'],
    ['0 30 9 * * 1-5', '2030-01-04T09:30:00Z', '2030-01-07T09:30:00Z'],
    ['0 30 9 * * 0', '2030-01-04T09:30:00Z', '2030-01-06T09:30:00Z'],
    ['0 0 0 13 * 5', '2030-01-01T00:00:00Z', '2030-09-13T00:00:00Z'],
    ['0 0 0 29 2 *', '2030-01-01T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['59 59 23 31 12 *', '2030-12-31T23:59:59Z', '2031-12-31T23:59:59Z'],
    ['0 0 0 30 2 *', '2030-01-01T00:00:00Z', undefined],
  ] as const) {
    it(`${expression} after ${after} is ${expected ?? 'never'}`, () => assert.equal(next(expression, after), expected))
  }
})

describe('an invalid schedule', () => {
  for (const [expression, complaint] of [
    ['', /six fields/],
    ['0 * * * *', /six fields/],
    ['00:05:00', /six fields/],
    ['0 0 0 * * Mon', /six fields/],
    ['0 0 0 * * 7', /six fields/],
    ['60 * * * * *', /is invalid/],
    ['0 0 24 * * *', /is invalid/],
    ['0 0 0 0 * *', /is invalid/],
    ['0 */0 * * * *', /is invalid/],
    ['0 1, * * * *', /is invalid/],
  ] as const) {
    it(`"${expression}" is rejected`, () => assert.throws(() => parseSchedule(expression), complaint))
  }
})
