import { it } from 'node:test'
import { checkPolicyEdits } from '../support/api/policy-edits-property.ts'

const RUNS_COUNT = 300

it('nobody joins without an approval, by somebody who could give it, for every gate, or while not eligible', async (test) => {
  const seed = Date.now() % 2 ** 31
  test.diagnostic(`seed ${seed}`)
  await checkPolicyEdits({ runs: RUNS_COUNT, seed })
})
