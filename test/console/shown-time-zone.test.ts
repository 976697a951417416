import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hasSameClock, instantAt } from '../../functions/console/language/shown-time-zone.ts'

describe('The time zone of the organisation', () => {
  for (const [claim, localTime, zone, expected] of [
    ['in winter', '2030-01-15T12:00', 'Europe/Oslo', '2030-01-15T11:00:00.000Z'],
    ['in summer', '2030-07-15T12:00:30', 'Europe/Oslo', '2030-07-15T10:00:30.000Z'],
    ['just after the clock is put forward', '2030-03-31T03:00', 'Europe/Oslo', '2030-03-31T01:00:00.000Z'],
    ['just before the clock is put forward', '2030-03-31T01:59', 'Europe/Oslo', '2030-03-31T00:59:00.000Z'],
    ['on the day before in UTC', '2030-01-15T00:30', 'Pacific/Auckland', '2030-01-14T11:30:00.000Z'],
  ] as const) {
    it(`has an instant for a time ${claim}`, () => {
      assert.equal(instantAt(localTime, zone)?.toISOString(), expected)
    })
  }

  it('has no instant for a time that is not complete', () => {
    assert.equal(instantAt('', 'Europe/Oslo'), undefined)
  })

  it('has the same clock as another one only where they agree all year', () => {
    assert.equal(hasSameClock('Europe/Oslo', 'Europe/Berlin', 2030), true)
    assert.equal(hasSameClock('UTC', 'Etc/UTC', 2030), true)
    assert.equal(hasSameClock('UTC', 'Europe/London', 2030), false)
  })
})
