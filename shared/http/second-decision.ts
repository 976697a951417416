import { Refusal, type RefusalKind } from '../kernel/refusals.ts'
import type { Route } from './route.ts'

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
 * Decides on a request. A write that is refused is decided once more, with all earlier writes of all instances: what
 * its caller has just created or deleted through another instance can be missing in what this one has read. Refusals
 * that name a time to try again are not: the caller does that.
 */
export async function withSecondDecision<Result>(
  { method }: Pick<Route, 'method'>,
  tenantId: string,
  { catchUp }: SecondDecisionDependencies,
  decide: () => Promise<Result>,
): Promise<Result> {
  try {
    return await decide()
  } catch (error) {
    if (method === 'GET' || !(error instanceof Refusal)) throw error
    if (error.retryAfterS !== undefined || !DECIDED_ON_DATA.includes(error.kind)) throw error
    await catchUp(tenantId)
    return decide()
  }
}
