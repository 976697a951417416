import { Refusal } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { LinkRecord } from './group-link.ts'
import type { Lease } from './lease.ts'
import type { LinkStore } from './link-store.ts'

/** Someone who comes in between this often does so on purpose. */
const TRIES_COUNT = 6

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
  return tryAgainWhenStale(async () => {
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

export async function tryAgainWhenStale<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'StaleVersion' || tries === TRIES_COUNT) throw error
    }
  }
}

/** Another worker has taken over the link. What this one still has in mind must not be written any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Changes a link on behalf of the holder of its lease. @throws LeaseLost, and as `changeLink`. */
export function changeHeldLink(
  held: { tenantId: string; linkId: string; lease: Lease },
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

/** @throws LeaseLost when the link has gone to someone else since. */
export function requireLease(link: LinkRecord, lease: Lease): void {
  if (link.lease?.token !== lease.token) throw new LeaseLost(`Lease ${lease.token} of link ${link.id} is over`)
}
