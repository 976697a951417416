import { checkGuard } from '../../support/jobs/guard-property.ts'
import { numberOption, seedOption, toolWords } from '../tool-options.ts'

/** The property of the removal guard with many runs: `npm run soak -- guard --runs 10000 --seed 1`. */
const { values } = toolWords({ runs: { type: 'string' }, seed: { type: 'string' } })
const runs = numberOption('runs', values.runs, 10_000)
const seed = seedOption(values.seed)
process.stdout.write(`${runs} runs, seed ${seed}\n`)
const startMs = performance.now()
await checkGuard({ runs, seed })
process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
