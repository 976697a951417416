import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { numberOption, seedOption, toolWords } from '../tool-options.ts'
import { runSoak, soakFolder } from './run-soak.ts'

/**
 * The whole service under faults for a long time: `npm run soak -- faults --minutes 120 --instances 4 --seed 1`. With
 * `--restore`, the database is restored to an older time now and then; with `--rollback`, the previous release runs
 * beside this one.
 */
const { values } = toolWords({
  minutes: { type: 'string' },
  instances: { type: 'string' },
  seed: { type: 'string' },
  restore: { type: 'boolean', default: false },
  rollback: { type: 'boolean', default: false },
  folder: { type: 'string', default: join(tmpdir(), 'collections-soak') },
})
const minutes = numberOption('minutes', values.minutes, 15)
const instanceCount = numberOption('instances', values.instances, 3)
const seed = seedOption(values.seed)
const folder = soakFolder(values.folder, seed)
rmSync(folder, { recursive: true, force: true })
const say = (line: string): void => void process.stdout.write(`${line}\n`)
say(`${minutes} minutes, ${instanceCount} instances, seed ${seed}, logs and data in ${folder}`)
const { faults, quietPointCount, killCount } = await runSoak({
  leastQuietPoints: 1,
  leastDurationMs: minutes * 60_000,
  phase: { leastDurationMs: Math.min(60_000, minutes * 60_000), leastKills: 0 },
  instanceCount,
  seed,
  folder,
  personCount: 200,
  collectionCount: 9,
  workerCount: 6,
  faultIntervalMs: 2000,
  clocksApartMs: Math.min(120, Math.ceil(2 * minutes)) * 1000,
  hasLongStops: minutes >= 10,
  restores: values.restore,
  rollsBack: values.rollback,
  say,
})
say(
  `${faults.length === 0 ? 'No difference' : `${faults.length} differences`} at ${quietPointCount} quiet points, ${killCount} kills`,
)
process.exit(faults.length === 0 ? 0 : 1)
