import { isRepetitionDue, placeOf } from '../../kernel/repetition.ts'
import { dayOf } from '../../kernel/timestamp.ts'
import type { EvaluationLease, EvaluationLeaseStore } from './evaluation-lease.ts'

const HOUR_MS = 60 * 60 * 1000

/** Less than a week. The tenants are spread over the hours. */
const REPETITION = { unitMs: HOUR_MS, unitCount: 160 }

/**
 * Writes of this time before the last evaluation are taken for later ones. Longer than reads lag, clocks differ, and writers
 * keep members of a deleted collection, which an evaluation removes after an hour.
 */
const OVERLAP_MS = 75 * 60 * 1000

/** The same for requests: until a daily full pass over them has completed what was interrupted. */
const REQUESTS_OVERLAP_MS = 26 * HOUR_MS

export type EvaluationInput = 'coreObjects' | 'collections' | 'requests'

/** What the members of a tenant's criteria collections, and its requests, depend on. */
export interface EvaluationInputs {
  /** Whether documents of one of these kinds were written since a time of the database's clock, in seconds. */
  hasWritesSince(tenantId: string, sinceS: Readonly<Record<EvaluationInput, number>>): Promise<boolean>
}

/** Whether a tenant must be evaluated although no message says so. */
export interface EvaluationSchedule {
  /**
   * Whether something may have changed since the last evaluation that has covered everything, or that one is a week old. A
   * read that lags misses a write only until the next call: the time of the last evaluation stays.
   */
  isDue(tenantId: string): Promise<boolean>
  /** Whether the result may depend on the day. */
  isDueDaily(tenantId: string): Promise<boolean>
}

type ScheduleDependencies = {
  readonly evaluationLeases: Pick<EvaluationLeaseStore, 'find'>
  readonly inputs: EvaluationInputs
  nowMs(): number
}

export function evaluationSchedule({ evaluationLeases, inputs, nowMs }: ScheduleDependencies): EvaluationSchedule {
  const evaluatedUntil = async (tenantId: string) => completed((await evaluationLeases.find(tenantId))?.value)
  return {
    async isDue(tenantId) {
      const evaluated = await evaluatedUntil(tenantId)
      if (evaluated === undefined || isRepetitionDue(placeOf(tenantId), evaluated.atMs, REPETITION, nowMs()))
        return true
      if (evaluated.dayMs !== undefined && dayOf(nowMs()) > evaluated.dayMs) return true
      const since = (overlapMs: number) => Math.floor((evaluated.atMs - overlapMs) / 1000)
      const sinceS = {
        coreObjects: since(OVERLAP_MS),
        collections: since(OVERLAP_MS),
        requests: since(REQUESTS_OVERLAP_MS),
      }
      return inputs.hasWritesSince(tenantId, sinceS)
    },
    async isDueDaily(tenantId) {
      const evaluated = await evaluatedUntil(tenantId)
      return evaluated === undefined || evaluated.dayMs !== undefined
    },
  }
}

/** The last evaluation, unless another one has begun since. */
function completed(lease: EvaluationLease | undefined): EvaluationLease['evaluated'] {
  return lease?.untilMs === 0 ? lease.evaluated : undefined
}
