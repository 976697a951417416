import { parseArgs } from 'node:util'
import { checkPolicyEdits } from '../../support/api/policy-edits-property.ts'
import { checkMerges } from '../../support/jobs/merge-property.ts'

/** The properties about people with many runs: `npm run soak -- people --runs 5000 --seed 1 --only merges`. */
const { values } = parseArgs({
  options: { runs: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const runs = Number(values.runs ?? 5000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
for (const [name, check] of Object.entries({ merges: checkMerges, policies: checkPolicyEdits })) {
  if (values.only !== undefined && values.only !== name) continue
  process.stdout.write(`${name}: ${runs} runs, seed ${seed}\n`)
  const startMs = performance.now()
  await check({ runs, seed })
  process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
}
