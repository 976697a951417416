import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'yaml'
import { applyPlan } from '../../../infra/definitions/apply-plan.ts'
import { readDefinitionFiles } from '../../../infra/definitions/definition-file.ts'
import { exportDefinitions } from '../../../infra/definitions/export-definitions.ts'
import { planDefinitions } from '../../../infra/definitions/plan-definitions.ts'
import { readTenant } from '../../../infra/definitions/tenant.ts'
import { type ApiCall, ApiRefusal } from '../../../infra/import/api-connection.ts'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { randomCondition } from './collection-actions.ts'
import { effectOf } from './effect-model.ts'
import { apply, CRITERIA_PATH, countOutcome, type Organisation, readWritten } from './organisation.ts'
import { pickOf } from './picks.ts'
import { changeSomebody, isEffectKnown, type PlanAnswer, requireCounts, resumesOthers } from './plan-actions.ts'

/** Exports all definitions as files, changes one, plans the files and applies them, as the command does. */
export async function applyDefinitions(organisation: Organisation, random: Random): Promise<void> {
  const { model, locks } = organisation
  const id = pickOf(random, [...model.criteria.keys()])
  await locks.runAlone(async () => {
    const stored = model.criteria.get(id)
    // Another action has deleted the collection.
    if (stored === undefined) return
    const condition = randomCondition(random, [])
    if (!isEffectKnown(organisation, id, condition) || isDeepStrictEqual(stored.condition, condition)) return
    const folder = mkdtempSync(join(tmpdir(), 'soak-definitions-'))
    try {
      await applyFiles(organisation, { id, objectType: stored.objectType, condition, folder }, random)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

type Edit = Parameters<typeof requireCounts>[2] & { readonly folder: string }

/** @throws Error when the plan, or what applying it does, is not the expected one */
async function applyFiles(organisation: Organisation, edit: Edit, random: Random): Promise<void> {
  const { id, condition, folder } = edit
  const { model, recentChanges } = organisation
  const call = callThrough(organisation)
  const { name } = await readWritten<{ name: string }>(organisation, `${CRITERIA_PATH}/${id}`)
  await exportDefinitions(folder, await readTenant(call), false, call)
  const exported = readDefinitionFiles(folder).files.find(({ value }) => value.name === name)
  if (exported === undefined) throw new Error(`No file defines the collection ${name}`)
  const { file } = exported
  writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), condition }))
  const planned = effectOf(model, id, condition)
  const plan = await planDefinitions(readDefinitionFiles(folder).files, await readTenant(call), false, call)
  const [step, ...others] = plan.steps
  if (step?.effect === undefined || others.length + plan.faults.length > 0) {
    throw new Error(`The plan of the changed collection ${name} is ${JSON.stringify(plan)}`)
  }
  const effect = step.effect as PlanAnswer
  await requireCounts(organisation, effect, edit, planned)
  if (random.percent(40)) await changeSomebody(organisation, random)
  const isSame = isDeepStrictEqual(effectOf(model, id, condition), planned)
  const { refused } = await applyPlan(plan, call, { done: () => undefined, plannedAgain: () => undefined })
  const refusal = refused?.error instanceof ApiRefusal ? refused.error.errors[0]?.code : refused?.error.message
  const isMoved = refusal === 'PlanChanged' && isSame && (await resumesOthers(organisation, effect, edit))
  if (!isMoved && refusal !== (isSame ? undefined : 'PlanChanged')) {
    const now = await planDefinitions(readDefinitionFiles(folder).files, await readTenant(call), false, call)
    const effects = JSON.stringify([effect, now.steps[0]?.effect])
    throw new Error(`Applying a plan whose effect is ${isSame ? 'the same' : 'another one'}: ${refusal}, ${effects}`)
  }
  countOutcome(organisation, `definitions: ${refusal ?? 'applied'}`)
  if (refusal !== undefined) return
  apply(organisation, () => {
    const collection = model.criteria.get(id)
    if (collection !== undefined) collection.condition = condition
  })
  recentChanges.note(id)
}

const callThrough =
  ({ api, callers }: Organisation): ApiCall =>
  async (method, path, body, headers = {}) => {
    const options = { token: callers.writer, method, path, headers, ...(body === undefined ? {} : { body }) }
    const { status, data, errors, nextCursor, etag } = await api.call(options)
    if (status >= 400) throw new ApiRefusal(`${method} ${path} returned ${status}`, status, errors)
    return { data, etag, ...(nextCursor === undefined ? {} : { nextCursor }) }
  }
