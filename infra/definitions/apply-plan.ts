import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { CommandError } from '../command.ts'
import { type ApiCall, ApiRefusal } from '../import/api-connection.ts'
import { isObject } from './references.ts'
import type { DefinitionPlan, Step } from './step.ts'
import { ALL_COLLECTIONS, contains } from './tenant.ts'

/** What became of a plan: its steps up to the first refusal are done, the refused and later ones are not. */
export type Outcome = {
  readonly done: readonly Step[]
  readonly refused: { readonly step: Step; readonly error: CommandError } | undefined
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
  const changedPaths = new Set(steps.flatMap(({ path }) => path.split('/')))
  const run: Run = { ids: new Map(), etags: new Map(), changedGroups: new Set(), changedPaths, call, report }
  const done: Step[] = []
  for (const step of steps) {
    try {
      await applyStep(step, run)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
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
  /** Versions of records that a step has changed, by path. Undefined: not known. */
  readonly etags: Map<string, string | undefined>
  /** The parts of the paths of all steps. */
  readonly changedPaths: ReadonlySet<string>
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
  if (version === undefined && run.etags.has(path)) {
    throw new CommandError('Its version could not be read after its creation')
  }
  const headers: Record<string, string> = version === undefined ? {} : { 'if-match': version }
  if (step.method === 'POST') headers['idempotency-key'] = randomUUID()
  if (step.planPath !== undefined) {
    const { planId } = await currentEffect(step, body, headers, run)
    if (step.action === 'update') headers['if-plan'] = planId
  }
  const { call } = run
  if (step.action === 'create' && step.kind !== 'link') await requireFreeName(step.name, call)
  const reply = await call(step.method, path, body, headers).catch(async (error: unknown) => {
    const stored = await replyIfDone(error, step, path, body, call)
    if (stored === undefined) throw error
    return stored
  })
  if (reply.etag !== undefined) run.etags.set(path, reply.etag)
  if (step.creates === undefined) return
  const id = String(reply.data)
  run.ids.set(step.creates, id)
  if (run.changedPaths.has(step.creates)) run.etags.set(`${path}/${id}`, await etagOf(`${path}/${id}`, call))
}

/** The API accepts several collections of one name, between which files cannot choose. */
async function requireFreeName(name: string, call: ApiCall): Promise<void> {
  const { data } = await call('GET', ALL_COLLECTIONS)
  if ((data as readonly { readonly name: string }[]).every((collection) => collection.name !== name)) return
  throw new CommandError('Another person or run has created a collection with this name')
}

/** Undefined where it cannot be read: what was created is there nevertheless. */
async function etagOf(path: string, call: ApiCall): Promise<string | undefined> {
  const read = await call('GET', path).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error
    return undefined
  })
  return read?.etag
}

/** The printed effect; a new one where earlier steps have changed what this one does. */
async function currentEffect(
  step: Step,
  body: JsonObject | undefined,
  headers: Readonly<Record<string, string>>,
  { changedGroups, call, report }: Run,
): Promise<ChangePlan> {
  const isAffected = changedGroups.has(ANY_GROUP) || changedGroups.has(step.group ?? ANY_GROUP)
  const isAsPrinted = step.effect !== undefined && !isAffected
  if (isAsPrinted && step.action === 'update') return step.effect
  const planned = (await call('POST', step.planPath ?? '', body, headers)).data as ChangePlan
  if (!isAsPrinted) report.plannedAgain(step, planned)
  // A creation has no `If-Plan`.
  else if (!hasEqualEffect(planned, step.effect)) {
    const message = 'Others have changed data or collections, so that it would have another effect than printed'
    throw new CommandError(message)
  }
  return planned
}

const hasEqualEffect = (left: ChangePlan, right: ChangePlan): boolean =>
  EFFECT_MEMBERS.every((name) => isDeepStrictEqual(left[name], right[name]))

const EFFECT_MEMBERS = ['collections', 'links', 'requests'] as const

/** A retried request whose first response was lost is refused, though it was done. @returns the record as it is now */
async function replyIfDone(
  error: unknown,
  { method }: Step,
  path: string,
  body: JsonObject | undefined,
  call: ApiCall,
): Promise<Awaited<ReturnType<ApiCall>> | undefined> {
  if (!(error instanceof ApiRefusal)) return undefined
  if (method === 'DELETE') return error.status === 404 ? { data: null, etag: undefined } : undefined
  if (error.status !== 412 || body === undefined) return undefined
  const reply = await call('GET', path)
  const stored = reply.data as JsonObject
  // PATCH leaves members of members as they are.
  const isStored = method === 'PATCH' ? contains : isDeepStrictEqual
  return Object.entries(body).every(([name, value]) => isStored(stored[name], value)) ? reply : undefined
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
