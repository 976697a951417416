import { dayOf } from '../criteria/instant.ts'
import { slices } from '../slices.ts'
import type { LinkRecord } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { queueJob, ringFor } from './queue-job.ts'
import { EARLY_MS, minuteOfTenant } from './sweep-minute.ts'
import type { JobRecord } from './sync-job.ts'
import type { KnownTenant } from './tenant-store.ts'

export type SweepPlan = {
  /** Enabled links without an unfinished job. */
  readonly queueFor: readonly LinkRecord[]
  /** Jobs that nobody works on although they are due: their message was lost, or their worker died. */
  readonly ringFor: readonly JobRecord[]
}

/** What one tenant's sweep has to do. */
export function sweepPlan(links: readonly LinkRecord[], unfinished: readonly JobRecord[], nowMs: number): SweepPlan {
  const busy = new Set(unfinished.map(({ linkId }) => linkId))
  const byId = new Map(links.map((link) => [link.id, link]))
  return {
    queueFor: links.filter((link) => link.state === 'Enabled' && !busy.has(link.id)),
    ringFor: unfinished.filter((job) => job.dueAtMs <= nowMs && !isWorkedOn(job, byId.get(job.linkId), nowMs)),
  }
}

/** A queued job counts as well when its link is held: it is rung for when the other one ends. */
function isWorkedOn(job: JobRecord, link: LinkRecord | undefined, nowMs: number): boolean {
  const lease = link?.lease
  if (lease === undefined || lease === null || lease.untilMs <= nowMs) return false
  return job.status === 'Running' ? lease.owner === job.id : true
}

const MINUTE_MS = 60_000

/** Tenants for which is rung, and links for which a job is queued, at the same time. */
const AT_A_TIME_COUNT = 20

/**
 * Rings for the tenants of these minutes; for all of them when none are given. Each is swept by a message of its
 * own, so that instances share the work, and one tenant's trouble is not another's. Measures how long ago the one of
 * them was swept that has waited longest.
 */
export async function ringForSweeps(
  minutes: readonly number[] | undefined,
  { tenants, doorbells, log, measures, nowMs }: LinkDependencies,
): Promise<void> {
  const startMs = nowMs()
  const ring = ({ tenantId }: KnownTenant) =>
    doorbells.ring({ queue: 'sweeps', message: { tenantId } }, { id: `${tenantId}:${startMs}` })
  const rung = await ringForEach(tenantsOf(minutes, tenants), ring)
  const longestAgoMs = rung.tenants.reduce((earliestMs, { sweptAtMs }) => Math.min(earliestMs, sweptAtMs), startMs)
  measures.record('sweep.age', (startMs - longestAgoMs) / 1000, {})
  const counts = { tenantCount: rung.tenants.length, failedCount: rung.failures.length }
  log.info('sweep.rung', { minutes: minutes?.join() ?? 'all', ...counts })
  refuseFailures(rung)
}

async function* tenantsOf(
  minutes: readonly number[] | undefined,
  tenants: LinkDependencies['tenants'],
): AsyncGenerator<readonly KnownTenant[]> {
  for (const minute of minutes ?? [undefined]) yield* tenants.list(minute)
}

/**
 * Rings for the evaluation of all tenants when a day has begun since `lastMs`, by which members come and go where
 * conditions ask for today. Spread over a minute, and late enough for clocks that are a little slow.
 * @param lastMs when this was last asked for; undefined for the first time: then only the first minute of a day counts.
 */
export async function ringForNewDay(
  lastMs: number | undefined,
  { tenants, doorbells, nowMs }: LinkDependencies,
): Promise<void> {
  const startMs = nowMs()
  const todayMs = dayOf(lastMs === undefined ? startMs : startMs + EARLY_MS)
  if (todayMs <= (lastMs ?? startMs - MINUTE_MS)) return
  const ring = ({ tenantId }: KnownTenant) => {
    const delayMs = (1 + minuteOfTenant(tenantId)) * 1000
    const doorbell = { queue: 'evaluations', message: { tenantId } } as const
    return doorbells.ring(doorbell, { id: `${tenantId}:day:${todayMs}`, delayMs })
  }
  refuseFailures(await ringForEach(tenants.list(undefined), ring))
}

type Rung = { readonly tenants: readonly KnownTenant[]; readonly failures: readonly unknown[] }

/** No timer comes again before the hour, or the day, is over: one that cannot be rung for does not cost the others theirs. */
async function ringForEach(
  pages: AsyncIterable<readonly KnownTenant[]>,
  ring: (tenant: KnownTenant) => Promise<void>,
): Promise<Rung> {
  const tenants: KnownTenant[] = []
  const failures: unknown[] = []
  for await (const page of pages) {
    for (const some of slices(page, AT_A_TIME_COUNT)) {
      await Promise.all(some.map((tenant) => ring(tenant).catch((failure: unknown) => failures.push(failure))))
    }
    tenants.push(...page)
  }
  return { tenants, failures }
}

function refuseFailures({ failures }: Rung): void {
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} tenants could not be rung for`)
}

/**
 * Queues a job for each enabled link without one, and rings again for jobs that nobody works on. The bell for the
 * evaluation makes up for those that were missed.
 */
export async function sweepTenant(tenantId: string, deps: LinkDependencies): Promise<void> {
  try {
    await sweepLinks(tenantId, deps)
    await deps.tenants.swept(tenantId, deps.nowMs())
    deps.measures.record('sweep.completed', 1, { outcome: 'Succeeded' })
  } catch (fault) {
    deps.measures.record('sweep.completed', 1, { outcome: 'Failed' })
    throw fault
  }
}

async function sweepLinks(tenantId: string, deps: LinkDependencies): Promise<void> {
  const nowMs = deps.nowMs()
  await deps.doorbells.ring({ queue: 'evaluations', message: { tenantId } }, { id: `${tenantId}:sweep:${nowMs}` })
  const links = await deps.links.ofTenant(tenantId)
  const unfinished = await deps.jobs.unfinished(tenantId)
  const plan = sweepPlan(
    links.map(({ value }) => value),
    unfinished.map(({ value }) => value),
    nowMs,
  )
  for (const some of slices(plan.queueFor, AT_A_TIME_COUNT)) {
    await Promise.all(some.map((link) => queueJob(link, 'ScheduledSweep', deps)))
  }
  for (const job of plan.ringFor) await ringFor(job, `sweep:${nowMs}`, deps)
  deps.log.info('sweep.tenant-swept', { tenantId, queued: plan.queueFor.length, rung: plan.ringFor.length })
}
