import type { Versioned } from '../../kernel/versioned.ts'
import type { EvaluationLog } from './evaluation-log.ts'

/** Where the evaluators of a tenant, in whatever process, tell each other what they write. */
export interface EvaluationLogStore {
  find(tenantId: string): Promise<Versioned<EvaluationLog> | undefined>
  /**
   * Keeps the log in place of the version that was read; without one, where there was none.
   * @throws Refusal `StaleVersion` when someone else was first.
   */
  keep(tenantId: string, log: EvaluationLog, version: string | undefined): Promise<void>
}
