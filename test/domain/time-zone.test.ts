import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { instantIn, isTimeZone, timeZoneOf } from '../../shared/kernel/time-zone.ts'

const at = (text: string): number => Date.parse(text)
const written = (instantMs: number | undefined): string | undefined =>
  instantMs === undefined ? undefined : new Date(instantMs).toISOString().replace('.000', '')

describe('Days of a time zone', () => {
  for (const [claim, zone, date, begins] of [
    ['in winter', 'Europe/Oslo', '2030-01-15', '2030-01-14T23:00:00Z'],
    ['in summer', 'Europe/Oslo', '2030-07-15', '2030-07-14T22:00:00Z'],
    ['on which clocks are put forward', 'Europe/Oslo', '2030-03-31', '2030-03-30T23:00:00Z'],
    ['after clocks were put forward', 'Europe/Oslo', '2030-04-01', '2030-03-31T22:00:00Z'],
    ['after clocks were put back', 'Europe/Oslo', '2030-10-28', '2030-10-27T23:00:00Z'],
    ['without a midnight', 'America/Santiago', '2023-09-03', '2023-09-03T04:00:00Z'],
    ['that clocks skip within the hour of midnight', 'Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00Z'],
    ['whose midnight comes twice', 'America/Havana', '2023-11-05', '2023-11-05T04:00:00Z'],
    ['that a change of the date line skips', 'Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
    ['far ahead of UTC', 'Pacific/Kiritimati', '2030-01-01', '2029-12-31T10:00:00Z'],
    ['far behind UTC', 'Pacific/Pago_Pago', '2030-01-01', '2030-01-01T11:00:00Z'],
    ['of a zone with quarters of an hour', 'Asia/Kathmandu', '2030-01-01', '2029-12-31T18:15:00Z'],
    ['of UTC', 'UTC', '2030-01-01', '2030-01-01T00:00:00Z'],
  ] as const) {
    it(`begins a day ${claim}`, () => assert.equal(written(timeZoneOf(zone).startOfDate(date)), begins))
  }

  for (const [claim, zone, instant, days, expected] of [
    ['the time of day over the start of summer time', 'Europe/Oslo', '2030-03-30T11:00:00Z', 1, '2030-03-31T10:00:00Z'],
    ['the time of day over its end', 'Europe/Oslo', '2030-10-26T10:00:00Z', 1, '2030-10-27T11:00:00Z'],
    [
      'the beginning of the day, also to one without midnight',
      'America/Santiago',
      '2023-09-02T04:00:00Z',
      1,
      '2023-09-03T04:00:00Z',
    ],
    [
      'the beginning of the day, also from one without midnight',
      'America/Santiago',
      '2023-09-03T04:00:00Z',
      1,
      '2023-09-04T03:00:00Z',
    ],
    ['a later time where it is skipped', 'Europe/Oslo', '2030-03-30T01:30:00Z', 1, '2030-03-31T01:30:00Z'],
    [
      'the instant for no days, also in a repeated hour',
      'Europe/Oslo',
      '2030-10-27T01:30:00Z',
      0,
      '2030-10-27T01:30:00Z',
    ],
    ['days back', 'Europe/Oslo', '2030-04-01T10:00:00Z', -1, '2030-03-31T10:00:00Z'],
  ] as const) {
    it(`keeps ${claim}`, () => assert.equal(written(timeZoneOf(zone).addDays(at(instant), days)), expected))
  }

  it('reads a date as its beginning there, and a timestamp as it stands', () => {
    const oslo = timeZoneOf('Europe/Oslo')
    assert.equal(written(instantIn(oslo, '2030-07-01')), '2030-06-30T22:00:00Z')
    assert.equal(written(instantIn(oslo, '2030-07-01T00:00:00+01:00')), '2030-06-30T23:00:00Z')
    assert.equal(written(instantIn(oslo, '2030-07-01T00:00')), '2030-07-01T00:00:00Z')
    assert.equal(instantIn(oslo, '2030-02-30'), undefined)
  })

  it('knows IANA names, and neither offsets nor other words', () => {
    for (const name of ['UTC', 'Europe/Oslo', 'Asia/Calcutta', 'Etc/GMT+3']) assert.ok(isTimeZone(name), name)
    for (const name of ['', '+01:00', 'Oslo', 'Europe/Oslo ', 'x'.repeat(65)]) assert.ok(!isTimeZone(name), name)
  })

  it('begins the day of an instant at or before it, within 26 hours, whatever the zone', () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const instant = fc.integer({ min: at('1950-01-01T00:00:00Z'), max: at('2090-01-01T00:00:00Z') })
    fc.assert(
      fc.property(zone, instant, (name, instantMs) => {
        const days = timeZoneOf(name)
        const startMs = days.startOfDay(instantMs)
        const local = (ms: number) =>
          new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short' }).format(ms)
        assert.ok(startMs <= instantMs && instantMs - startMs <= 26 * 3_600_000)
        assert.equal(local(startMs), local(instantMs))
        assert.notEqual(local(startMs - 1), local(startMs))
        assert.equal(days.startOfDate(local(instantMs)), startMs)
      }),
      { numRuns: 2000 },
    )
  })
})
