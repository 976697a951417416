import { chunk } from '../../kernel/chunk.ts'
import { enqueueAudit, enqueueEvaluation, enqueueSweep, enqueueSyncJob } from '../../kernel/enqueue-messages.ts'
import { type TimeZone, timeZoneOf, UTC } from '../../kernel/time-zone.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import { queueJob } from '../group-links/queue-job.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { syncStateOf } from '../group-links/sync-state.ts'
import { type KnownTenant, minuteOfTenant } from '../group-links/tenant-store.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { findUnchangedLinks, recordSweep } from './unchanged-links.ts'

export type SweepPlan = {
  /** Enabled links without an unfinished job. A job is queued for each. */
  readonly linksToQueue: readonly GroupLink[]
  /** Due jobs without a worker: their message was lost, or their worker has crashed. Each is enqueued again. */
  readonly jobsToNotify: readonly SyncJob[]
}

/** What the sweep of one tenant does. */
export function sweepPlan(links: readonly GroupLink[], unfinished: readonly SyncJob[], nowMs: number): SweepPlan {
  const busy = new Set(unfinished.map(({ linkId }) => linkId))
  const byId = new Map(links.map((link) => [link.id, link]))
  return {
    linksToQueue: links.filter((link) => link.state === 'Enabled' && !busy.has(link.id)),
    jobsToNotify: unfinished.filter((job) => job.dueAtMs <= nowMs && !hasWorker(job, byId.get(job.linkId), nowMs)),
  }
}

/** A queued job whose link is leased counts as well: it is enqueued when the lease's owner ends. */
function hasWorker(job: SyncJob, link: GroupLink | undefined, nowMs: number): boolean {
  const lease = link?.lease
  if (lease === undefined || lease === null || lease.expiresAtMs <= nowMs) return false
  return job.status === 'Running' ? lease.owner === job.id : true
}

const MINUTE_MS = 60_000

/** Tenants that are enqueued, and links for which a job is queued, at the same time. */
const CONCURRENT_COUNT = 20

/** The host can run a timer up to a second early. */
const EARLY_MS = 2_000

const HOUR_MS = 60 * MINUTE_MS

/** Between the evaluations of tenants of neighbouring minutes when a day begins: all of them within eight minutes. */
const DAILY_STEP_MS = 8_000
const MINUTES_PER_HOUR = 60
const HOURS_PER_DAY = 24

/**
 * The minutes of the hour whose tenants are due: all that began since the timer last ran, so that a late run makes up
 * for missed ones. Each minute once.
 * @param lastMs When the timer last ran. Undefined for the first run, which covers the current minute.
 */
export function minutesSince(lastMs: number | undefined, nowMs: number): number[] {
  const until = Math.floor((nowMs + EARLY_MS) / MINUTE_MS)
  const from = lastMs === undefined ? until : Math.floor(Math.max(lastMs, nowMs - HOUR_MS) / MINUTE_MS) + 1
  const minutes = Array.from({ length: Math.max(0, until - from + 1) }, (_, index) => (from + index) % MINUTES_PER_HOUR)
  return [...new Set(minutes)]
}

/**
 * Enqueues the sweep of every tenant of these minutes, or of all tenants without minutes. Each tenant has a message of
 * its own, so that instances share the work and a failure affects one tenant. Records the age of the oldest sweep.
 * @param afterRestore See `sweepRestoredTenant`.
 * @throws AggregateError when tenants could not be enqueued.
 */
export async function enqueueSweeps(
  minutes: readonly number[] | undefined,
  { tenants, messageQueue, log, metrics, nowMs }: LinkDependencies,
  { afterRestore = false } = {},
): Promise<void> {
  const startMs = nowMs()
  const enqueue = ({ tenantId }: KnownTenant) =>
    enqueueSweep({ tenantId, afterRestore }, `${afterRestore ? 'restored:' : ''}${startMs}`, { messageQueue })
  const enqueued = await enqueueEach(tenantsOf(minutes, tenants), enqueue)
  const oldestMs = enqueued.tenants.reduce((earliestMs, { sweptAtMs }) => Math.min(earliestMs, sweptAtMs), startMs)
  metrics.record('sweep.age', (startMs - oldestMs) / 1000, {})
  const counts = { tenantCount: enqueued.tenants.length, failedCount: enqueued.failures.length }
  log.info('sweep.enqueued', { minutes: minutes?.join() ?? 'all', ...counts })
  throwFailures(enqueued)
}

async function* tenantsOf(
  minutes: readonly number[] | undefined,
  tenants: LinkDependencies['tenants'],
): AsyncGenerator<readonly KnownTenant[]> {
  for (const minute of minutes ?? [undefined]) yield* tenants.list(minute)
}

/** Days begin at quarters of an hour of UTC in all zones. */
const QUARTER_MS = 15 * MINUTE_MS

/**
 * Enqueues the evaluation of tenants with conditions that use today's date when a day has begun in their time zone since
 * `lastMs`; these messages are spread over eight minutes, and late enough for slow clocks. Enqueues the audit of all
 * tenants when a day of UTC has begun. Audits can read all data of a tenant and are spread over the day.
 * @param lastMs When the timer last ran. Undefined for the first run since the service started somewhere: then days may
 * have begun unnoticed, and all tenants whose last evaluation was of a former day are evaluated.
 * @throws AggregateError when tenants could not be enqueued.
 */
export async function enqueueDailyWork(
  lastMs: number | undefined,
  deps: Pick<LinkDependencies, 'tenants' | 'settings' | 'evaluations' | 'messageQueue' | 'nowMs'>,
): Promise<void> {
  const { tenants, settings, evaluations, messageQueue, nowMs } = deps
  const startMs = nowMs()
  const untilMs = lastMs === undefined ? startMs : startMs + EARLY_MS
  const fromMs = lastMs ?? Number.NEGATIVE_INFINITY
  if (Math.floor(untilMs / QUARTER_MS) === Math.floor(fromMs / QUARTER_MS)) return
  const zones = await settings.timeZones()
  const isDay = (zone: TimeZone, sinceMs: number) => zone.startOfDay(untilMs) > sinceMs
  const isAuditDue = isDay(UTC, lastMs ?? startMs - MINUTE_MS)
  const evaluate = async (tenantId: string) => {
    const zone = timeZoneOf(zones.get(tenantId) ?? UTC.name)
    if (!isDay(zone, fromMs)) return
    const todayMs = zone.startOfDay(untilMs)
    if (!(await evaluations.isDueDaily(tenantId, todayMs))) return
    const delayMs = (1 + minuteOfTenant(tenantId)) * DAILY_STEP_MS
    await enqueueEvaluation(tenantId, `day:${todayMs}`, { messageQueue }, delayMs)
  }
  const enqueue = async ({ tenantId }: Pick<KnownTenant, 'tenantId'>) => {
    await evaluate(tenantId)
    if (!isAuditDue) return
    const minute = minuteOfTenant(tenantId)
    const delayMs = minute * HOURS_PER_DAY * MINUTE_MS
    await enqueueAudit({ tenantId }, `audit:${UTC.startOfDay(untilMs)}`, { messageQueue }, delayMs)
  }
  if (isDay(UTC, fromMs)) return throwFailures(await enqueueEach(tenants.list(undefined), enqueue))
  const elsewhere = [...zones.keys()].map((tenantId) => ({ tenantId }))
  throwFailures(await enqueueEach(asPage(elsewhere), enqueue))
}

async function* asPage<T>(page: readonly T[]): AsyncGenerator<readonly T[]> {
  yield page
}

type Enqueued<T> = { readonly tenants: readonly T[]; readonly failures: readonly unknown[] }

/** The timer does not retry before the next hour or day, so a failure for one tenant does not end the loop. */
async function enqueueEach<T>(
  pages: AsyncIterable<readonly T[]>,
  enqueue: (tenant: T) => Promise<void>,
): Promise<Enqueued<T>> {
  const tenants: T[] = []
  const failures: unknown[] = []
  for await (const page of pages) {
    for (const batch of chunk(page, CONCURRENT_COUNT)) {
      await Promise.all(batch.map((tenant) => enqueue(tenant).catch((failure: unknown) => failures.push(failure))))
    }
    tenants.push(...page)
  }
  return { tenants, failures }
}

function throwFailures({ failures }: Enqueued<unknown>): void {
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} tenants could not be enqueued.`)
}

/**
 * Records the enabled links that are known to be unchanged, and queues a job for each other one that has none. Enqueues
 * jobs without a worker again, and the tenant's evaluation if something was written since the last one: a notification
 * may have been lost.
 */
export async function sweepTenant(tenantId: string, deps: SyncDependencies): Promise<void> {
  try {
    await deps.settings.register(tenantId)
    await sweepLinks(tenantId, deps)
    deps.metrics.record('sweep.completed', 1, { outcome: 'Succeeded' })
  } catch (fault) {
    deps.metrics.record('sweep.completed', 1, { outcome: 'Failed' })
    throw fault
  }
}

/** Each sweep reports them, for as long as they are paused. */
function reportPausedLinks(
  links: readonly GroupLink[],
  { log, metrics }: Pick<SyncDependencies, 'log' | 'metrics'>,
): void {
  const paused = links.filter((link) => syncStateOf(link) === 'RemovalsPaused')
  const [first] = paused
  if (first === undefined) return
  const memberCount = paused.reduce((sum, { skippedCount }) => sum + (skippedCount ?? 0), 0)
  log.warn('removals.paused', { tenantId: first.tenantId, linkCount: paused.length, memberCount })
  metrics.record('links.paused', paused.length, {})
}

async function sweepLinks(tenantId: string, deps: SyncDependencies): Promise<void> {
  const startMs = deps.nowMs()
  const begun = await deps.jobs.beginSweep(tenantId)
  const { value: settings } = await deps.settings.find(tenantId)
  const evaluated = await deps.evaluations.coveredUntil(tenantId, begun.evaluated)
  if (evaluated === undefined) {
    await enqueueEvaluation(tenantId, `sweep:${startMs}`, deps)
  }
  // The links are read afterwards, so that they are current as well.
  const links = await deps.links.ofTenant(tenantId)
  reportPausedLinks(
    links.map(({ value }) => value),
    deps,
  )
  const unfinished = (await deps.jobs.unfinished(tenantId)).map(({ value }) => value)
  const { linksToQueue, jobsToNotify } = sweepPlan(
    links.map(({ value }) => value),
    unfinished,
    startMs,
  )
  const sweep = { tenantId, startMs, settings, links, linksToQueue, begun, evaluated }
  const isLookDue = deps.deadlines.isDue(begun.deadlinesReadAtMs)
  if (isLookDue) await deps.deadlines.enqueue(tenantId)
  const unchanged = await findUnchangedLinks(sweep, deps)
  const unchangedIds = new Set(unchanged.map(({ id }) => id))
  const changed = linksToQueue.filter(({ id }) => !unchangedIds.has(id))
  for (const batch of chunk(changed, CONCURRENT_COUNT)) {
    await Promise.all(batch.map((link) => queueJob(link, 'ScheduledSweep', deps)))
  }
  for (const job of jobsToNotify) await enqueueSyncJob(job, `sweep:${startMs}`, deps)
  await recordSweep({ ...sweep, ...(isLookDue && { deadlinesReadAtMs: startMs }) }, unchanged, deps)
  const counts = { unchanged: unchanged.length, queued: changed.length, enqueued: jobsToNotify.length }
  deps.log.info('sweep.tenant-swept', { tenantId, ...counts })
}
