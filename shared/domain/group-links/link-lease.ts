import { isRenewalDue, type LeaseTimes, leaseDecision } from '../../kernel/lease.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { GroupLink, Lease } from './group-link.ts'
import type { LinkSettings } from './link-settings.ts'
import type { LinkStore } from './link-store.ts'

/** The lease of a link under its next owner, or how long another worker may still hold it. */
export type LinkLeaseDecision =
  | { readonly outcome: 'acquire'; readonly lease: Lease }
  | { readonly outcome: 'held'; readonly forMs: number }

/**
 * Whether `owner` may write to the group now. A lease that may still be held is respected, also the owner's own (its
 * worker may still be running), unless the owner has yielded: then `resumes` is true.
 */
export function linkLeaseDecision(
  { lease, lastToken }: Pick<GroupLink, 'lease' | 'lastToken'>,
  { owner, resumes = false, ...times }: LeaseTimes & { owner: string; resumes?: boolean },
  nowMs: number,
): LinkLeaseDecision {
  const stored = { owner: lease?.owner ?? null, untilMs: lease?.expiresAtMs ?? 0, epoch: lastToken }
  const decision = leaseDecision(stored, times, nowMs, resumes ? owner : undefined)
  if (decision.outcome === 'held') return decision
  return { outcome: 'acquire', lease: { owner, expiresAtMs: decision.untilMs, token: decision.epoch } }
}

/** The lease with its full time again, or undefined when enough of it is left. */
export function renewedLease(lease: Lease, leaseMs: number, nowMs: number): Lease | undefined {
  return isRenewalDue(lease.expiresAtMs - nowMs, leaseMs) ? { ...lease, expiresAtMs: nowMs + leaseMs } : undefined
}

/** @throws Refusal `LinkNotFound`. */
export async function getLink(tenantId: string, linkId: string, links: LinkStore): Promise<Versioned<GroupLink>> {
  const found = await links.find(tenantId, linkId)
  if (found === undefined) throw new Refusal('LinkNotFound', `The group link ${linkId} does not exist.`)
  return found
}

/** For links that were read before: one that was deleted since needs nothing more. */
export function ignoreDeletedLink(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
}

/**
 * Reads a link, changes it and writes it with the version that was read; after a conflict, from the start.
 * @param auditOf The audit record of the change, for an action of a caller.
 * @param known The link as the caller last read or wrote it, which saves the first read.
 * @throws Refusal `LinkNotFound`, `StaleVersion` after repeated conflicts, and what `change` throws.
 */
export async function changeLink(
  tenantId: string,
  linkId: string,
  change: (link: GroupLink) => GroupLink,
  { links }: { readonly links: LinkStore },
  auditOf: (before: GroupLink, after: GroupLink) => AuditRecord | undefined = () => undefined,
  known?: Versioned<GroupLink>,
): Promise<Versioned<GroupLink>> {
  let unread = known
  return retryOnConflict(async () => {
    const { value, version } = unread ?? (await getLink(tenantId, linkId, links))
    unread = undefined
    const changed = change(value)
    return links.replace(changed, version, auditOf(value, changed), value)
  })
}

/** Another worker has acquired the lease, or changed the job. The results of this worker must not be saved. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** A link together with the lease under which a worker writes to its group. */
export type LeasedLink = { readonly tenantId: string; readonly linkId: string; readonly lease: Lease }

/** Changes a link as the owner of its lease. `known` as for `changeLink`. @throws LeaseLost, and as `changeLink`. */
export function changeLeasedLink(
  { tenantId, linkId, lease }: LeasedLink,
  change: (link: GroupLink) => GroupLink,
  deps: { readonly links: LinkStore },
  known?: Versioned<GroupLink>,
): Promise<Versioned<GroupLink>> {
  return changeLink(tenantId, linkId, (link) => change(assertLease(link, lease)), deps, undefined, known)
}

/**
 * Checks before a step that the link exists and that the lease is still held, and renews the lease when it would expire
 * too soon.
 * @returns The link and the tenant's settings as read, and the lease.
 * @throws LeaseLost, Refusal `LinkNotFound`.
 */
export async function renewLease(
  leased: LeasedLink,
  deps: { readonly links: LinkStore; readonly leaseMs: number; nowMs(): number },
): Promise<{ link: GroupLink; lease: Lease; settings: LinkSettings }> {
  // The token of the lease excludes other workers even when clocks differ.
  const found = await deps.links.findWithSettings(leased.tenantId, leased.linkId)
  if (found === undefined) throw new Refusal('LinkNotFound', `The group link ${leased.linkId} does not exist`)
  const { settings } = found
  const link = assertLease(found.value, leased.lease)
  const lease = renewedLease(leased.lease, deps.leaseMs, deps.nowMs())
  if (lease === undefined) return { link, lease: leased.lease, settings }
  const renewed = await changeLeasedLink(leased, (current) => ({ ...current, lease }), deps)
  return { link: renewed.value, lease, settings }
}

function assertLease(link: GroupLink, lease: Lease): GroupLink {
  if (link.lease?.token === lease.token) return link
  throw new LeaseLost(`Lease ${lease.token} of group link ${link.id} is no longer held.`)
}
