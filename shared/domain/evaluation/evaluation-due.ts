import { isScheduleDue, offsetOf } from '../../kernel/schedule.ts'
import { UTC } from '../../kernel/time-zone.ts'
import type { IncludedWrites } from '../tenant-index/core-object-changes.ts'
import type { TimeZoneSource } from '../tenant-index/row-settings.ts'
import type { EvaluatedUntil, EvaluationLease, EvaluationLeaseStore } from './evaluation-lease.ts'

const HOUR_MS = 60 * 60 * 1000

/** Less than a week. The tenants are spread over the hours. */
const SCHEDULE = { unitMs: HOUR_MS, unitCount: 160 }

/**
 * Writes of this time before the last evaluation are taken for later ones. Longer than reads lag, clocks differ, and
 * writers keep members of a deleted collection, which an evaluation removes after an hour.
 */
const OVERLAP_MS = 75 * 60 * 1000

/**
 * Requests are looked at once a day, with those of the days before: until a daily full pass over them has completed
 * what was interrupted. And each hour, where members depend on them.
 */
const REQUESTS_SCHEDULE_HOURS = 24
const REQUESTS_OVERLAP_MS = 50 * HOUR_MS

export type EvaluationInput = 'coreObjects' | 'collections' | 'requests'

/** By input, the writes that were included. Inputs that are left out are not read. */
type IncludedInputs = Readonly<Partial<Record<EvaluationInput, IncludedWrites>>>

/** What the members of a tenant's criteria collections, and its requests, depend on. */
export interface EvaluationInputs {
  /** Whether documents of one of these kinds were written besides those that were included. */
  hasFurtherWrites(tenantId: string, included: IncludedInputs): Promise<boolean>
}

/** Whether a tenant must be evaluated although no message says so. */
export interface EvaluationSchedule {
  /**
   * Whether something may have changed since the last evaluation that has covered everything, the tenant's time zone
   * included, or that one is a week old. A read that lags misses a write only until the next call: the time of the last evaluation stays.
   * @param known What this returned before. While nothing was written since, the last evaluation is not looked up.
   * @returns What was covered, when no evaluation is due; otherwise undefined.
   */
  coveredUntil(tenantId: string, known: EvaluatedUntil | undefined): Promise<EvaluatedUntil | undefined>
  /** Whether the result may depend on the day, and the last evaluation was of an earlier one than that from `todayMs`. */
  isDueDaily(tenantId: string, todayMs: number): Promise<boolean>
}

type ScheduleDependencies = {
  readonly evaluationLeases: Pick<EvaluationLeaseStore, 'find'>
  readonly inputs: EvaluationInputs
  readonly timeZones: TimeZoneSource
  nowMs(): number
}

export function evaluationSchedule({
  evaluationLeases,
  inputs,
  timeZones,
  nowMs,
}: ScheduleDependencies): EvaluationSchedule {
  const lastEvaluation = async (tenantId: string) => completed((await evaluationLeases.find(tenantId))?.value)
  const isCurrent = async (tenantId: string, evaluated: EvaluatedUntil): Promise<boolean> => {
    const { atMs, dayMs, timeZone = UTC.name } = evaluated
    if (isScheduleDue(offsetOf(tenantId), atMs, SCHEDULE, nowMs())) return false
    const zone = await timeZones.zoneOf(tenantId)
    if (zone.name !== timeZone || (dayMs !== undefined && zone.startOfDay(nowMs()) > dayMs)) return false
    return !(await inputs.hasFurtherWrites(tenantId, includedInputs(tenantId, evaluated, nowMs())))
  }
  return {
    async coveredUntil(tenantId, known) {
      if (known !== undefined && (await isCurrent(tenantId, known))) return known
      const evaluated = await lastEvaluation(tenantId)
      if (evaluated === undefined || evaluated.atMs === known?.atMs) return undefined
      return (await isCurrent(tenantId, evaluated)) ? evaluated : undefined
    },
    async isDueDaily(tenantId, todayMs) {
      const evaluated = await lastEvaluation(tenantId)
      return evaluated === undefined || (evaluated.dayMs !== undefined && evaluated.dayMs < todayMs)
    },
  }
}

/** The last evaluation, unless another one has begun since. */
function completed(lease: EvaluationLease | undefined): EvaluatedUntil | undefined {
  return lease?.untilMs === 0 ? lease.evaluated : undefined
}

function includedInputs(
  tenantId: string,
  { atMs, readsRequests, coreObjects }: EvaluatedUntil,
  nowMs: number,
): IncludedInputs {
  const since = (overlapMs: number) => ({ sinceS: Math.floor((atMs - overlapMs) / 1000), versions: [] })
  const lately = since(OVERLAP_MS)
  const isHourOfRequests = (Math.floor(nowMs / HOUR_MS) + offsetOf(tenantId)) % REQUESTS_SCHEDULE_HOURS === 0
  return {
    coreObjects: coreObjects ?? lately,
    collections: lately,
    ...(readsRequests && { requests: lately }),
    ...(isHourOfRequests && { requests: since(REQUESTS_OVERLAP_MS) }),
  }
}
