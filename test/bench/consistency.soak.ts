import { parseArgs } from 'node:util'
import { checkConvergence } from '../jobs/lagging-property.ts'

/** The property of instances with lagging replicas with many runs: `npm run soak:consistency -- --runs 5000 --seed 1`. */
const { values } = parseArgs({ options: { runs: { type: 'string' }, seed: { type: 'string' } } })
const runs = Number(values.runs ?? 5000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
process.stdout.write(`${runs} runs, seed ${seed}\n`)
const startMs = performance.now()
await checkConvergence({ runs, seed })
process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
