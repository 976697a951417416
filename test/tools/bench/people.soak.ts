import { checkPolicyEdits } from '../../support/api/policy-edits-property.ts'
import { checkMerges } from '../../support/jobs/merge-property.ts'
import { choiceOption, numberOption, seedOption, toolWords } from '../tool-options.ts'

/** The properties about people with many runs: `npm run soak -- people --runs 5000 --seed 1 --only merges`. */
const { values } = toolWords({ runs: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } })
const runs = numberOption('runs', values.runs, 5000)
const seed = seedOption(values.seed)
const checks = { merges: checkMerges, policies: checkPolicyEdits }
const only = choiceOption('only', values.only, Object.keys(checks))
for (const [name, check] of Object.entries(checks)) {
  if (only !== undefined && only !== name) continue
  process.stdout.write(`${name}: ${runs} runs, seed ${seed}\n`)
  const startMs = performance.now()
  await check({ runs, seed })
  process.stdout.write(`No counterexample in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`)
}
