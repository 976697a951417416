import { it } from 'node:test'
import { checkDrift } from '../support/jobs/drift-property.ts'

const RUNS_COUNT = 4
/** `npm run soak -- consistency` tries others. */
const SEED = 5

it('A group that sweeps know to be unchanged is repaired within the hour, whatever the directory tells of its changes', () =>
  checkDrift({ runs: RUNS_COUNT, seed: SEED }))
