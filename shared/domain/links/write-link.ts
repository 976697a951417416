import { Refusal } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import { whileStale } from '../while-stale.ts'
import type { LinkRecord } from './group-link.ts'
import { type Lease, renewedLease } from './lease.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import type { LinkStore } from './link-store.ts'

/**
 * Reads a link, decides on what was read and writes with its version; when someone came in between, all over again.
 * @throws Refusal `LinkNotFound`, `StaleVersion` after several tries, and what `change` throws.
 */
export async function changeLink(
  tenantId: string,
  linkId: string,
  change: (link: LinkRecord) => LinkRecord,
  { links }: { links: LinkStore },
): Promise<Versioned<LinkRecord>> {
  return whileStale(async () => {
    const { value, version } = await foundLink(tenantId, linkId, links)
    return links.replace(change(value), version)
  })
}

/** @throws Refusal `LinkNotFound`. */
export async function foundLink(tenantId: string, linkId: string, links: LinkStore): Promise<Versioned<LinkRecord>> {
  const found = await links.find(tenantId, linkId)
  if (found === undefined) throw new Refusal('LinkNotFound', `There is no group link ${linkId}`)
  return found
}

/** Another worker has taken over the link. What this one still has in mind must not be written any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

export type HeldLink = { readonly tenantId: string; readonly linkId: string; readonly lease: Lease }

/** Changes a link on behalf of the holder of its lease. @throws LeaseLost, and as `changeLink`. */
export function changeHeldLink(
  held: HeldLink,
  change: (link: LinkRecord) => LinkRecord,
  deps: { links: LinkStore },
): Promise<Versioned<LinkRecord>> {
  return changeLink(
    held.tenantId,
    held.linkId,
    (link) => {
      requireLease(link, held.lease)
      return change(link)
    },
    deps,
  )
}

/**
 * The look before every step: the link is still there and ours, and will be for the length of a step. It is not read from
 * a replica that lags: the version of the lease holds where clocks do not.
 * @returns The link as it is now, and the lease, prolonged if need be.
 * @throws LeaseLost, Refusal `LinkNotFound`.
 */
export async function keepHold(
  held: HeldLink,
  deps: Pick<LinkDependencies, 'links' | 'leaseMs' | 'nowMs'>,
): Promise<{ link: LinkRecord; lease: Lease }> {
  const found = await deps.links.findCurrent(held.tenantId, held.linkId)
  if (found === undefined) throw new Refusal('LinkNotFound', `There is no group link ${held.linkId}`)
  const link = found.value
  requireLease(link, held.lease)
  const lease = renewedLease(held.lease, deps.leaseMs, deps.nowMs())
  if (lease === undefined) return { link, lease: held.lease }
  const prolonged = await changeHeldLink(held, (current) => ({ ...current, lease }), deps)
  return { link: prolonged.value, lease }
}

/** @throws LeaseLost when the link has gone to someone else since. */
function requireLease(link: LinkRecord, lease: Lease): void {
  if (link.lease?.token !== lease.token) throw new LeaseLost(`Lease ${lease.token} of link ${link.id} is over`)
}
