import type { Directory, WriteOutcome } from '../group-links/directory.ts'
import type { SyncStep } from './plan-sync.ts'
import { type WriteBudget, type WritePurpose, writesOf } from './write-budget.ts'

export type StepWrite = {
  readonly tenantId: string
  readonly groupId: string
  readonly step: SyncStep
  readonly purpose: WritePurpose
  /** Of the lease that the step is taken under. */
  readonly untilMs: number
}

/**
 * Carries out a step that the budget has let through. Retries and accounts written one by one cost more than was asked
 * for: the budget is told, so that the next step pays for them.
 */
export async function writeStep(
  { tenantId, groupId, step, purpose, untilMs }: StepWrite,
  { directory, budget }: { readonly directory: Directory; readonly budget: WriteBudget },
): Promise<WriteOutcome> {
  const outcome =
    step.kind === 'add'
      ? await directory.addMembers(tenantId, groupId, step.accounts, untilMs)
      : await directory.removeMembers(tenantId, groupId, step.accounts, untilMs)
  const beyondCount = outcome.sentCount - writesOf(step)
  if (beyondCount > 0) budget.overspent(tenantId, beyondCount, purpose)
  return outcome
}
