import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isGrowing, type Sample, trendOf } from './resource-trend.ts'

const MINUTE_MS = 60_000

/** One sample a minute, with noise that alternates. */
function samples(minutes: number, perHour: number, noise: number): Sample[] {
  return Array.from({ length: minutes }, (_, minute) => ({
    atMs: minute * MINUTE_MS,
    value: 100 + (perHour * minute) / 60 + (minute % 2 === 0 ? noise : -noise),
  }))
}

it('A growth of 3 % an hour is found within two hours, despite noise of 1 %', () => {
  const trend = trendOf(samples(120, 3, 1))
  assert.ok(trend !== undefined && isGrowing(trend), JSON.stringify(trend))
  assert.ok(Math.abs(trend.sharePerHour - 0.03) < 0.005, String(trend.sharePerHour))
})

it('Noise is not growth, and a growth of 1 % an hour is allowed', () => {
  for (const series of [samples(120, 0, 5), samples(120, 1, 0.1)]) {
    const trend = trendOf(series)
    assert.ok(trend !== undefined && !isGrowing(trend), JSON.stringify(trend))
  }
})

it('What grows while caches fill is no trend, and a short run has none', () => {
  const filling = samples(120, 0, 0.1).map(({ atMs, value }) => ({
    atMs,
    value: value - 10 * 0.8 ** (atMs / MINUTE_MS),
  }))
  const trend = trendOf(filling)
  assert.ok(trend !== undefined && !isGrowing(trend), JSON.stringify(trend))
  assert.equal(trendOf(samples(45, 50, 0)), undefined)
})
