import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { checkDefinitionEdits } from '../support/api/definitions-edits-property.ts'

/** `npm run soak -- definitions` does 1,000 runs. A failure names the seed, which `DEFINITIONS_SEED` repeats. */
const RUN_COUNT = Number(process.env.DEFINITIONS_RUNS ?? 30)
const SEED = process.env.DEFINITIONS_SEED ?? randomUUID()

it(`what a plan of files prints is what applying it does, in ${RUN_COUNT} random edits, also while others edit`, async () => {
  const outcomes = await checkDefinitionEdits(SEED, RUN_COUNT)
  assert.ok(outcomes.done > 0 && outcomes.steps > RUN_COUNT / 2, JSON.stringify(outcomes))
  if (RUN_COUNT >= 1000) process.stdout.write(`${JSON.stringify(outcomes)} with DEFINITIONS_SEED='${SEED}'\n`)
})
