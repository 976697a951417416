import { checkConvergence } from '../../support/jobs/convergence-property.ts'
import { checkDrift } from '../../support/jobs/drift-property.ts'
import { numberOption, seedOption, toolWords } from '../tool-options.ts'

/** How many runs of the other property there are for one of the property of changes by hand, which takes longer. */
const RUNS_PER_DRIFT_COUNT = 10

/**
 * The properties of several instances, and of groups that are changed by hand, with many runs:
 * `npm run soak -- consistency --runs 5000 --seed 1`.
 */
const { values } = toolWords({ runs: { type: 'string' }, seed: { type: 'string' } })
const runs = numberOption('runs', values.runs, 5000)
const seed = seedOption(values.seed)
process.stdout.write(`${runs} runs, seed ${seed}\n`)
const startMs = performance.now()
await checkDrift({ runs: Math.ceil(runs / RUNS_PER_DRIFT_COUNT), seed })
await checkConvergence({ runs, seed })
process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
