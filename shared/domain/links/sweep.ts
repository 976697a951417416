import type { LinkRecord } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { queueJob, ringFor } from './queue-job.ts'
import type { JobRecord } from './sync-job.ts'

/** Minutes over which the tenants' sweeps are spread. */
const MINUTES_PER_HOUR = 60

/** The minute of every hour in which a tenant is swept: the same one always, spread evenly over the tenants. */
export function minuteOfTenant(tenantId: string): number {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5
  for (const character of tenantId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % MINUTES_PER_HOUR
}

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

/**
 * Sweeps the tenants whose minute it is; all of them when no minute is given. One tenant's trouble is not another's.
 * Tells how long the tenant has waited that was not swept for longest, whoever's minute it is.
 */
export async function sweep(minute: number | undefined, deps: LinkDependencies): Promise<void> {
  const startedMs = deps.nowMs()
  let longestAgoMs = startedMs
  for await (const tenants of deps.tenants.list()) {
    for (const { tenantId, sweptAtMs } of tenants) {
      const isDue = minute === undefined || minuteOfTenant(tenantId) === minute
      if (isDue && (await isSwept(tenantId, deps))) continue
      longestAgoMs = Math.min(longestAgoMs, sweptAtMs)
    }
  }
  deps.measures.record('sweep.age', (startedMs - longestAgoMs) / 1000, {})
}

async function isSwept(tenantId: string, deps: LinkDependencies): Promise<boolean> {
  try {
    await sweepTenant(tenantId, deps)
    await deps.tenants.swept(tenantId, deps.nowMs())
    deps.measures.record('sweep.completed', 1, { outcome: 'Succeeded' })
    return true
  } catch (error) {
    deps.log.error('sweep.tenant-failed', error, { tenantId })
    deps.measures.record('sweep.completed', 1, { outcome: 'Failed' })
    return false
  }
}

/** The day may have turned for conditions that read it, hence the bell for the evaluation. */
async function sweepTenant(tenantId: string, deps: LinkDependencies): Promise<void> {
  const nowMs = deps.nowMs()
  await deps.doorbells.ring({ queue: 'evaluations', message: { tenantId } }, { id: `${tenantId}:sweep:${nowMs}` })
  const links = await deps.links.ofTenant(tenantId)
  const unfinished = await deps.jobs.unfinished(tenantId)
  const plan = sweepPlan(
    links.map(({ value }) => value),
    unfinished.map(({ value }) => value),
    nowMs,
  )
  for (const link of plan.queueFor) await queueJob(link, 'ScheduledSweep', deps)
  for (const job of plan.ringFor) await ringFor(job, `sweep:${nowMs}`, deps)
  deps.log.info('sweep.tenant-swept', { tenantId, queued: plan.queueFor.length, rung: plan.ringFor.length })
}
