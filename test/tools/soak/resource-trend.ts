/** A sample of a quantity at a quiet point. */
export type Sample = { readonly atMs: number; readonly value: number }

const HOUR_MS = 3_600_000
const LIMIT_SHARE_PER_HOUR = 0.02
/** Fewer samples, or a shorter time, tell nothing of a trend. */
const LEAST_SAMPLES = 6
const LEAST_DURATION_MS = 30 * 60_000
/** The first samples are of instances that still compile code and fill caches of a bounded size. */
const WARM_UP_MS = 20 * 60_000

export type Trend = { readonly mean: number; readonly sharePerHour: number; readonly marginPerHour: number }

/**
 * The linear fit over the samples, as a share of the mean per hour, with two standard errors as its margin. Undefined
 * for too few samples.
 */
export function trendOf(all: readonly Sample[]): Trend | undefined {
  const samples = all.filter(({ atMs }) => atMs >= WARM_UP_MS)
  const count = samples.length
  const durationMs = (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)
  if (count < LEAST_SAMPLES || durationMs < LEAST_DURATION_MS) return undefined
  const mean = samples.reduce((sum, { value }) => sum + value, 0) / count
  const meanMs = samples.reduce((sum, { atMs }) => sum + atMs, 0) / count
  const spread = samples.reduce((sum, { atMs }) => sum + (atMs - meanMs) ** 2, 0)
  const slope = samples.reduce((sum, { atMs, value }) => sum + (atMs - meanMs) * (value - mean), 0) / spread
  const squares = samples.reduce((sum, { atMs, value }) => sum + (value - mean - slope * (atMs - meanMs)) ** 2, 0)
  const error = Math.sqrt(squares / (count - 2) / spread)
  const share = (perMs: number) => (mean === 0 ? 0 : (perMs * HOUR_MS) / mean)
  return { mean, sharePerHour: share(slope), marginPerHour: share(2 * error) }
}

/** Whether the quantity certainly grows by more than 2 % an hour. */
export function isGrowing({ sharePerHour, marginPerHour }: Trend): boolean {
  return sharePerHour - marginPerHour > LIMIT_SHARE_PER_HOUR
}
