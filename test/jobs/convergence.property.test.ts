import { it } from 'node:test'
import { checkConvergence } from '../support/jobs/convergence-property.ts'

const RUNS_COUNT = 60
/** `npm run soak -- consistency` tries others. */
const SEED = 11

it('Several instances write every acknowledged change of the members to the group, with any faults', () =>
  checkConvergence({ runs: RUNS_COUNT, seed: SEED }))
