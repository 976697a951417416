import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { runSoak } from './run-soak.ts'

const SEED = 1

it('Three instances that are killed and cut off agree with the model at each quiet point', async (context) => {
  const folder = join(tmpdir(), `collections-soak-test-${process.pid}`)
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const lines: string[] = []
  const { faults, quietPointCount, killCount } = await runSoak({
    leastQuietPoints: 2,
    leastDurationMs: 0,
    phase: { leastDurationMs: 4000, leastKills: 5 },
    instanceCount: 3,
    seed: SEED,
    folder,
    personCount: 40,
    collectionCount: 4,
    workerCount: 4,
    faultIntervalMs: 500,
    clocksApartMs: 2000,
    hasLongStops: false,
    restores: false,
    rollsBack: false,
    say: (line) => lines.push(line),
  })
  assert.deepEqual(faults, [], lines.join('\n'))
  assert.ok(quietPointCount >= 2, `${quietPointCount} quiet points`)
  assert.ok(killCount >= 10, `${killCount} kills`)
})
