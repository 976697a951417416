import { enqueueDeadline } from '../../kernel/enqueue-messages.ts'
import { timeLimit } from '../../kernel/invocation-time.ts'
import { NO_POLICY, SYSTEM } from './apply-policy.ts'
import { applyTransitions } from './apply-transitions.ts'
import { NO_FACTS } from './approvers.ts'
import { decideRequest, type RequestAction } from './decide-request.ts'
import type { ReconciliationDependencies } from './request-dependencies.ts'

/** Requests that are read together. */
const REQUESTS_PER_BATCH_COUNT = 320

const EXPIRE: RequestAction = { kind: 'expire', actor: SYSTEM }

/**
 * Ends the memberships and requests of a tenant whose end or deadline is past, and tells of those whose end is near or
 * that wait at a gate with reminders. The stored requests decide, so that a message that comes late, early, twice or
 * after the end was put off does no harm.
 */
export async function applyDeadlines(
  { tenantId, dueAtMs }: { readonly tenantId: string; readonly dueAtMs: number },
  deps: ReconciliationDependencies,
): Promise<void> {
  const isLate = timeLimit(deps)
  // The clock of the queue can be ahead of this one.
  if (deps.nowMs() < dueAtMs) return enqueueDeadline({ tenantId, dueAtMs }, `:${deps.newId()}`, deps)
  const seen = new Set<string>()
  for (;;) {
    const due = await deps.requests.due(tenantId, deps.nowMs(), REQUESTS_PER_BATCH_COUNT)
    if (due.length === 0) break
    if (due.every(({ value }) => seen.has(value.id))) {
      throw new Error(`${due.length} requests that are due were neither ended nor told of`)
    }
    for (const { value } of due) seen.add(value.id)
    await applyTransitions(due, (request) => decideRequest(request, NO_POLICY, NO_FACTS, EXPIRE, deps.nowMs()), deps)
    if (isLate()) return enqueueDeadline({ tenantId, dueAtMs: deps.nowMs() }, `:${deps.newId()}`, deps)
  }
  if (seen.size > 0) deps.log.info('requests.expired', { tenantId, requestCount: seen.size })
}
