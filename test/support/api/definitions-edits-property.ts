import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { applyPlan, type Outcome } from '../../../infra/definitions/apply-plan.ts'
import { readDefinitionFiles } from '../../../infra/definitions/definition-file.ts'
import { planDefinitions } from '../../../infra/definitions/plan-definitions.ts'
import { describedStep } from '../../../infra/definitions/print-plan.ts'
import type { DefinitionPlan, Step } from '../../../infra/definitions/step.ts'
import { ALL_COLLECTIONS, COLLECTIONS } from '../../../infra/definitions/tenant.ts'
import type { ApiCall } from '../../../infra/import/api-connection.ts'
import { type Random, seededRandom } from '../../../infra/local/demo/seeded-random.ts'
import type { ChangePlan } from '../../../shared/domain/insight/change-plan.ts'
import { type DefinitionsState, differenceOf, stateOf } from './definitions-state.ts'
import { type DefinitionsTenant, definitionsTenant } from './definitions-tenant.ts'
import { interfere, removeSameNames } from './interfering-edits.ts'
import { editFiles, type Files, namesIn } from './random-definitions.ts'

/** A tenant gets slower with its history. */
const RUNS_PER_TENANT_COUNT = 50

type Write = { readonly before: DefinitionsState; readonly after: DefinitionsState }
/** What was printed of a step, and the writes that it sent. */
type Run = { readonly step: Step; readonly effect: ChangePlan | undefined; readonly writes: readonly Write[] }

export type Outcomes = { done: number; refused: number; faulty: number; steps: number }

/**
 * Random edits of files, planned and applied, in every other run while others edit the tenant: each step does what was
 * printed and nothing else, or is refused and does nothing. @throws Error with the seed of the tenant and the run
 */
export async function checkDefinitionEdits(seed: string, runCount: number): Promise<Outcomes> {
  const outcomes: Outcomes = { done: 0, refused: 0, faulty: 0, steps: 0 }
  for (let first = 0; first < runCount; first += RUNS_PER_TENANT_COUNT) {
    const tenant = await definitionsTenant()
    const random = seededRandom('definitions', seed, first)
    const files: Files = new Map()
    try {
      for (let number = first; number < Math.min(first + RUNS_PER_TENANT_COUNT, runCount); number += 1) {
        await checkRun(tenant, files, random, outcomes).catch((cause: unknown) => {
          throw new Error(`DEFINITIONS_SEED='${seed}' fails in run ${number}`, { cause })
        })
      }
      assert.deepEqual(tenant.faults, [])
    } finally {
      await tenant.close()
    }
  }
  return outcomes
}

async function checkRun(tenant: DefinitionsTenant, files: Files, random: Random, outcomes: Outcomes): Promise<void> {
  tenant.pass(60)
  await removeSameNames(tenant)
  editFiles(files, random)
  const [prunes, isDisturbed] = [random.percent(40), random.percent(50)]
  const start = await stateOf(tenant)
  const plan = await planOf(files, prunes, tenant)
  assert.deepEqual(differenceOf(start, await stateOf(tenant)), [], 'planning changed something')
  if (plan.faults.length > 0) {
    outcomes.faulty += 1
    return
  }
  if (isDisturbed) await interfere(tenant, random)
  const { outcome, runs, refusedWrites } = await applied(plan, tenant, random, isDisturbed)
  outcomes[outcome.refused === undefined ? 'done' : 'refused'] += 1
  outcomes.steps += outcome.done.length
  for (const run of runs) assertAsPrinted(run, start, isDisturbed)
  for (const { before, after } of refusedWrites) assert.deepEqual(differenceOf(before, after), [], 'refused, but done')
  assert.deepEqual([...outcome.done, ...refusedSteps(outcome)], plan.steps)
  if (isDisturbed) return
  assert.equal(outcome.refused?.error.message, undefined, 'refused although nobody else changed anything')
  const again = await planOf(files, prunes, tenant)
  assert.deepEqual([again.faults, again.steps.map(describedStep)], [[], []], 'something is left to do')
  const names = (await stateOf(tenant)).tenant.collections.map(({ name }) => name).sort()
  const wanted = namesIn(files).sort()
  assert.deepEqual(prunes ? names : names.filter((name) => wanted.includes(name)), wanted)
}

const refusedSteps = ({ refused, notDone }: Outcome): readonly Step[] =>
  refused === undefined ? notDone : [refused.step, ...notDone]

async function planOf(files: Files, prunes: boolean, { call, read }: DefinitionsTenant): Promise<DefinitionPlan> {
  const folder = mkdtempSync(join(tmpdir(), 'definitions-'))
  try {
    for (const [name, value] of files) writeFileSync(join(folder, `${name}.yaml`), stringify(value))
    const read1 = readDefinitionFiles(folder)
    assert.deepEqual(read1.faults, [])
    return await planDefinitions(read1.files, await read(), prunes, call)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Applies a plan, and records the state around each write. Some requests are repeated, as after a lost response. */
async function applied(plan: DefinitionPlan, tenant: DefinitionsTenant, random: Random, isDisturbed: boolean) {
  const runs: Run[] = []
  let [writes, effect]: [Write[], ChangePlan | undefined] = [[], undefined]
  let isRepeated = false
  const watched: ApiCall = async (method, path, body, headers) => {
    const isPlan = path.endsWith('/plan')
    // Nothing can hold a creation to its effect after it was planned: then its name is looked up.
    const isExposed = !isCriteriaCreation(method, path) && path !== ALL_COLLECTIONS && !isRepeated
    isRepeated = false
    if (isDisturbed && isExposed && random.percent(20)) await interfere(tenant, random)
    if (method === 'GET' || isPlan) return tenant.call(method, path, body, headers)
    const before = await stateOf(tenant)
    try {
      const reply = await tenant.call(method, path, body, headers)
      // Whether a repeated request was done the first time can be read only while no other client has changed the record.
      isRepeated = random.percent(10)
      return isRepeated ? await tenant.call(method, path, body, headers) : reply
    } finally {
      writes.push({ before, after: await stateOf(tenant) })
    }
  }
  const outcome = await applyPlan(plan, watched, {
    done(step) {
      runs.push({ step, effect: effect ?? step.effect, writes })
      writes = []
      effect = undefined
    },
    plannedAgain(_step, planned) {
      effect = planned
    },
  })
  return { outcome, runs, refusedWrites: writes }
}

const isCriteriaCreation = (method: string, path: string): boolean => method === 'POST' && path === COLLECTIONS.criteria

/**
 * @param start The state that was planned: an earlier step can change the members of a collection that is deleted.
 * @param isDisturbed Others may have done the same before, or changed what no plan holds to.
 */
function assertAsPrinted({ step, effect, writes }: Run, start: DefinitionsState, isDisturbed: boolean): void {
  const [first, last] = [writes[0]?.before, writes.at(-1)?.after]
  assert.ok(first && last, describedStep(step))
  const changes = differenceOf(first, last)
  if (isDisturbed && changes.length === 0) return
  const { action, kind, name, fields } = step
  const change = { action, kind, name, fields: action === 'update' ? fields.toSorted() : [] }
  assert.deepEqual(changes, [change], describedStep(step))
  const gone = [...first.members.keys()].filter((id) => !last.members.has(id))
  if (!isDisturbed) for (const id of gone) assert.equal(start.members.get(id)?.size, step.memberCount)
  const planned = (effect?.collections ?? []).map(({ collectionId, added, removed }) => [collectionId, added, removed])
  const actual = [...first.members.keys(), ...last.members.keys().filter((id) => !first.members.has(id))].flatMap(
    (id) => {
      const [old, now] = [first.members.get(id) ?? NONE, last.members.get(id) ?? NONE]
      const counts = [now.difference(old).size, old.difference(now).size]
      return !last.members.has(id) || (counts[0] === counts[1] && counts[0] === 0)
        ? []
        : [[first.members.has(id) ? id : null, ...counts]]
    },
  )
  const isChange = ([, added, removed]: readonly unknown[]) => added !== 0 || removed !== 0
  assert.deepEqual(planned.filter(isChange).sort(), actual.sort(), `members: ${describedStep(step)}`)
}

const NONE: ReadonlySet<string> = new Set()
