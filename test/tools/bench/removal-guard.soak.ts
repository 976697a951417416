import { parseArgs } from 'node:util'
import { checkGuard } from '../../support/jobs/guard-property.ts'

/** The property of the removal guard with many runs: `npm run soak -- guard --runs 10000 --seed 1`. */
const { values } = parseArgs({ options: { runs: { type: 'string' }, seed: { type: 'string' } } })
const runs = Number(values.runs ?? 10_000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
process.stdout.write(`${runs} runs, seed ${seed}\n`)
const startMs = performance.now()
await checkGuard({ runs, seed })
process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
