import { Refusal } from '../../kernel/refusals.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { PassResult, TenantPass } from './evaluate-batches.ts'

type ReportDependencies = Pick<CollectionDependencies, 'log' | 'metrics'>

/** Records what a pass over the collections of a tenant has evaluated. */
export function reportPass(
  { tenantId, criteria, rows }: TenantPass,
  { outcomes, remainingCount }: PassResult,
  durationMs: number,
  { metrics, log }: ReportDependencies,
): void {
  const counts = Object.groupBy(outcomes.values(), (outcome) => outcome)
  metrics.record('evaluation.duration', durationMs, {})
  for (const [outcome, { length }] of Object.entries(counts))
    metrics.record('evaluation.collections', length, { outcome })
  log.info('collections.evaluated', {
    tenantId,
    collectionCount: criteria.length,
    changedCount: counts.changed?.length ?? 0,
    invalidCount: counts.invalid?.length ?? 0,
    remainingCount,
    rowCount: rows.rowCount,
    durationMs,
  })
}

/**
 * Records that a tenant is too large for the memory: its members stay as they are until an operator gives the instances
 * more of it, whom an alert on the metric tells.
 * @throws The error, when it is another one.
 */
export function reportTooLarge(tenantId: string, error: unknown, { metrics, log }: ReportDependencies): void {
  if (!(error instanceof Refusal) || error.code !== 'TenantTooLarge') throw error
  metrics.record('evaluation.refused', 1, {})
  log.error('collections.tenant-too-large', error, { tenantId })
}
