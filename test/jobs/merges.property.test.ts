import { it } from 'node:test'
import { checkMerges } from '../support/jobs/merge-property.ts'

const RUNS_COUNT = 300
/** `npm run soak -- people` tries others. */
const SEED = 9

it('People that merge and part end as in a model, and keep memberships and groups, whatever dies', () =>
  checkMerges({ runs: RUNS_COUNT, seed: SEED }))
