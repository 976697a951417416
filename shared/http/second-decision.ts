import { Refusal, type RefusalKind } from '../kernel/refusals.ts'

export type SecondDecisionDependencies = {
  /** Later reads of the tenant's data include all earlier writes of all instances. */
  catchUp(tenantId: string): Promise<void>
}

/** Refusals that can be due to what another instance has just written. */
const DECIDED_ON_DATA: readonly RefusalKind[] = [
  'invalid',
  'forbidden',
  'missing',
  'conflict',
  'stale',
  'unprocessable',
]

/**
 * Decides, and after a refusal once more with all earlier writes of all instances: what the caller has just created or
 * deleted through another instance can be missing in what this one has read. Refusals that name a time to try again are
 * not decided again: the caller does that.
 */
export async function withSecondDecision<Result>(
  tenantId: string,
  { catchUp }: SecondDecisionDependencies,
  decide: () => Promise<Result>,
): Promise<Result> {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.retryAfterS !== undefined || !DECIDED_ON_DATA.includes(error.kind)) throw error
    await catchUp(tenantId)
    return decide()
  }
}
