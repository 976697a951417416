import { enqueueAudit } from '../../kernel/enqueue-messages.ts'
import { changeLink, ignoreDeletedLink } from '../group-links/link-lease.ts'
import { sweepTenant } from './sweep.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

/** What is stored about the state of other containers. */
export interface DerivedState {
  /**
   * Deletes what the last evaluation, sweep and audit of a tenant have covered, its tracked groups, and its saved rows:
   * everything is then evaluated, compared and audited again.
   */
  forget(tenantId: string, nowMs: number): Promise<void>
}

/**
 * Sweeps a tenant whose containers were restored to slightly different times. Nothing that one of them says about
 * another is relied on: all collections are evaluated, and each link is compared with its group in full. Repeating it
 * does no harm.
 */
export async function sweepRestoredTenant(
  tenantId: string,
  deps: SyncDependencies & { readonly derivedState: DerivedState },
): Promise<void> {
  await deps.derivedState.forget(tenantId, deps.nowMs())
  for (const { value } of await deps.links.ofTenant(tenantId)) {
    const accountsChangedAtMs = deps.nowMs()
    // The members can be older than the version that the link has applied.
    const unknown = { appliedMembershipVersion: null, accountsChangedAtMs, isSweptUnchanged: false }
    await changeLink(tenantId, value.id, (link) => ({ ...link, ...unknown }), deps)
      .then(() => undefined)
      .catch(ignoreDeletedLink)
  }
  await sweepTenant(tenantId, deps)
  await enqueueAudit({ tenantId }, deps.newId(), deps)
}
