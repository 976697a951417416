import type { Directory, WriteOutcome } from './directory.ts'
import type { SyncStep } from './plan-sync.ts'
import { type WriteBudget, type WritePurpose, writesOf } from './write-budget.ts'

export type StepWrite = {
  readonly tenantId: string
  readonly groupId: string
  readonly step: SyncStep
  readonly purpose: WritePurpose
}

/**
 * Carries out a step that the budget has let through. Retries and accounts written one by one cost more than was asked
 * for: the budget is told, so that the next step pays for them.
 */
export async function writeStep(
  { tenantId, groupId, step, purpose }: StepWrite,
  { directory, budget }: { readonly directory: Directory; readonly budget: WriteBudget },
): Promise<WriteOutcome> {
  const outcome =
    step.kind === 'add'
      ? await directory.addMembers(tenantId, groupId, step.accounts)
      : await directory.removeMembers(tenantId, groupId, step.accounts)
  const beyondCount = outcome.sentCount - writesOf(step)
  if (beyondCount > 0) budget.overspent(tenantId, beyondCount, purpose)
  return outcome
}
