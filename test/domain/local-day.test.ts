import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nextLocalHourMs } from '../../shared/kernel/local-day.ts'

const next = (instant: string, hour: number) =>
  new Date(nextLocalHourMs(Date.parse(instant), hour, 'Europe/Oslo')).toISOString()

it('The next hour of a day is the full one after an instant, also where a day has 23 or 25 hours', () => {
  for (const [instant, expected] of [
    ['2030-06-01T04:59:00Z', '2030-06-01T05:00:00.000Z'],
    ['2030-06-01T05:00:00Z', '2030-06-02T05:00:00.000Z'],
    ['2030-06-01T05:20:00Z', '2030-06-02T05:00:00.000Z'],
    ['2030-03-30T06:00:00Z', '2030-03-31T05:00:00.000Z'],
    ['2030-10-26T05:00:00Z', '2030-10-27T06:00:00.000Z'],
  ] as const) {
    assert.equal(next(instant, 7), expected, instant)
  }
})

it('On a day that skips an hour, the next hour is when clocks show the following one', () => {
  for (const [instant, expected] of [
    ['2030-03-30T12:00:00Z', '2030-03-31T01:00:00.000Z'],
    ['2030-03-31T00:30:00Z', '2030-03-31T01:00:00.000Z'],
    ['2030-03-31T01:00:00Z', '2030-04-01T00:00:00.000Z'],
  ] as const) {
    assert.equal(next(instant, 2), expected, instant)
  }
})

it('On a day that has an hour twice, the next hour is the first of both', () => {
  assert.equal(next('2030-10-26T12:00:00Z', 2), '2030-10-27T00:00:00.000Z')
  assert.equal(next('2030-10-27T00:30:00Z', 2), '2030-10-28T01:00:00.000Z')
})
