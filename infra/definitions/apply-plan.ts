import { randomUUID } from 'node:crypto'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { type ApiCall, ApiRefusal } from '../import/api-connection.ts'
import { ImportError } from '../import/terminal.ts'
import { isObject } from './references.ts'
import type { DefinitionPlan, Step } from './step.ts'
import { isEqual } from './tenant.ts'

/** What became of a plan: its steps up to the first refusal are done, the refused and later ones are not. */
export type Outcome = {
  readonly done: readonly Step[]
  readonly refused: { readonly step: Step; readonly error: ImportError } | undefined
  readonly notDone: readonly Step[]
}

export type Report = {
  /** A step is done. */
  done(step: Step): void
  /** Earlier steps changed what a step does: it is planned again, and saved only with this effect. */
  plannedAgain(step: Step, effect: ChangePlan): void
}

/**
 * Makes the changes of a plan one after the other, each only if its record and its effect are still as planned. Stops
 * at the first refusal.
 */
export async function applyPlan({ steps }: DefinitionPlan, call: ApiCall, report: Report): Promise<Outcome> {
  const run: Run = { ids: new Map(), etags: new Map(), changedGroups: new Set(), call, report }
  const done: Step[] = []
  for (const step of steps) {
    try {
      await applyStep(step, run)
    } catch (error) {
      if (!(error instanceof ImportError)) throw error
      return { done, refused: { step, error }, notDone: steps.slice(done.length + 1) }
    }
    if (step.kind === 'settings') run.changedGroups.add(ANY_GROUP)
    if (step.group !== undefined) run.changedGroups.add(step.group)
    done.push(step)
    report.done(step)
  }
  return { done, refused: undefined, notDone: [] }
}

type Run = {
  /** Ids of created records by placeholder. */
  readonly ids: Map<string, string>
  /** Versions of created records by id. */
  readonly etags: Map<string, string>
  readonly changedGroups: Set<string>
  readonly call: ApiCall
  readonly report: Report
}

/** Settings decide which removals are held. */
const ANY_GROUP = 'any'

async function applyStep(step: Step, run: Run): Promise<void> {
  const path = withIds(step.path, run.ids) as string
  const body = step.body === undefined ? undefined : (withIds(step.body, run.ids) as JsonObject)
  const version = step.etag ?? run.etags.get(path)
  const headers: Record<string, string> = version === undefined ? {} : { 'if-match': version }
  if (step.method === 'POST') headers['idempotency-key'] = randomUUID()
  if (step.planPath !== undefined) {
    const { planId } = await currentEffect(step, body, headers, run)
    headers['if-plan'] = planId
  }
  const { call } = run
  const reply = await call(step.method, path, body, headers).catch(async (error: unknown) => {
    if (await isDoneAlready(error, step, path, body, call)) return undefined
    throw error
  })
  if (step.creates === undefined || reply === undefined) return
  const id = String(reply.data)
  run.ids.set(step.creates, id)
  const created = await call('GET', `${path}/${id}`)
  if (created.etag !== undefined) run.etags.set(`${path}/${id}`, created.etag)
}

/** The printed effect; a new one where earlier steps have changed what this one does. */
async function currentEffect(
  step: Step,
  body: JsonObject | undefined,
  headers: Readonly<Record<string, string>>,
  { changedGroups, call, report }: Run,
): Promise<ChangePlan> {
  const isAffected = changedGroups.has(ANY_GROUP) || changedGroups.has(step.group ?? ANY_GROUP)
  if (step.effect !== undefined && !isAffected) return step.effect
  const { data } = await call('POST', step.planPath ?? '', body, headers)
  report.plannedAgain(step, data as ChangePlan)
  return data as ChangePlan
}

/** A retried request whose first response was lost is refused, though it was done. */
async function isDoneAlready(
  error: unknown,
  { method }: Step,
  path: string,
  body: JsonObject | undefined,
  call: ApiCall,
): Promise<boolean> {
  if (!(error instanceof ApiRefusal)) return false
  if (method === 'DELETE') return error.status === 404
  if (error.status !== 412 || body === undefined) return false
  const stored = (await call('GET', path)).data as JsonObject
  return Object.entries(body).every(([name, value]) => isEqual(stored[name], value))
}

/** Replaces placeholders, also within paths. */
function withIds(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') {
    const parts = value.split('/')
    return parts.some((part) => ids.has(part)) ? parts.map((part) => ids.get(part) ?? part).join('/') : value
  }
  if (Array.isArray(value)) return value.map((item: Json) => withIds(item, ids))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withIds(member, ids)]))
}
