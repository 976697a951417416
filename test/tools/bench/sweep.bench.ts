import { costOfChange } from '../../support/jobs/change-cost.ts'
import { measureSweeps, type SweepCost } from './measured-sweeps.ts'

/** What hourly sweeps of unchanged links cost on average over a week: each link is compared in full once. */
const HOURS_COUNT = 168

/** What an hourly sweep of this number of unchanged links may cost. With Strong consistency, each read costs twice. */
const LIMITS: Readonly<Record<number, Partial<SweepCost>>> = {
  50: { requestUnits: 55, operations: 12, messages: 2, calls: 2 },
  1000: { calls: 25 },
}

const figures = ({ requestUnits, operations, messages, calls }: SweepCost): string =>
  `${requestUnits.toFixed(1)} RU, ${operations.toFixed(1)} store operations, ${messages.toFixed(2)} messages, ` +
  `${calls.toFixed(2)} directory calls`

for (const [linkCount, hoursCount] of [
  [50, HOURS_COUNT],
  [1_000, 24],
] as const) {
  const { first, hourly } = await measureSweeps(linkCount, hoursCount)
  const limits = LIMITS[linkCount] ?? {}
  process.stdout.write(
    `Hourly sweep of ${linkCount} links that are compared: ${figures(first)}\n` +
      `Hourly sweep of ${linkCount} unchanged links, weekly comparisons included: ${figures(hourly)} ` +
      `(at most ${JSON.stringify(limits)})\n`,
  )
  for (const [name, limit] of Object.entries(limits)) if (hourly[name as keyof SweepCost] > limit) process.exitCode = 1
}

const MAX_UNITS_OF_CHANGE = 90

// The directory has no users for larger collections.
for (const size of [100, 2_000]) {
  const { write, evaluation, sync } = await costOfChange(size)
  const parts = `write ${write.toFixed(1)}, evaluation ${evaluation.toFixed(1)}, sync ${sync.toFixed(1)}`
  const units = write + evaluation + sync
  const limit = `at most ${MAX_UNITS_OF_CHANGE}`
  process.stdout.write(`One change in a collection of ${size}: ${units.toFixed(1)} RU (${parts}; ${limit})\n`)
  if (units > MAX_UNITS_OF_CHANGE) process.exitCode = 1
}
